//! Every model there is, and how the command line names them.

use super::command_line::chooses;
use super::model::{Body, Expect, Main, Model};
use super::{
    canary, chase_lev, chase_lev_growth, compat_sleep, deque_flaws, deque_right, exec_abort,
    exec_drain, exec_driver, exec_fork, exec_graph, exec_injector, exec_lives, exec_monitor,
    exec_refused, exec_scope, exec_sleep, growth, injector, loom_limits, park, ring, ring_chain,
    ring_drop, ring_flaws, ring_overflow, sleep, sleep_rayon, sleep_workers, slot,
};

/// The models in the order of the table, canaries first.
const MODELS: &[&[Model]] = &[
    canary::MODELS,
    loom_limits::MODELS,
    deque_flaws::MODELS,
    deque_right::MODELS,
    growth::MODELS,
    ring_flaws::MODELS,
    injector::MODELS,
    sleep::MODELS,
    sleep_rayon::MODELS,
    sleep_workers::MODELS,
    ring::MODELS,
    ring_overflow::MODELS,
    ring_chain::MODELS,
    ring_drop::MODELS,
    chase_lev::MODELS,
    chase_lev_growth::MODELS,
    slot::MODELS,
    park::MODELS,
    exec_sleep::MODELS,
    exec_drain::MODELS,
    exec_monitor::MODELS,
    exec_driver::MODELS,
    exec_injector::MODELS,
    exec_lives::MODELS,
    exec_refused::MODELS,
    exec_abort::MODELS,
    exec_scope::MODELS,
    exec_fork::MODELS,
    exec_graph::MODELS,
    compat_sleep::MODELS,
];

/// One model in one assignment of roles: what one process explores.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) model: &'static Model,
    pub(crate) run: Run,
    /// Fewer interleavings than this are a failure.
    pub(crate) floor: u64,
}

/// A body with its role.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    Once(fn()),
    As(Main, fn(Main)),
}

impl Entry {
    fn new(model: &'static Model, run: Run, floor: u64) -> Self {
        let name = match run {
            Run::Once(_) => model.name.to_owned(),
            Run::As(Main::Owner, _) => format!("{}/owner", model.name),
            Run::As(Main::Thief, _) => format!("{}/thief", model.name),
        };
        Self {
            name,
            model,
            run,
            floor,
        }
    }

    /// Whether the exploration must find a failure.
    pub(crate) fn must_fail(&self) -> bool {
        matches!(self.model.expect, Expect::Fails(_))
    }
}

/// Lists every model in every assignment it is explored in.
pub(crate) fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for model in MODELS.iter().copied().flatten() {
        match model.body {
            Body::Once(body, floor) => entries.push(Entry::new(model, Run::Once(body), floor)),
            Body::Roles(body, floors) => {
                for (main, floor) in [Main::Owner, Main::Thief].into_iter().zip(floors) {
                    entries.push(Entry::new(model, Run::As(main, body), floor));
                }
            }
        }
    }
    entries
}

/// Lists the entries that `names` choose, all of them when there are no names.
///
/// # Errors
///
/// Says which name chooses nothing.
pub(crate) fn chosen(names: &[impl AsRef<str>]) -> Result<Vec<Entry>, String> {
    let mut entries = entries();
    let chooses = |name: &str, entry: &Entry| chooses(name, &entry.name, &['.', '/']);
    for name in names.iter().map(AsRef::as_ref) {
        if !entries.iter().any(|entry| chooses(name, entry)) {
            return Err(format!("no model is called `{name}`; see --list"));
        }
    }
    if !names.is_empty() {
        entries.retain(|entry| names.iter().any(|name| chooses(name.as_ref(), entry)));
    }
    Ok(entries)
}
