//! An outlet: results that wait for a sink, in any order or in the order of the source.
//!
//! An ordered outlet has a window: a place for each item, from the oldest item whose results
//! have not come. Items without results, because they were skipped or are dead letters, have a
//! place, too. They are in flight until the results of all items before them have come. So the
//! window is never longer than the number of items in flight.

use std::collections::VecDeque;

use super::sink::Outflow;
use crate::base::panics::drop_each;

/// The results of one item.
pub(super) enum Results<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Results<T> {
    /// Drops the results; panics are contained.
    pub(super) fn discard(self) {
        match self {
            Self::One(result) => drop_each([result]),
            Self::Many(results) => drop_each(results),
        }
    }
}

/// Results for one push, and the numbers of their items.
pub(super) struct OutletBatch<T> {
    pub(super) results: Vec<T>,
    pub(super) numbers: Vec<u64>,
}

impl<T> OutletBatch<T> {
    pub(super) fn with_capacity(items: usize) -> Self {
        Self {
            results: Vec::with_capacity(items),
            numbers: Vec::with_capacity(items),
        }
    }

    /// Adds an item with one result.
    pub(super) fn add(&mut self, number: u64, result: T) {
        self.numbers.push(number);
        self.results.push(result);
    }

    fn add_many(&mut self, number: u64, results: Results<T>) {
        match results {
            Results::One(result) => self.add(number, result),
            Results::Many(mut many) => {
                self.numbers.push(number);
                self.results.append(&mut many);
            }
        }
    }
}

/// A sink and the results that wait for it.
pub(super) struct Outlet<T> {
    /// `None` while a lane pushes.
    pub(super) sink: Option<Box<dyn Outflow<T>>>,
    ready: OutletBatch<T>,
    window: Option<Window<T>>,
}

/// The places of the items from `first` on.
struct Window<T> {
    first: u64,
    places: VecDeque<WindowPlace<T>>,
}

enum WindowPlace<T> {
    /// The item has not ended.
    Open,
    /// The item has no results.
    Gone,
    Results(Results<T>),
}

impl<T> Outlet<T> {
    pub(super) fn new(sink: Box<dyn Outflow<T>>, ordered: bool) -> Self {
        Self {
            sink: Some(sink),
            ready: OutletBatch::with_capacity(0),
            window: ordered.then(|| Window {
                first: 0,
                places: VecDeque::new(),
            }),
        }
    }

    /// Makes an outlet without a sink, for the end of the run.
    pub(super) fn closed() -> Self {
        Self {
            sink: None,
            ready: OutletBatch::with_capacity(0),
            window: None,
        }
    }

    /// Drops the sink and the results that wait; panics are contained.
    pub(super) fn discard(self) {
        drop_each(self.ready.results);
        for place in self.window.into_iter().flat_map(|window| window.places) {
            if let WindowPlace::Results(results) = place {
                results.discard();
            }
        }
        drop_each(self.sink);
    }

    /// How many items wait here.
    pub(super) fn waiting(&self) -> usize {
        let in_window = self.window.as_ref().map_or(0, |window| window.places.len());
        self.ready.numbers.len() + in_window
    }

    /// Whether a lane can push now.
    pub(super) fn can_push(&self) -> bool {
        self.sink.is_some() && !self.ready.numbers.is_empty()
    }

    /// Takes all results that are ready, and the sink to push them to.
    pub(super) fn take(&mut self) -> Option<(Box<dyn Outflow<T>>, OutletBatch<T>)> {
        if self.ready.numbers.is_empty() {
            return None;
        }
        let sink = self.sink.take()?;
        // The next push is likely to be as large.
        let next = OutletBatch::with_capacity(self.ready.numbers.len());
        Some((sink, std::mem::replace(&mut self.ready, next)))
    }

    /// Adds items with one result each. Returns how many items without results have left the
    /// window as a consequence.
    pub(super) fn append(&mut self, items: &mut OutletBatch<T>) -> usize {
        let Some(window) = &mut self.window else {
            self.ready.numbers.append(&mut items.numbers);
            self.ready.results.append(&mut items.results);
            return 0;
        };
        let mut gone = 0;
        for (number, result) in items.numbers.drain(..).zip(items.results.drain(..)) {
            gone += window.place(
                number,
                WindowPlace::Results(Results::One(result)),
                &mut self.ready,
            );
        }
        gone
    }

    /// Adds the results of an item. Returns how many items without results have left the window
    /// as a consequence.
    pub(super) fn add(&mut self, number: u64, results: Results<T>) -> usize {
        match &mut self.window {
            None => {
                self.ready.add_many(number, results);
                0
            }
            Some(window) => window.place(number, WindowPlace::Results(results), &mut self.ready),
        }
    }

    /// Notes that an item has no results. Returns how many such items have left, including this
    /// one.
    pub(super) fn pass(&mut self, number: u64) -> usize {
        match &mut self.window {
            None => 1,
            Some(window) => window.place(number, WindowPlace::Gone, &mut self.ready),
        }
    }
}

impl<T> Window<T> {
    /// Fills a place. The results at the front of the window that are complete move to `ready`.
    /// Returns how many items without results left with them.
    fn place(&mut self, number: u64, place: WindowPlace<T>, ready: &mut OutletBatch<T>) -> usize {
        let index = usize::try_from(number - self.first).expect("no longer than `in_flight`");
        if index == 0 && self.places.is_empty() {
            self.first += 1;
            return match place {
                WindowPlace::Results(results) => {
                    ready.add_many(number, results);
                    0
                }
                WindowPlace::Open | WindowPlace::Gone => 1,
            };
        }
        if index >= self.places.len() {
            self.places.resize_with(index + 1, || WindowPlace::Open);
        }
        self.places[index] = place;
        let mut gone = 0;
        while let Some(WindowPlace::Gone | WindowPlace::Results(_)) = self.places.front() {
            match self.places.pop_front() {
                Some(WindowPlace::Results(results)) => ready.add_many(self.first, results),
                _ => gone += 1,
            }
            self.first += 1;
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::super::sink::Discard;
    use super::{Outlet, Results};

    #[test]
    fn an_ordered_outlet_gives_the_complete_front() {
        let mut outlet = Outlet::new(Box::new(Discard), true);
        assert_eq!(outlet.add(2, Results::One("c")), 0);
        assert_eq!(outlet.pass(1), 0);
        assert!(!outlet.can_push());
        assert_eq!(outlet.waiting(), 3);
        // Item 1 leaves together with 0, which was before it.
        assert_eq!(outlet.add(0, Results::Many(vec!["a", "b"])), 1);
        let (sink, batch) = outlet.take().expect("all three are complete");
        assert_eq!(
            (batch.results, batch.numbers),
            (vec!["a", "b", "c"], vec![0, 2])
        );
        // While a lane has the sink, nothing is taken.
        assert_eq!(outlet.add(3, Results::One("d")), 0);
        assert!(!outlet.can_push() && outlet.take().is_none());
        outlet.sink = Some(sink);
        assert!(outlet.can_push());
    }

    #[test]
    fn an_unordered_outlet_gives_what_comes() {
        let mut outlet = Outlet::new(Box::new(Discard), false);
        assert_eq!(outlet.pass(7), 1);
        assert_eq!(outlet.add(2, Results::One(2)), 0);
        assert_eq!(outlet.add(1, Results::One(1)), 0);
        let (_, batch) = outlet.take().expect("two are there");
        assert_eq!((batch.results, batch.numbers), (vec![2, 1], vec![2, 1]));
    }
}
