//! The cases of tokio's `rt_multi_threaded` benchmark, except those beside a load
//! (`tokio_busy.rs`).
//!
//! Parameters and structure are theirs. The oneshot channel is futures' for
//! everybody: tokio's belongs to one contender. Where they wait for the end by a
//! blocking receive inside of `block_on`, so does this.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, SyncSender};

use benches::meter::Meter;
use futures::channel::oneshot;

use crate::case::{Case, Rules, ThreadPool};
use crate::contender::{Contender, Spawn};

/// 10,000 spawns of a task that counts down, from inside of `block_on`.
///
/// The calling thread is no worker, so this is not local, whatever its name.
pub(crate) struct SpawnManyLocal;

const SPAWNS: usize = 10_000;

impl Case for SpawnManyLocal {
    const UNIT: &'static str = "task";

    fn name() -> String {
        "tokio: spawn_many_local".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const REPEATS: usize = 2;
        let inside = contender.inside();
        let (done, finished) = mpsc::sync_channel(1);
        let left = Arc::new(AtomicUsize::new(0));
        meter.time(SPAWNS * REPEATS, || {
            for _ in 0..REPEATS {
                left.store(SPAWNS, Ordering::Relaxed);
                contender.block_on(async {
                    for _ in 0..SPAWNS {
                        let (done, left) = (done.clone(), left.clone());
                        inside.detach(async move {
                            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                                done.send(()).unwrap();
                            }
                        });
                    }
                    finished.recv().unwrap();
                });
            }
        });
    }
}

/// 10,000 spawns of an empty task from outside, then all handles awaited.
pub(crate) struct SpawnManyRemoteIdle;

impl Case for SpawnManyRemoteIdle {
    const UNIT: &'static str = "task";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        "tokio: spawn_many_remote_idle".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const REPEATS: usize = 2;
        let mut handles = Vec::with_capacity(SPAWNS);
        meter.time(SPAWNS * REPEATS, || {
            for _ in 0..REPEATS {
                spawn_and_await(contender, SPAWNS, &mut handles);
            }
        });
    }
}

/// Spawns empty tasks from outside, then awaits them, in order.
pub(super) fn spawn_and_await<C: Contender>(
    contender: &C,
    count: usize,
    handles: &mut Vec<C::Join<()>>,
) {
    for _ in 0..count {
        handles.push(contender.spawn(async {}));
    }
    contender.block_on(async {
        for handle in handles.drain(..) {
            handle.await;
        }
    });
}

/// One task spawns 1,000 tasks, each spawns a partner; a message there and one
/// back.
pub(crate) struct PingPong;

impl Case for PingPong {
    const UNIT: &'static str = "pair";

    fn name() -> String {
        "tokio: ping_pong".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const PINGS: usize = 1_000;
        const REPEATS: usize = 5;
        let inside = contender.inside();
        let (done, finished) = mpsc::sync_channel(1);
        let left = Arc::new(AtomicUsize::new(0));
        meter.time(PINGS * REPEATS, || {
            for _ in 0..REPEATS {
                left.store(PINGS, Ordering::Relaxed);
                let (spawner, done, left) = (inside.clone(), done.clone(), left.clone());
                contender.block_on(async {
                    inside.detach(async move {
                        for _ in 0..PINGS {
                            let (done, left) = (done.clone(), left.clone());
                            spawner.detach(ping(spawner.clone(), done, left));
                        }
                    });
                    finished.recv().unwrap();
                });
            }
        });
    }
}

async fn ping<S: Spawn>(spawner: S, done: SyncSender<()>, left: Arc<AtomicUsize>) {
    let (there, arrived) = oneshot::channel();
    let (back, answered) = oneshot::channel();
    spawner.detach(async move {
        arrived.await.unwrap();
        back.send(()).unwrap();
    });
    there.send(()).unwrap();
    answered.await.unwrap();
    if left.fetch_sub(1, Ordering::Relaxed) == 1 {
        done.send(()).unwrap();
    }
}

/// 200 tasks yield 1,000 times each.
pub(crate) struct YieldMany;

impl Case for YieldMany {
    const UNIT: &'static str = "yield";
    const RULES: Rules = Rules {
        thread_pool: ThreadPool::Shown,
        ..Rules::PLAIN
    };

    fn name() -> String {
        "tokio: yield_many".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const TASKS: usize = 200;
        const YIELDS: usize = 1_000;
        let (done, finished) = mpsc::sync_channel(TASKS);
        meter.time(TASKS * YIELDS, || {
            for _ in 0..TASKS {
                let done = done.clone();
                contender.detach(async move {
                    for _ in 0..YIELDS {
                        C::yield_now().await;
                    }
                    done.send(()).unwrap();
                });
            }
            for _ in 0..TASKS {
                finished.recv().unwrap();
            }
        });
    }
}

/// A chain of 1,000 tasks, each spawning the next.
pub(crate) struct ChainedSpawn;

impl Case for ChainedSpawn {
    const UNIT: &'static str = "task";

    fn name() -> String {
        "tokio: chained_spawn".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const LINKS: usize = 1_000;
        const REPEATS: usize = 20;
        let inside = contender.inside();
        let (done, finished) = mpsc::sync_channel(1);
        meter.time(LINKS * REPEATS, || {
            for _ in 0..REPEATS {
                let (spawner, done) = (inside.clone(), done.clone());
                contender.block_on(async {
                    inside.detach(async move { next(&spawner, done, LINKS) });
                    finished.recv().unwrap();
                });
            }
        });
    }
}

fn next<S: Spawn + Clone + Send + 'static>(spawner: &S, done: SyncSender<()>, left: usize) {
    if left == 0 {
        done.send(()).unwrap();
        return;
    }
    let successor = spawner.clone();
    spawner.detach(async move { next(&successor, done, left - 1) });
}
