//! Any number of workers works, and all of them at once if there is work for all.
//!
//! The sizes are those around the words of the wake table, 64 workers each. "All at
//! once" is a barrier inside the polls: it opens only if every worker has one of the
//! tasks at the same time, so a worker that is not notified hangs the test.

#[cfg(target_os = "linux")]
#[path = "exec_support/affinity.rs"]
mod affinity;
#[path = "exec_support/named.rs"]
mod named;

use std::collections::HashSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use futures::future::join_all;
use tests::exec::{hold, until};
use tests::{child, watchdog};
use ws_executor::{Executor, Handle};

const SIZES: [usize; 6] = [1, 2, 63, 64, 65, 256];

/// Tasks that all have to run at once, one for each worker.
fn meet(workers: usize) -> impl Iterator<Item = impl Future<Output = usize> + Send + 'static> {
    let barrier = Arc::new(Barrier::new(workers));
    (0..workers).map(move |_| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait();
            named::worker()
        }
    })
}

/// Checks that the tasks of `meet` ran on as many workers.
fn assert_all_different(workers: usize, ran_on: Vec<usize>) {
    let different: HashSet<usize> = ran_on.into_iter().collect();
    assert_eq!(different, (0..workers).collect());
}

/// Runs `test` on an executor of each size, when all workers sleep and again when
/// they have just been awake.
fn with_each_size(name: &str, test: impl Fn(&Executor)) {
    for workers in SIZES {
        watchdog::guard(&format!("{name}, {workers} workers"), || {
            let executor = named::builder(workers).build().unwrap();
            assert_eq!(executor.workers(), workers);
            assert_eq!(executor.metrics().workers().len(), workers);
            until(|| executor.metrics().parked_workers() == workers);
            for _ in 0..3 {
                test(&executor);
            }
            executor.shutdown();
        });
    }
}

#[test]
fn a_batch_from_outside_reaches_all_workers() {
    with_each_size("batch from outside", |executor| {
        let workers = executor.workers();
        let tasks = executor.spawn_many(meet(workers));
        assert_all_different(workers, executor.block_on(join_all(tasks)));
    });
}

#[test]
fn a_batch_from_a_worker_reaches_all_workers() {
    with_each_size("batch from a worker", |executor| {
        let (handle, workers) = (executor.handle(), executor.workers());
        let root = executor.spawn(async move { handle.spawn_many(meet(workers)) });
        let tasks = executor.block_on(root);
        assert_all_different(workers, executor.block_on(join_all(tasks)));
    });
}

#[test]
fn tasks_from_outside_one_by_one_reach_all_workers() {
    with_each_size("one by one from outside", |executor| {
        let workers = executor.workers();
        let tasks: Vec<_> = meet(workers).map(|task| executor.spawn(task)).collect();
        assert_all_different(workers, executor.block_on(join_all(tasks)));
    });
}

/// The last one stays in the LIFO slot, and the one that spawned them meets the others
/// in the same poll: someone must come for it.
#[test]
fn tasks_from_a_blocked_worker_one_by_one_reach_all_workers() {
    with_each_size("one by one from a worker", |executor| {
        let (handle, workers) = (executor.handle(), executor.workers());
        let root = executor.spawn(async move {
            let mut all = meet(workers);
            let mine = all.next().expect("there is a worker");
            let others: Vec<_> = all.map(|task| handle.spawn(task)).collect();
            (mine.await, others)
        });
        let (mine, others) = executor.block_on(root);
        let mut ran_on = executor.block_on(join_all(others));
        ran_on.push(mine);
        assert_all_different(workers, ran_on);
    });
}

/// The same among many tasks that do not wait for anyone, so that work is stolen in
/// batches, and a worker that is blocked by one task has others behind it.
#[test]
fn tasks_among_many_others_reach_all_workers() {
    with_each_size("among others", |executor| {
        let (handle, workers) = (executor.handle(), executor.workers());
        let root = executor.spawn(async move {
            let barrier = Arc::new(Barrier::new(workers));
            let tasks = (0..5 * workers).map(|n| {
                let barrier = (n % 5 == 0).then(|| Arc::clone(&barrier));
                async move {
                    barrier?.wait();
                    Some(named::worker())
                }
            });
            handle.spawn_many(tasks)
        });
        let tasks = executor.block_on(root);
        let ran_on = executor.block_on(join_all(tasks));
        assert_all_different(workers, ran_on.into_iter().flatten().collect());
    });
}

#[test]
fn pinned_tasks_run_on_each_worker() {
    with_each_size("pinned", |executor| {
        let handle = executor.handle();
        let tasks = (0..executor.workers())
            .map(|worker| handle.spawn_pinned(worker, || async { named::worker() }));
        let tasks: Vec<_> = tasks.collect();
        let ran_on = executor.block_on(join_all(tasks));
        assert_eq!(ran_on, (0..executor.workers()).collect::<Vec<_>>());
    });
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "a thousand workers search slowly if not optimised"
)]
fn a_thousand_workers_work() {
    watchdog::guard("1,024 workers", || {
        let executor = named::builder(1_024).build().unwrap();
        let tasks = executor.spawn_many(meet(1_024));
        assert_all_different(1_024, executor.block_on(join_all(tasks)));
    });
}

/// All workers are blocked: what comes meanwhile waits, and can be seen to; then it runs.
#[test]
fn what_comes_while_all_are_blocked_runs_afterwards() {
    watchdog::guard("all blocked", || {
        for workers in [1, 2, 8] {
            let executor = named::builder(workers).build().unwrap();
            let handle = executor.handle();
            let held = hold(&executor);
            let polls = executor.metrics().polls();
            let mut tasks = executor.spawn_many((0..500).map(|number| async move { number }));
            tasks.extend((500..900).map(|number| executor.spawn(async move { number })));
            let pinned = (0..100).map(|number| {
                handle.spawn_pinned(number % workers, move || async move { 900 + number })
            });
            tasks.extend(pinned);
            let metrics = executor.metrics();
            assert_eq!(metrics.injector_depth(), 900);
            assert_eq!(metrics.total().pinned_depth, 100);
            assert_eq!(metrics.parked_workers(), 0);
            assert_eq!(metrics.polls(), polls);
            drop(held);
            let numbers = executor.block_on(join_all(tasks));
            assert!(numbers.into_iter().eq(0..1_000));
        }
    });
}

/// One worker that waits for a task inside a poll has to run it itself.
#[test]
fn one_worker_runs_what_it_waits_for() {
    fn depth(handle: &Handle, levels: u32) -> u32 {
        if levels == 0 {
            return 0;
        }
        let inner = handle.clone();
        let task = handle.spawn(async move { depth(&inner, levels - 1) });
        1 + handle.block_on(task)
    }
    watchdog::guard("nested on one worker", || {
        let executor = named::builder(1).build().unwrap();
        let handle = executor.handle();
        let task = executor.spawn(async move { depth(&handle, 10) });
        assert_eq!(executor.block_on(task), 10);
    });
}

/// No thread is started, and nothing of the user's is called, for a number that will
/// not do.
#[test]
fn other_numbers_are_refused_before_anything_is_done() {
    for workers in [0, 4_097, 1 << 20, usize::MAX / 2, usize::MAX] {
        let calls = Arc::new(AtomicUsize::new(0));
        let call = || {
            let calls = Arc::clone(&calls);
            move |_| {
                calls.fetch_add(1, Ordering::Relaxed);
            }
        };
        let (named, parked) = (call(), call());
        let error = Executor::builder()
            .workers(workers)
            .thread_name(move |worker| {
                named(worker);
                String::new()
            })
            .parker(move |worker| {
                parked(worker);
                ws_core::ThreadParker::new()
            })
            .on_thread_start(call())
            .on_thread_stop(call())
            .build()
            .unwrap_err();
        assert!(error.is_invalid() && !error.is_thread() && !error.is_panic());
        assert!(error.to_string().contains(&workers.to_string()), "{error}");
        assert_eq!(calls.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn any_seed_will_do() {
    watchdog::guard("seeds", || {
        for seed in [0, 1, 1 << 63, u64::MAX, 0x9E37_79B9_7F4A_7C15] {
            let executor = named::builder(3).seed(seed).build().unwrap();
            let handle = executor.handle();
            // Stolen from one ring by the others, in the order of their generators.
            let root = executor.spawn(async move { handle.spawn_many(meet(3)) });
            let tasks = executor.block_on(root);
            assert_all_different(3, executor.block_on(join_all(tasks)));
        }
    });
}

#[test]
fn hooks_and_names_get_each_number_once() {
    watchdog::guard("hooks", || {
        let [named, started, stopped]: [Arc<Mutex<Vec<usize>>>; 3] = Default::default();
        let note = |list: &Arc<Mutex<Vec<usize>>>| {
            let list = Arc::clone(list);
            move |worker| list.lock().unwrap().push(worker)
        };
        let name = note(&named);
        let executor = Executor::builder()
            .workers(65)
            .thread_name(move |worker| {
                name(worker);
                format!("w-{worker}")
            })
            .on_thread_start(note(&started))
            .on_thread_stop(note(&stopped))
            .build()
            .unwrap();
        executor.shutdown();
        for list in [named, started, stopped] {
            let mut list = list.lock().unwrap().clone();
            list.sort_unstable();
            assert_eq!(list, (0..65).collect::<Vec<_>>());
        }
    });
}

/// The variable that chooses the workers of the process-wide executor.
#[test]
fn the_process_wide_executor_heeds_its_variable() {
    const NAME: &str = "the_process_wide_executor_heeds_its_variable";
    child::survives(NAME, || {
        // SAFETY: nothing else runs in this process but the test and its watchdog,
        // which do not look at the environment.
        unsafe { std::env::set_var("WS_WORKERS", "3") };
        let workers = ws_executor::block_on(async { Handle::current().workers() });
        assert_eq!(workers, 3);
    });
}

#[test]
fn a_bad_variable_is_reported() {
    let ending = child::run("a_bad_variable_is_reported", || {
        // SAFETY: as above.
        unsafe { std::env::set_var("WS_WORKERS", "many") };
        ws_executor::block_on(async {});
    });
    if let Some(ending) = ending {
        ending.assert_code(101);
        assert!(ending.stderr.contains("WS_WORKERS must be a number"));
    }
}

/// As many workers as the thread that builds the executor may use processors.
#[cfg(target_os = "linux")]
#[test]
fn there_are_as_many_workers_as_processors_are_available() {
    let available = thread::available_parallelism().map_or(1, NonZero::get);
    assert_eq!(Executor::new().workers(), available);
    let pinned = thread::spawn(|| {
        affinity::pin_to(affinity::cores()[0]);
        Executor::new().workers()
    });
    assert_eq!(pinned.join().unwrap(), 1);
}
