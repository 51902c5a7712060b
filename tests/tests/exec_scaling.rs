//! Twice the tasks are twice the work: nothing in the executor is quadratic.
//!
//! Measured in CPU time of the whole process, so that what else the machine does counts
//! little; that is why this file has one test only. Four times as many tasks take about four
//! times as long, and sixteen times if something is quadratic; the bound is between.

#![cfg(target_os = "linux")]

use std::future::pending;
use std::thread;
use std::time::Duration;

use futures::future::join_all;
use tests::exec::executor;
use tests::watchdog;
use ws_executor::{Executor, Handle, Task};

/// The fewest tasks: enough to take milliseconds.
const TASKS: usize = 20_000;

const TIMES: usize = 4;
const BOUND: f64 = 9.0;

/// The best of this many counts: caches and page faults make some slower.
const ROUNDS: usize = 5;

/// Something done with so many tasks.
type Way = fn(&Executor, usize);

fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a structure that is there.
    let got = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(got, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// One task spawns all, and they end on their own.
fn fan_out(executor: &Executor, tasks: usize) {
    let root = executor.spawn(async move {
        let handle = Handle::current();
        let spawn = |_| handle.spawn(async {});
        (0..tasks).map(spawn).collect::<Vec<_>>()
    });
    for task in executor.block_on(root) {
        executor.block_on(task);
    }
}

/// One task waits for all of them at once.
fn fan_in(executor: &Executor, tasks: usize) {
    let all = executor.spawn_many((0..tasks).map(|number| async move { number }));
    let all = executor.spawn(join_all(all));
    assert_eq!(executor.block_on(all).len(), tasks);
}

/// Tasks that wait, and have all been polled: otherwise some have less to do.
fn waiting(executor: &Executor, tasks: usize) -> Vec<Task<()>> {
    let before = executor.metrics().polls();
    let all = executor.spawn_many((0..tasks).map(|_| pending::<()>()));
    asleep_until(|| executor.metrics().polls() == before + tasks as u64);
    all
}

/// Waits without using the time that is measured.
fn asleep_until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Tasks that wait are cancelled one by one, first in, first out.
fn cancel(executor: &Executor, tasks: usize) {
    waiting(executor, tasks).into_iter().for_each(drop);
    asleep_until(|| executor.metrics().live_tasks() == 0);
}

/// Tasks that wait are found by a shutdown.
fn shut_down(_: &Executor, tasks: usize) {
    let executor = executor(2);
    let all = waiting(&executor, tasks);
    all.into_iter().for_each(Task::detach);
    executor.shutdown();
}

#[test]
fn nothing_is_quadratic() {
    watchdog::guard("scaling", || {
        let executor = executor(2);
        let ways: [(&str, Way); 4] = [
            ("fan out", fan_out),
            ("fan in", fan_in),
            ("cancel", cancel),
            ("shut down", shut_down),
        ];
        for (name, way) in ways {
            let time = |tasks| {
                let round = |_| {
                    let before = cpu_time();
                    way(&executor, tasks);
                    cpu_time() - before
                };
                (0..ROUNDS).map(round).min().unwrap()
            };
            let (few, many) = (time(TASKS), time(TIMES * TASKS));
            let ratio = many.as_secs_f64() / few.as_secs_f64();
            println!(
                "{name}: {few:?} for {TASKS} tasks, {ratio:.1} times that for {TIMES} times as many"
            );
            assert!(ratio < BOUND, "{name}: {few:?}, then {many:?}");
        }
    });
}
