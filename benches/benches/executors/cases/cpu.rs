//! Uneven CPU work: tasks of which a few are much longer than the rest, all
//! spawned by one.
//!
//! The workers that did not run the first task must steal to have any of it. What
//! is measured is mostly the work itself; an executor shows in how well the cores
//! are used.

use std::hint::black_box;

use benches::meter::Meter;

use crate::case::{Case, Floor, Rules};
use crate::contender::{Contender, Spawn};

const TASKS: usize = 2_000;
/// Of so many tasks one is long, and all long ones are in the first quarter, so
/// that equal shares would be unequal work.
const LONG_EVERY: usize = 16;
/// Steps of a short task, about a microsecond; a long one has [`FACTOR`] times as
/// many.
const STEPS: u64 = 500;
const FACTOR: u64 = 60;

pub(crate) struct Uneven;

impl Case for Uneven {
    const UNIT: &'static str = "task";
    const RULES: Rules = Rules {
        floor: Floor::Divided,
        ..Rules::PLAIN
    };

    fn name() -> String {
        "uneven CPU work".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        let spawner = contender.inside();
        meter.time(TASKS, || {
            contender.block_on(contender.spawn(async move {
                let mut tasks = Vec::with_capacity(TASKS);
                for index in 0..TASKS {
                    tasks.push(spawner.spawn(async move { compute(steps(index)) }));
                }
                for task in tasks {
                    black_box(task.await);
                }
            }));
        });
    }
}

fn steps(index: usize) -> u64 {
    let is_long = index < TASKS / 4 && index % LONG_EVERY == 0;
    if is_long { STEPS * FACTOR } else { STEPS }
}

/// So many steps that each need the one before: time that does not depend on
/// memory or on the compiler's wit.
fn compute(steps: u64) -> u64 {
    let mut state = black_box(steps | 1);
    for _ in 0..steps {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}
