//! The end of a scope: it waits for all its tasks, and sees what they did.
//!
//! The owner is the thread that waits, the thieves drop the futures of two tasks.

// Not loom's: the guards have it, and what it orders is not to be seen.
use std::sync::Arc;

use ws_executor::model::{ScopeGuard, ScopeState};

use super::exec_graph::{Memory, drive};
use super::model::Bound::Preemptions;
use super::model::{Body, Expect, Main, Model};

pub(crate) const MODELS: &[Model] = &[Model {
    name: "exec.scope.end",
    shows: "two tasks of a scope end while it waits: it wakes, and sees what both did",
    flaws: &[],
    bound: Preemptions(3),
    expect: Expect::Holds,
    body: Body::Roles(end, [2_100, 1_600]),
}];

fn end(main: Main) {
    let state = Arc::new(ScopeState::default());
    let borrowed = [(); 2].map(|()| loom::sync::Arc::new(Memory::new()));
    let [first, second] = borrowed.clone().map(|memory| {
        let guard = ScopeGuard::new(&state);
        move || {
            memory.write();
            // The memory outlives the guard: only the guard orders what is done with it.
            drop(guard);
            memory
        }
    });
    main.race_two(
        move || {
            drive(state.all_gone());
            let seen: usize = borrowed.iter().map(|memory| memory.read()).sum();
            assert_eq!(seen, 2, "the scope ended too early");
        },
        first,
        second,
    );
}
