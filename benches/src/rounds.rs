//! Alternating rounds: every contender once a round, in rotating order.
//!
//! A machine is faster at one time than at another: its clock changes, other
//! programs run, caches are warm or not. Contenders measured one after the other
//! would each get a time of their own. So each gives one short sample a round,
//! and the order is rotated by one every round, so that no one always runs after
//! the same neighbour.

/// What one sample says: `K` figures, the first of which is the time per unit.
pub type Sample<const K: usize> = [f64; K];

/// How often a disturbed sample is taken again before its round goes without.
///
/// Enough for a machine whose cores are shared with one other program, and not
/// so many that a hopeless one hangs; not measured.
const ATTEMPTS: usize = 20;

/// One of those that are compared.
pub struct Contender<const K: usize> {
    name: &'static str,
    sample: Box<dyn FnMut() -> Option<Sample<K>>>,
}

impl<const K: usize> Contender<K> {
    /// Names a way to take one sample; `None` is a sample that was disturbed.
    pub fn new(name: &'static str, sample: impl FnMut() -> Option<Sample<K>> + 'static) -> Self {
        Self {
            name,
            sample: Box::new(sample),
        }
    }
}

/// The samples of one contender.
#[derive(Clone, Debug)]
pub struct Series<const K: usize> {
    name: &'static str,
    samples: Vec<Sample<K>>,
}

impl<const K: usize> Series<K> {
    /// Returns whose samples these are.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns how many rounds gave a sample.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Returns whether no round gave a sample.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Returns the median of one of the figures; `NaN` without samples.
    pub fn median(&self, figure: usize) -> f64 {
        let mut values: Vec<_> = self.samples.iter().map(|sample| sample[figure]).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Returns the smallest value of one of the figures; `NaN` without samples.
    pub fn best(&self, figure: usize) -> f64 {
        self.samples
            .iter()
            .map(|sample| sample[figure])
            .fold(f64::NAN, f64::min)
    }
}

/// Contenders and the samples taken of them so far.
///
/// For a benchmark that decides while it runs how many rounds there is time for;
/// [`alternate`] takes a given number.
pub struct Rounds<const K: usize> {
    contenders: Vec<Contender<K>>,
    series: Vec<Series<K>>,
    done: usize,
}

impl<const K: usize> Rounds<K> {
    /// Starts without samples.
    pub fn new(contenders: Vec<Contender<K>>) -> Self {
        let series = |contender: &Contender<K>| Series {
            name: contender.name,
            samples: Vec::new(),
        };
        Self {
            series: contenders.iter().map(series).collect(),
            contenders,
            done: 0,
        }
    }

    /// Takes one sample of every contender; the order is the last round's,
    /// rotated by one.
    ///
    /// ```
    /// use benches::rounds::{Contender, Rounds};
    /// let mut rounds = Rounds::new(vec![Contender::new("steady", || Some([2.0]))]);
    /// rounds.next_round();
    /// rounds.next_round();
    /// assert_eq!(rounds.done(), 2);
    /// assert_eq!(rounds.finish()[0].len(), 2);
    /// ```
    pub fn next_round(&mut self) {
        let count = self.contenders.len();
        for turn in 0..count {
            let index = (self.done + turn) % count;
            let sample = &mut self.contenders[index].sample;
            self.series[index]
                .samples
                .extend((0..ATTEMPTS).find_map(|_| sample()));
        }
        self.done += 1;
    }

    /// Returns how many rounds there were.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Lets the contenders go and returns what was measured of them.
    pub fn finish(self) -> Vec<Series<K>> {
        self.series
    }
}

/// Takes one sample of every contender in each of `rounds` rounds.
///
/// ```
/// use benches::rounds::{Contender, alternate};
/// let mut times = [3.0, 1.0, 2.0].into_iter();
/// let steady = Contender::new("steady", || Some([2.0]));
/// let noisy = Contender::new("noisy", move || times.next().map(|time| [time]));
///
/// let series = alternate(3, vec![steady, noisy]);
/// assert_eq!(series[0].median(0), 2.0);
/// assert_eq!((series[1].median(0), series[1].best(0)), (2.0, 1.0));
/// ```
pub fn alternate<const K: usize>(rounds: usize, contenders: Vec<Contender<K>>) -> Vec<Series<K>> {
    let mut all = Rounds::new(contenders);
    for _ in 0..rounds {
        all.next_round();
    }
    all.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn the_order_rotates() {
        let order = Rc::new(RefCell::new(String::new()));
        let contender = |name: &'static str| {
            let order = Rc::clone(&order);
            Contender::new(name, move || {
                order.borrow_mut().push_str(name);
                Some([0.0])
            })
        };
        alternate(3, vec![contender("a"), contender("b"), contender("c")]);
        assert_eq!(*order.borrow(), "abcbcacab");
    }

    #[test]
    fn disturbed_samples_are_taken_again_but_not_for_ever() {
        let mut calls = 0;
        let late = Contender::new("late", move || {
            calls += 1;
            (calls % 3 == 0).then_some([1.0])
        });
        let never = Contender::<1>::new("never", || None);
        let series = alternate(2, vec![late, never]);
        assert_eq!((series[0].len(), series[1].len()), (2, 0));
        assert!(series[1].median(0).is_nan() && series[1].best(0).is_nan());
    }
}
