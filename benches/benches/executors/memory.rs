//! How many bytes a spawned `async {}` takes.
//!
//! Everything that is allocated while tasks are spawned is counted, on all
//! threads: the task, and memory of queues that grow. Once from a task in bursts
//! that fit into a worker's own queue, and once from outside in one long row, so
//! that queues grow. Join handles are kept, as an awaited task needs one.

use benches::counting::{Allocated, counted};
use benches::outcome::as_text;
use serde::Serialize;

use crate::contender::{Contender, Kind, Spawn, with_contender};

/// What one task takes, on average.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct PerTask {
    pub(crate) bytes: f64,
    pub(crate) blocks: f64,
}

impl PerTask {
    fn new(allocated: Allocated, tasks: usize) -> Self {
        Self {
            bytes: allocated.bytes as f64 / tasks as f64,
            blocks: allocated.blocks as f64 / tasks as f64,
        }
    }
}

/// One contender's figures.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Memory {
    #[serde(rename = "name", serialize_with = "as_text")]
    pub(crate) kind: Kind,
    pub(crate) from_task: PerTask,
    pub(crate) from_outside: PerTask,
}

/// Measures a contender; nothing for the floor, which is not an executor.
pub(crate) fn measure(kind: Kind, workers: usize) -> Option<Memory> {
    (kind != Kind::Floor).then(|| with_contender!(kind, C => of::<C>(workers)))
}

fn of<C: Contender>(workers: usize) -> Memory {
    let contender = C::new(workers);
    // The first call lets everything grow that grows once.
    from_task(&contender);
    from_outside(&contender);
    Memory {
        kind: C::KIND,
        from_task: from_task(&contender),
        from_outside: from_outside(&contender),
    }
}

fn from_task<C: Contender>(contender: &C) -> PerTask {
    const BURST: usize = 64;
    const BURSTS: usize = 20;
    let spawner = contender.inside();
    contender.block_on(contender.spawn(async move {
        let mut sum = Allocated {
            bytes: 0,
            blocks: 0,
        };
        let mut tasks = Vec::with_capacity(BURST);
        for _ in 0..BURSTS {
            let ((), allocated) = counted(|| {
                for _ in 0..BURST {
                    tasks.push(spawner.spawn(async {}));
                }
            });
            sum.bytes += allocated.bytes;
            sum.blocks += allocated.blocks;
            while let Some(task) = tasks.pop() {
                task.await;
            }
        }
        PerTask::new(sum, BURST * BURSTS)
    }))
}

fn from_outside<C: Contender>(contender: &C) -> PerTask {
    const TASKS: usize = 10_000;
    let mut tasks = Vec::with_capacity(TASKS);
    let ((), allocated) = counted(|| {
        for _ in 0..TASKS {
            tasks.push(contender.spawn(async {}));
        }
    });
    contender.block_on(async {
        for task in tasks {
            task.await;
        }
    });
    PerTask::new(allocated, TASKS)
}
