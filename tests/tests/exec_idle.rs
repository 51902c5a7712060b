//! An idle executor does nothing: its threads are not scheduled at all.
//!
//! Each scene is an executor that has nothing left to do. When all have come to rest,
//! the kernel's counters of their threads are read, and again after two seconds: there
//! must not be a single context switch between, nor any time on a processor. A scene
//! whose workers look up now and then shows that the check can see it.
#![cfg(target_os = "linux")]

#[path = "exec_support/gate.rs"]
mod gate;

use std::fs;
use std::future::pending;
use std::thread;
use std::time::{Duration, Instant};

use futures::channel::{mpsc as channel, oneshot};
use futures::{SinkExt, StreamExt};
use tests::watchdog;
use ws_core::{Park, ThreadParker, ThreadUnparker};
use ws_executor::{Builder, Executor, Handle};

/// How long nothing may happen.
const WINDOW: Duration = Duration::from_secs(2);

/// In one of so many windows nothing must happen at all.
const WINDOWS: usize = 5;

/// How long a scene may take to come to rest. The machine may be loaded.
const SETTLING: Duration = Duration::from_secs(60);

/// What the kernel counts for some threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Activity {
    threads: usize,
    voluntary: u64,
    involuntary: u64,
    /// Nanoseconds on a processor.
    running: u64,
}

impl Activity {
    /// That of the threads whose name starts with `prefix`.
    fn of(prefix: &str) -> Self {
        let mut sum = Self::default();
        for thread in fs::read_dir("/proc/self/task").unwrap().flatten() {
            let read = |file: &str| fs::read_to_string(thread.path().join(file));
            let name = read("comm").unwrap_or_default();
            if !name.starts_with(prefix) {
                continue;
            }
            let status = read("status").unwrap();
            let count = |field: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(field));
                line.expect("the kernel counts")
                    .trim()
                    .parse::<u64>()
                    .unwrap()
            };
            sum.threads += 1;
            sum.voluntary += count("voluntary_ctxt_switches:");
            sum.involuntary += count("nonvoluntary_ctxt_switches:");
            // Absent in some kernels.
            let schedstat = read("schedstat").unwrap_or_default();
            let running = schedstat.split(' ').next().and_then(|ns| ns.parse().ok());
            sum.running += running.unwrap_or(0_u64);
        }
        sum
    }
}

/// An executor at rest, and what it needs to stay so.
struct Scene {
    prefix: String,
    /// Dropped before the executor, whose shutdown waits for blocked workers.
    keep: Option<Box<dyn Send>>,
    executor: Executor,
    /// How many of its workers do not sleep, because they are blocked.
    blocked: usize,
}

impl Scene {
    fn new(name: &str, builder: Builder) -> Self {
        let prefix = format!("{name}:");
        let named = prefix.clone();
        let builder = builder.thread_name(move |worker| format!("{named}{worker}"));
        Self {
            prefix,
            keep: None,
            executor: builder.build().unwrap(),
            blocked: 0,
        }
    }

    fn with(name: &str, builder: Builder, act: impl FnOnce(&mut Self)) -> Self {
        let mut scene = Self::new(name, builder);
        act(&mut scene);
        scene
    }

    fn is_at_rest(&self) -> bool {
        let workers = self.executor.workers() - self.blocked;
        self.executor.metrics().parked_workers() == workers
    }

    /// Waits until nothing happens any more, and says what has happened until then.
    fn settle(&self) -> Activity {
        let begun = Instant::now();
        let mut before = Activity::default();
        loop {
            let now = Activity::of(&self.prefix);
            if self.is_at_rest() && now == before {
                return now;
            }
            assert!(
                begun.elapsed() < SETTLING,
                "{} does not come to rest: {now:?}, {:#?}",
                self.prefix,
                self.executor.metrics()
            );
            before = now;
            // Long enough for a monitor to look up several times.
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn workers(workers: usize) -> Builder {
    Executor::builder().spares(0).workers(workers)
}

/// Much traffic through the LIFO slots, so that there is a monitor.
async fn ping_pong(handle: Handle) {
    let (mut there, mut from_here) = channel::channel::<usize>(0);
    let (mut back, mut from_there) = channel::channel::<usize>(0);
    let pong = handle.spawn(async move {
        while let Some(n) = from_here.next().await {
            back.send(n).await.unwrap();
        }
    });
    for n in 0..2_000 {
        there.send(n).await.unwrap();
        assert_eq!(from_there.next().await, Some(n));
    }
    drop(there);
    pong.await;
}

fn burst(scene: &mut Scene) {
    let executor = &scene.executor;
    executor.block_on(executor.spawn(ping_pong(executor.handle())));
}

/// A parker that is within its contract, but wakes up for nothing.
struct Restless(ThreadParker);

impl Park for Restless {
    type Unparker = ThreadUnparker;

    fn unparker(&self) -> ThreadUnparker {
        self.0.unparker()
    }

    fn park(&self) {
        self.0.park_timeout(Duration::from_millis(10));
    }

    fn park_timeout(&self, timeout: Duration) {
        self.0.park_timeout(timeout);
    }
}

/// Those scenes in which something happens during a window, and what had happened before
/// it and after it.
fn busy_scenes<'a>(scenes: &'a [Scene], restless: &Scene) -> Vec<(&'a str, Activity, Activity)> {
    let before: Vec<Activity> = scenes.iter().map(Scene::settle).collect();
    let restless_before = Activity::of(&restless.prefix);
    thread::sleep(WINDOW);
    let restless_after = Activity::of(&restless.prefix);
    let after = scenes.iter().map(|scene| Activity::of(&scene.prefix));

    let switches = restless_after.voluntary - restless_before.voluntary;
    assert!(switches > 10, "the check sees nothing: {restless_after:?}");
    let mut busy = Vec::new();
    for ((scene, before), after) in scenes.iter().zip(before).zip(after) {
        assert_eq!(after.threads, scene.executor.workers(), "{}", scene.prefix);
        if after != before {
            busy.push((&*scene.prefix, before, after));
        }
    }
    busy
}

#[test]
fn nothing_happens_when_there_is_nothing_to_do() {
    watchdog::guard("idle", || {
        let scenes = [
            Scene::new("new1", workers(1)),
            Scene::new("new2", workers(2)),
            Scene::new("new64", workers(64)),
            Scene::new("new65", workers(65)),
            Scene::with("burst2", workers(2), burst),
            Scene::with("burst64", workers(64), burst),
            Scene::with("fifo2", workers(2).lifo_slot(false), burst),
            Scene::with("batch64", workers(64), |scene| {
                let tasks = scene.executor.spawn_many((0..10_000).map(|_| async {}));
                let all = futures::future::join_all(tasks);
                scene.executor.block_on(all);
            }),
            Scene::with("waiting2", workers(2), |scene| {
                let tasks = scene
                    .executor
                    .spawn_many((0..1_000).map(|_| pending::<()>()));
                scene.keep = Some(Box::new(tasks));
            }),
            // A poll that does not end is nobody's business while nothing waits for it
            // that another worker could do.
            Scene::with("blocked4", workers(4), |scene| {
                burst(scene);
                scene.blocked = 1;
                let handle = scene.executor.handle();
                scene.keep = Some(Box::new(gate::block(&handle, 0)));
                handle.spawn_pinned(0, || async {}).detach();
            }),
            // A worker that waits inside a task sleeps as any other.
            Scene::with("nested2", workers(2), |scene| {
                let handle = scene.executor.handle();
                let (end, ended) = oneshot::channel::<()>();
                let task = scene.executor.spawn(async move { handle.block_on(ended) });
                task.detach();
                scene.keep = Some(Box::new(end));
            }),
            Scene::with(
                "hosted2",
                workers(2).host(futures::executor::block_on),
                burst,
            ),
        ];
        let restless = workers(2).parker(|_| Restless(ThreadParker::new()));
        let restless = Scene::new("restless2", restless);

        // A thread that the machine kept waiting may fall asleep late: once, not each time.
        let busy = || busy_scenes(&scenes, &restless);
        let calm = (0..WINDOWS).any(|_| busy().is_empty());
        assert!(calm, "busy while idle: {:#?}", busy());
    });
}
