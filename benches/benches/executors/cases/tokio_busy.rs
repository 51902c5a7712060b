//! The two cases of tokio's `rt_multi_threaded` benchmark in which the workers
//! are busy while tasks come from outside.
//!
//! The load starts before the clock and ends after it, so that it never runs
//! beside another contender. CPU time is not shown: it is the load's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use benches::meter::Meter;

use crate::case::{Case, Rules, ThreadPool};
use crate::cases::tokio::spawn_and_await;
use crate::contender::{Contender, Spawn};

/// Ten microseconds of work that lets other threads have the core, as theirs
/// does: the thread that spawns needs one.
fn stall() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(10) {
        thread::yield_now();
    }
}

/// Tasks that keep the workers busy until it is stopped.
struct Load {
    go_on: Arc<AtomicBool>,
    events: Receiver<()>,
}

/// What each task of a load holds; the load has ended when the last one is gone.
struct Part {
    go_on: Arc<AtomicBool>,
    events: Sender<()>,
}

impl Load {
    /// Starts `count` parts and waits until each has begun.
    fn start(count: usize, mut start: impl FnMut(Part)) -> Self {
        let go_on = Arc::new(AtomicBool::new(true));
        let (sender, events) = mpsc::channel();
        for _ in 0..count {
            start(Part {
                go_on: go_on.clone(),
                events: sender.clone(),
            });
        }
        for _ in 0..count {
            events.recv().unwrap();
        }
        Self { go_on, events }
    }

    fn stop(self) {
        self.go_on.store(false, Ordering::Relaxed);
        while self.events.recv().is_ok() {}
    }
}

impl Part {
    fn begin(&self) {
        self.events.send(()).unwrap();
    }

    fn goes_on(&self) -> bool {
        self.go_on.load(Ordering::Relaxed)
    }
}

/// 10,000 spawns from outside while eight tasks yield and stall in turn.
pub(crate) struct Busy1;

impl Case for Busy1 {
    const UNIT: &'static str = "task";
    const RULES: Rules = Rules {
        thread_pool: ThreadPool::LeftOut,
        ..Rules::PLAIN
    };

    fn name() -> String {
        "tokio: spawn_many_remote_busy1".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const SPAWNS: usize = 10_000;
        let load = Load::start(8, |part| {
            contender.detach(async move {
                part.begin();
                while part.goes_on() {
                    C::yield_now().await;
                    stall();
                }
            });
        });
        let mut handles = Vec::with_capacity(SPAWNS);
        meter.time_beside(SPAWNS, || {
            spawn_and_await(contender, SPAWNS, &mut handles);
        });
        load.stop();
    }
}

/// 1,000 spawns from outside while four chains of tasks stall and spawn their
/// successor.
pub(crate) struct Busy2;

impl Case for Busy2 {
    const UNIT: &'static str = "task";

    fn name() -> String {
        "tokio: spawn_many_remote_busy2".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        const SPAWNS: usize = 1_000;
        const REPEATS: usize = 2;
        let inside = contender.inside();
        let load = Load::start(4, |part| {
            let spawner = inside.clone();
            contender.detach(async move {
                part.begin();
                link(&spawner, part);
            });
        });
        let mut handles = Vec::with_capacity(SPAWNS);
        meter.time_beside(SPAWNS * REPEATS, || {
            for _ in 0..REPEATS {
                spawn_and_await(contender, SPAWNS, &mut handles);
            }
        });
        load.stop();
    }
}

fn link<S: Spawn + Clone + Send + 'static>(spawner: &S, part: Part) {
    let successor = spawner.clone();
    spawner.detach(async move {
        if part.goes_on() {
            stall();
            link(&successor, part);
        }
    });
}
