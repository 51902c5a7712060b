//! What a program is, and the list of all.

use super::jobs::Subject;
use super::{
    abort, blocked, canaries, compat, drain, driver, forks, graphs, hosted, idle, items, pinned,
    pipelines, shutdown, tasks, waiting,
};

/// A small program with an executor in it.
pub(crate) struct Scenario {
    /// `subject.what`.
    pub(crate) name: &'static str,
    /// What it shows, in one line.
    pub(crate) about: &'static str,
    /// The rows of the catalogue of faults that it is about, empty for none.
    pub(crate) faults: &'static [u8],
    /// The program, run once per schedule.
    pub(crate) body: fn(),
}

impl Subject for Scenario {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }
}

/// The programs that must hold, in the order of the table.
pub(crate) const SCENARIOS: &[&[Scenario]] = &[
    tasks::SCENARIOS,
    blocked::SCENARIOS,
    waiting::SCENARIOS,
    pinned::SCENARIOS,
    shutdown::SCENARIOS,
    drain::SCENARIOS,
    idle::SCENARIOS,
    abort::SCENARIOS,
    driver::SCENARIOS,
    forks::SCENARIOS,
    graphs::SCENARIOS,
    pipelines::SCENARIOS,
    items::SCENARIOS,
    hosted::SCENARIOS,
    compat::SCENARIOS,
];

/// The programs that must fail.
pub(crate) const CANARIES: &[&[Scenario]] = &[canaries::CANARIES];
