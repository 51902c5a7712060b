//! No task waits for ever while one `run` is free, whatever the others do.
//!
//! A few threads run an executor. In each round all but one of them come to a poll that
//! blocks, of a task or of the future of their `run`, until another task has gone through a
//! random script: it yields, spawns, waits for what it has spawned, talks through channels.
//! One `run` is left for all of that, and it must be notified of every step. Tasks come from
//! outside and from other tasks, in random order and with random gaps. So they are pushed at
//! any moment between a search and a sleep of a thread.
//!
//! `WS_STRESS_ITEMS` is the number of rounds, 3,000 unless it is set. A soak takes a
//! million. `WS_STRESS_SEED` chooses the scripts.
//!
//! # What it can see
//!
//! Without the count at W4 (module `sleepers`) a round in 230,000 stalled: 10 stalls in 2.3
//! million rounds, unoptimised, on two cores. The models and the tests in `blocked.rs` see
//! that flaw at once. If a task that yields just before the future of its `run` blocks is not
//! announced, `WS_STRESS_ITEMS=100000` stalled with each of three seeds, once in round 49.
//! This test is for flaws that have no model and no test of their own.

use std::hint;
use std::io::{self, Write};
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use async_executor::Executor;
use futures_lite::future::{block_on, yield_now};
use ws_core::FastRand;

/// A watchdog: nothing here takes more than milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

type Static = &'static Executor<'static>;

fn number_from(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => otherwise,
    }
}

/// Holds the tasks and the futures that block.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn block(&self) {
        let closed = |is_open: &mut bool| !*is_open;
        let guard = self.opened.wait_while(self.is_open.lock().unwrap(), closed);
        drop(guard.unwrap());
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

/// What the task that others wait for does.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Yields so often.
    Yield(u32),
    /// Spawns a task that yields so often, and waits for it.
    Join(u32),
    /// Spawns so many tasks, and waits for all.
    Many(u32),
    /// Sends a number to another task, and waits for the answer.
    Ask,
    /// Has a thread outside wake it.
    Outside,
}

impl Step {
    fn random(rand: &mut FastRand) -> Self {
        match rand.below(5) {
            0 => Self::Yield(1 + rand.below(3)),
            1 => Self::Join(rand.below(3)),
            2 => Self::Many(1 + rand.below(4)),
            3 => Self::Ask,
            _ => Self::Outside,
        }
    }

    async fn run(self, executor: Static, asks: &Asks, outside: &mpsc::Sender<Answer>) {
        match self {
            Self::Yield(times) => yields(times).await,
            Self::Join(times) => executor.spawn(yields(times)).await,
            Self::Many(count) => {
                let tasks: Vec<_> = (0..count).map(|n| executor.spawn(yields(n % 2))).collect();
                for task in tasks {
                    task.await;
                }
            }
            Self::Ask => ask(|answer| asks.try_send(answer).is_ok()).await,
            Self::Outside => ask(|answer| outside.send(answer).is_ok()).await,
        }
    }
}

type Answer = async_channel::Sender<()>;
type Asks = async_channel::Sender<Answer>;

/// Sends a question, and waits for the answer.
async fn ask(send: impl FnOnce(Answer) -> bool) {
    let (answer, answered) = async_channel::bounded(1);
    assert!(send(answer), "there is somebody to answer");
    answered.recv().await.expect("an answer");
}

async fn yields(times: u32) {
    for _ in 0..times {
        yield_now().await;
    }
}

/// A gap about as long as a search.
fn pause(rand: &mut FastRand) {
    let longest = [0, 100, 3_000][rand.below(3) as usize];
    (0..rand.below(longest + 1)).for_each(|_| hint::spin_loop());
}

/// An executor that so many threads run.
struct Stage {
    executor: Static,
    runs: u32,
    outside: mpsc::Sender<Answer>,
    /// The future of a `run` that receives one blocks there.
    gates: async_channel::Sender<Arc<Gate>>,
}

impl Stage {
    /// Runs `body` on it.
    fn with(runs: u32, body: impl FnOnce(&Self)) {
        // Leaked, so that its own tasks can use it; it is empty in the end.
        let executor: Static = Box::leak(Box::default());
        let (gates, received) = async_channel::unbounded::<Arc<Gate>>();
        let (outside, questions) = mpsc::channel::<Answer>();
        thread::scope(|scope| {
            for _ in 0..runs {
                let received = received.clone();
                let future = async move {
                    while let Ok(gate) = received.recv().await {
                        gate.block();
                    }
                };
                scope.spawn(move || block_on(executor.run(future)));
            }
            scope.spawn(move || {
                for answer in questions {
                    let _ = answer.try_send(());
                }
            });
            body(&Self {
                executor,
                runs,
                outside,
                gates,
            });
        });
        while executor.try_tick() {}
        assert!(executor.is_empty());
    }

    /// One round.
    fn round(&self, round: u64, rand: &mut FastRand) {
        let executor = self.executor;
        let script: Vec<Step> = (0..1 + rand.below(5)).map(|_| Step::random(rand)).collect();
        let gate = Arc::new(Gate::default());
        let (asks, asked) = async_channel::unbounded::<Answer>();
        let answering = executor.spawn(async move {
            while let Ok(answer) = asked.recv().await {
                let _ = answer.try_send(());
            }
        });
        let (done, is_done) = mpsc::channel();
        let place = rand.below(self.runs);
        let mut scripted = Some({
            let (script, outside) = (script.clone(), self.outside.clone());
            async move {
                for step in script {
                    step.run(executor, &asks, &outside).await;
                }
                let _ = done.send(());
            }
        });
        let mut tasks = vec![answering];
        for number in 0..self.runs {
            pause(rand);
            if number == place {
                tasks.extend(scripted.take().map(|task| executor.spawn(task)));
            } else {
                let gate = Arc::clone(&gate);
                let way = rand.below(3);
                if way == 0 {
                    // A `run` that is blocked by a task may be the one that is woken for it:
                    // then one more is free.
                    let sent = self.gates.try_send(gate);
                    sent.expect("the `run`s receive");
                    continue;
                }
                let blocking = async move { gate.block() };
                tasks.push(match way {
                    1 => executor.spawn(blocking),
                    // By way of a ring.
                    _ => executor.spawn(async move { executor.spawn(blocking).await }),
                });
            }
        }
        if is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            // The threads are blocked, so there is no end but this one.
            let what = format!("round {round}: {script:?} is stranded: {executor:?}");
            // Not by `eprintln!`, which the harness keeps until the test ends.
            let _ = writeln!(io::stderr(), "{what}");
            process::abort();
        }
        gate.open();
        tasks.into_iter().for_each(block_on);
    }
}

#[test]
fn one_free_run_is_enough() {
    let rounds = number_from("WS_STRESS_ITEMS", 3_000);
    let seed = number_from("WS_STRESS_SEED", 1);
    for runs in 2..=4 {
        Stage::with(runs, |stage| {
            for round in 0..rounds / 3 {
                let mut rand = FastRand::new(seed ^ (round << 8) ^ u64::from(runs));
                stage.round(round, &mut rand);
            }
        });
    }
}
