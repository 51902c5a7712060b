//! What happens on one worker: a task there spawns tasks, and tasks there yield.
//!
//! *spawn + join* is a comparison with peers. The other two are held against the
//! floor, async-task alone, which runs the same code. A second worker steals from
//! the first, and thereby makes the wall time less and the CPU time more; so these
//! two also run on one worker.

use benches::meter::Meter;

use crate::case::{Case, Floor, Rules, ThreadPool};
use crate::contender::{Contender, Spawn};

/// A task spawns another and awaits it, one at a time.
pub(crate) struct SpawnJoin;

impl Case for SpawnJoin {
    const UNIT: &'static str = "task";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        "spawn + join, one at a time".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const TASKS: usize = 10_000;
        let spawner = contender.inside();
        let sum = meter.time(TASKS, || {
            contender.block_on(contender.spawn(async move {
                let mut sum = 0;
                for number in 0..TASKS {
                    sum += spawner.spawn(async move { number }).await;
                }
                sum
            }))
        });
        assert_eq!(sum, TASKS * (TASKS - 1) / 2);
    }
}

/// A task spawns bursts of tasks that nobody awaits, and yields after each burst,
/// so that they run. Those of the last burst are awaited.
///
/// Tasks that another worker has stolen may still be there when the next burst
/// begins, and those of a `ThreadPool`, which does not yield, certainly are.
/// Queues are long enough, and nobody is done before the last burst is.
pub(crate) struct SpawnRun;

impl Case for SpawnRun {
    const UNIT: &'static str = "task";
    const RULES: Rules = Rules {
        floor: Floor::Subject,
        ..Rules::PLAIN
    };

    fn name() -> String {
        "local spawn + run".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const BURST: usize = 50;
        const BURSTS: usize = 500;
        let spawner = contender.inside();
        meter.time(BURST * BURSTS, || {
            contender.block_on(contender.spawn(async move {
                for _ in 1..BURSTS {
                    for _ in 0..BURST {
                        spawner.detach(async {});
                    }
                    C::yield_now().await;
                }
                let last: Vec<_> = (0..BURST).map(|_| spawner.spawn(async {})).collect();
                for task in last {
                    task.await;
                }
            }));
        });
    }
}

/// Tasks that were spawned on a worker yield.
pub(crate) struct Yield;

impl Case for Yield {
    const UNIT: &'static str = "yield";
    const RULES: Rules = Rules {
        thread_pool: ThreadPool::Shown,
        floor: Floor::Subject,
    };

    fn name() -> String {
        "local yield".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const TASKS: usize = 20;
        const YIELDS: usize = 2_000;
        let spawner = contender.inside();
        meter.time(TASKS * YIELDS, || {
            contender.block_on(contender.spawn(async move {
                let mut tasks = Vec::with_capacity(TASKS);
                for _ in 0..TASKS {
                    tasks.push(spawner.spawn(async {
                        for _ in 0..YIELDS {
                            C::yield_now().await;
                        }
                    }));
                }
                for task in tasks {
                    task.await;
                }
            }));
        });
    }
}
