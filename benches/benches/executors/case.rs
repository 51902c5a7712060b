//! What a case is, and how it is put together with a contender.

use benches::measure::Lane;
use benches::meter::Meter;

use crate::contender::{Contender, Kind, with_contender};

/// Work that every contender does with the same code.
pub(crate) trait Case: 'static {
    /// What the times are divided by.
    const UNIT: &'static str;
    const RULES: Rules = Rules::PLAIN;

    fn name() -> String;

    /// Takes one sample: prepares the work, has the meter time it, and waits until
    /// nothing of it is left.
    fn run<C: Contender>(contender: &C, meter: &mut Meter);
}

/// How a case is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) thread_pool: ThreadPool,
    pub(crate) floor: Floor,
}

impl Rules {
    pub(crate) const PLAIN: Rules = Rules {
        thread_pool: ThreadPool::Counts,
        floor: Floor::LeftOut,
    };

    /// A case that one thread can run, without another executor's help.
    pub(crate) const WITH_FLOOR: Rules = Rules {
        floor: Floor::Shown,
        ..Rules::PLAIN
    };
}

/// The part of the floor, which is the least that any executor could pay: the tasks' memory, one
/// hop through a queue, and the work of the case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Floor {
    /// The case needs other threads.
    LeftOut,
    /// Shown beside the contenders.
    Shown,
    /// The same. Each worker could do its share of the work.
    Divided,
    /// What the case is about. It is not counted in means, and runs on one worker, too.
    Subject,
}

/// The part of futures' `ThreadPool`, whose yield lets nobody else run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadPool {
    /// A peer like the others.
    Counts,
    /// Measured, but not held against anybody: what is timed is the yield.
    Shown,
    /// The case would never end.
    LeftOut,
}

/// A case with its contenders to be chosen.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) rules: Rules,
    start: fn(Kind, usize) -> Lane,
}

impl Entry {
    pub(crate) fn of<K: Case>() -> Self {
        Self {
            name: K::name(),
            unit: K::UNIT,
            rules: K::RULES,
            start: start::<K>,
        }
    }

    /// Returns whether that contender takes part.
    pub(crate) fn admits(&self, kind: Kind) -> bool {
        match kind {
            Kind::ThreadPool => self.rules.thread_pool != ThreadPool::LeftOut,
            Kind::Floor => self.rules.floor != Floor::LeftOut,
            _ => true,
        }
    }

    /// Returns whether the contender's figures are those of a peer.
    pub(crate) fn counts(&self, kind: Kind) -> bool {
        match kind {
            Kind::ThreadPool => self.rules.thread_pool == ThreadPool::Counts,
            kind => kind.is_peer(),
        }
    }

    /// Whether the case is about the floor.
    pub(crate) fn is_about_floor(&self) -> bool {
        self.rules.floor == Floor::Subject
    }

    /// Starts an executor of that kind.
    pub(crate) fn start(&self, kind: Kind, workers: usize) -> Lane {
        (self.start)(kind, workers)
    }
}

fn start<K: Case>(kind: Kind, workers: usize) -> Lane {
    with_contender!(kind, C => lane::<K, C>(workers))
}

fn lane<K: Case, C: Contender>(workers: usize) -> Lane {
    let contender = C::new(workers);
    Box::new(move |meter| K::run(&contender, meter))
}
