//! The sentinel's duty, while workers leave the wake table and come back, and while one of
//! them leaves the duty to another.
//!
//! The owner is the worker that parks, the thief the one that calls a sentinel or searches.

use loom::sync::Arc;

use super::exec_kit::{searching, sleep};
use super::exec_sentinel::{found_work, watches};
use super::model::Bound::Exhaustive;
use super::model::{Body, Expect, Main, Model};

pub(crate) const MODELS: &[Model] = &[
    Model {
        name: "exec.sentinel.call_against_return",
        shows: "a sentinel is called while the only parked worker leaves, and parks again",
        errata: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(call_against_return, [7_900, 7_200]),
    },
    Model {
        name: "exec.sentinel.leave_to_searcher",
        shows: "a worker parks in the driver while the last searcher finds work: one of them sees to the duty",
        errata: &[],
        bound: Exhaustive,
        expect: Expect::Holds,
        body: Body::Roles(leave_to_searcher, [4_000, 2_500]),
    },
];

/// A duty that is wanted, and that nobody was notified of, would silence all later calls.
fn call_against_return(main: Main) {
    let sleep = Arc::new(sleep());
    let parking = sleep.start_parking(1, None);
    let (worker, pusher) = (sleep.clone(), sleep.clone());
    let (parked, _) = main.race(
        move || match worker.cancel_parking(parking) {
            Ok(searching) => {
                let parking = worker.start_parking(1, Some(searching));
                // What was pushed is gone already.
                (parking, worker.take_duty(false))
            }
            Err(parking) => (parking, None),
        },
        move || pusher.want_sentinel(),
    );
    let is_wanted = sleep.sentinel.is_wanted();
    assert!(
        !is_wanted || watches(&sleep, parked),
        "the duty is wanted, and nobody knows"
    );
}

fn leave_to_searcher(main: Main) {
    let sleep = Arc::new(sleep());
    let searching = searching(&sleep);
    let (worker, searcher) = (sleep.clone(), sleep.clone());
    let (parked, ()) = main.race(
        move || {
            let parking = worker.start_parking(1, None);
            let duty = if worker.leave_duty_to_searcher(true) {
                None
            } else {
                worker.take_duty(true)
            };
            (parking, duty)
        },
        move || found_work(&searcher, searching),
    );
    assert!(watches(&sleep, parked), "nobody watches");
}
