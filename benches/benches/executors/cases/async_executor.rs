//! The cases of async-executor's `executor` benchmark, except the web server
//! (`web_server.rs`).
//!
//! Parameters and structure are theirs, with two departures, as theirs would
//! compare unlike things. *create* starts the workers too, for everybody: theirs
//! runs one task on an executor without threads, which the others do not have.
//! *spawn_batch* awaits its tasks: theirs times only the call that spawns, and
//! leaves them behind.

use std::mem;
use std::pin::Pin;

use benches::meter::Meter;

use crate::case::{Case, Rules, ThreadPool};
use crate::contender::{Contender, Spawn};

const TASKS: usize = 300;
const STEPS: usize = 300;

/// An executor is made, runs one task and is dropped.
///
/// Two of the peers get off lightly at the end: the leaked executors of
/// async-executor are never freed, and a `ThreadPool` does not wait for its
/// threads.
pub(crate) struct Create;

impl Case for Create {
    const UNIT: &'static str = "executor";

    fn name() -> String {
        "async-executor: create".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const REPEATS: usize = 10;
        let workers = contender.workers();
        meter.time(REPEATS, || {
            for _ in 0..REPEATS {
                let short_lived = C::new(workers);
                let task = short_lived.spawn(async {});
                short_lived.block_on(task);
            }
        });
    }
}

/// One spawn from outside, awaited.
pub(crate) struct SpawnOne;

impl Case for SpawnOne {
    const UNIT: &'static str = "task";

    fn name() -> String {
        "async-executor: spawn_one".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const REPEATS: usize = 500;
        let inside = contender.inside();
        meter.time(REPEATS, || {
            for _ in 0..REPEATS {
                contender.block_on(async { inside.spawn(async {}).await });
            }
        });
    }
}

/// One call that spawns 250 tasks which yield once each, then all awaited.
///
/// tokio, `StaticExecutor` and `ThreadPool` have no such call: they spawn one by
/// one.
pub(crate) struct SpawnBatch;

impl Case for SpawnBatch {
    const UNIT: &'static str = "task";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        "async-executor: spawn_batch".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const BATCH: usize = 250;
        const REPEATS: usize = 40;
        meter.time(BATCH * REPEATS, || {
            for _ in 0..REPEATS {
                let tasks = contender.spawn_many((0..BATCH).map(|_| C::yield_now()));
                contender.block_on(async {
                    for task in tasks {
                        task.await;
                    }
                });
            }
        });
    }
}

/// 25,000 spawns from inside of `block_on`, all awaited.
pub(crate) struct SpawnManyLocal;

impl Case for SpawnManyLocal {
    const UNIT: &'static str = "task";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        "async-executor: spawn_many_local".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const LIGHT_TASKS: usize = 25_000;
        let inside = contender.inside();
        meter.time(LIGHT_TASKS, || {
            contender.block_on(async {
                let mut tasks = Vec::new();
                for _ in 0..LIGHT_TASKS {
                    tasks.push(inside.spawn(async {}));
                }
                for task in tasks {
                    task.await;
                }
            });
        });
    }
}

/// 300 chains of tasks, each 300 deep: every task spawns the next and awaits it.
pub(crate) struct SpawnRecursively;

impl Case for SpawnRecursively {
    const UNIT: &'static str = "task";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        "async-executor: spawn_recursively".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        let inside = contender.inside();
        meter.time(TASKS * STEPS, || {
            contender.block_on(async {
                let mut tasks = Vec::new();
                for _ in 0..TASKS {
                    tasks.push(inside.spawn(descend(inside.clone(), STEPS)));
                }
                for task in tasks {
                    task.await;
                }
            });
        });
    }
}

/// Not an `async fn`: the compiler cannot find out by itself that a future that
/// contains its own kind is `Send`.
#[allow(clippy::manual_async_fn)]
fn descend<S: Spawn + Clone + Send + Sync + 'static>(
    spawner: S,
    depth: usize,
) -> impl Future<Output = ()> + Send + 'static {
    async move {
        if depth != 0 {
            let inside = spawner.clone();
            let deeper = async move {
                // The box breaks the cycle of types; everybody pays for it.
                let future: Pin<Box<dyn Future<Output = ()> + Send>> =
                    Box::pin(descend(inside, depth - 1));
                future.await;
            };
            spawner.spawn(deeper).await;
        }
    }
}

/// 300 tasks yield 300 times each.
pub(crate) struct YieldNow;

impl Case for YieldNow {
    const UNIT: &'static str = "yield";
    const RULES: Rules = Rules {
        thread_pool: ThreadPool::Shown,
        ..Rules::WITH_FLOOR
    };

    fn name() -> String {
        "async-executor: yield_now".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        let inside = contender.inside();
        meter.time(TASKS * STEPS, || {
            contender.block_on(async {
                let mut tasks = Vec::new();
                for _ in 0..TASKS {
                    tasks.push(inside.spawn(async {
                        for _ in 0..STEPS {
                            C::yield_now().await;
                        }
                    }));
                }
                for task in tasks {
                    task.await;
                }
            });
        });
    }
}

/// A token goes 300 times round a ring of 300 tasks, over channels that hold one.
pub(crate) struct Channels;

impl Case for Channels {
    const UNIT: &'static str = "hop";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        "async-executor: channels".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        let inside = contender.inside();
        meter.time(TASKS * STEPS, || {
            contender.block_on(async {
                let mut tasks = Vec::new();
                let (first, mut last) = async_channel::bounded(1);
                for _ in 0..TASKS {
                    let (sender, receiver) = async_channel::bounded(1);
                    let receiver = mem::replace(&mut last, receiver);
                    tasks.push(inside.spawn(async move {
                        for _ in 0..STEPS {
                            receiver.recv().await.unwrap();
                            sender.send(()).await.unwrap();
                        }
                    }));
                }
                for _ in 0..STEPS {
                    first.send(()).await.unwrap();
                    last.recv().await.unwrap();
                }
                for task in tasks {
                    task.await;
                }
            });
        });
    }
}
