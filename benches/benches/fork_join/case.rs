//! What a case is, and how it is put together with a contender.

use benches::measure::Lane;

use crate::pool::{Kind, Pool};
use crate::pools::{Chili, Count, Rayon, Sequential, Ws};

/// Work that every contender does with the same code.
pub(crate) trait Case: 'static {
    /// How often the work is done in one sample: so that it takes some milliseconds.
    const REPEATS: usize;
    /// What the times are divided by, if not by the number of joins.
    const LOOP: Option<Loop> = None;

    type Input: Send;

    fn name() -> String;

    fn input() -> Self::Input;

    /// Undoes what the last sample did to the input; not timed.
    fn prepare(_: &mut Self::Input) {}

    /// Does the work once; what it returns is the same for everybody.
    fn run<P: Pool>(scope: &mut P::Scope<'_>, input: &mut Self::Input) -> u64;
}

/// A case that is a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) items: usize,
}

/// A case with its contenders to be chosen.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    /// How many units one run has.
    pub(crate) units: usize,
    start: fn(Kind, usize, usize) -> Lane,
}

impl Entry {
    pub(crate) fn of<C: Case>() -> Self {
        let (unit, units) = match C::LOOP {
            Some(Loop { items }) => ("item", items),
            None => ("join", joins::<C>()),
        };
        Self {
            name: C::name(),
            unit,
            units,
            start: start::<C>,
        }
    }

    /// Starts a contender of that kind.
    pub(crate) fn start(&self, kind: Kind, workers: usize) -> Lane {
        (self.start)(kind, workers, self.units)
    }
}

/// Counts the joins of one run.
fn joins<C: Case>() -> usize {
    let mut input = C::input();
    Count::new(1).enter(|joins| {
        C::run::<Count>(joins, &mut input);
        *joins
    })
}

fn start<C: Case>(kind: Kind, workers: usize, units: usize) -> Lane {
    match kind {
        Kind::Sequential => lane::<C, Sequential>(workers, units),
        Kind::Ws => lane::<C, Ws>(workers, units),
        Kind::Rayon => lane::<C, Rayon>(workers, units),
        Kind::Chili => lane::<C, Chili>(workers, units),
    }
}

fn lane<C: Case, P: Pool>(workers: usize, units: usize) -> Lane {
    let pool = P::new(workers);
    let mut input = C::input();
    let expected = Sequential.enter(|scope| C::run::<Sequential>(scope, &mut C::input()));
    Box::new(move |meter| {
        C::prepare(&mut input);
        let result = meter.time(units * C::REPEATS, || {
            pool.enter(|scope| {
                let runs = (0..C::REPEATS).map(|_| C::run::<P>(scope, &mut input));
                runs.last()
            })
        });
        assert_eq!(
            result,
            Some(expected),
            "{} computes something else",
            C::name()
        );
    })
}
