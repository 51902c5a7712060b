//! A worker that waits aside notices a task that only it may run.
//!
//! The owner is the worker, the thief pushes the task.

use loom::sync::Arc;
use ws_executor::model::{AsideCount, Injector, Sleep};

use super::exec_kit::sleep;
use super::items::{Item, Ledger};
use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};
use super::sleep::Bell;

pub(crate) const MODELS: &[Model] = &[Model {
    name: "exec.aside.pinned",
    shows: "a task is pinned to a worker that begins to wait aside: the worker sees it",
    errata: &[14],
    bound: Exhaustive,
    expect: Expect::Holds,
    body: Body::Roles(pinned, [1_400, 1_100]),
}];

struct Parts {
    sleep: Sleep,
    aside: AsideCount,
    pinned: Injector<Item>,
    bell: Bell,
}

fn pinned(main: Main) {
    let ledger = Ledger::open();
    let parts = Arc::new(Parts {
        sleep: sleep(),
        aside: AsideCount::default(),
        pinned: Injector::new(1),
        bell: Bell::new(),
    });
    let (worker, pusher) = (parts.clone(), parts.clone());
    main.race(
        // As `block_on_worker` has it: counted, then until a pinned task is due.
        move || {
            let aside = worker.aside.enter(2);
            assert!(aside.is_some(), "the other one goes on");
            while worker.pinned.is_empty() {
                worker.bell.wait();
            }
        },
        // As `enqueue` of `pinned.rs` has it.
        move || {
            assert!(pusher.pinned.push(Item::new(1)).is_ok(), "it is open");
            assert!(pusher.sleep.take_this(0).is_none(), "it is not parked");
            if pusher.aside.is_any() {
                pusher.bell.ring();
            }
        },
    );
    drop(parts);
    ledger.close();
}
