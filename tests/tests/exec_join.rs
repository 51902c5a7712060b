//! `join` runs both closures once, returns both results, and lets nothing of them live
//! longer than the call; wherever it is called, and whatever the closures do.

#[path = "exec_join/depth.rs"]
mod depth;
#[path = "exec_join/ends.rs"]
mod ends;
#[path = "exec_join/panics.rs"]
mod panics;
#[path = "exec_join/places.rs"]
mod places;
#[path = "exec_join/saturated.rs"]
mod saturated;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tests::census::stress_rounds;
use tests::exec::{Gate, executor, on_worker, until};
use tests::watchdog;
use ws_core::FastRand;
use ws_executor::{Executor, Handle, join};

/// A `join` on a worker whose `b` is stolen: `a` begins when `b` has.
fn join_stolen<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let begun = Gate::new();
    join(
        || {
            begun.wait();
            a()
        },
        || {
            begun.open();
            b()
        },
    )
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn both_results_come_back() {
    watchdog::guard("results", || {
        for workers in [1, 2, 8, 65] {
            let executor = executor(workers);
            let pair = on_worker(&executor, || join(|| 6 * 7, || "seven".to_owned()));
            assert_eq!(pair, (42, "seven".to_owned()));
            assert_eq!(on_worker(&executor, || fib(15)), 610, "{workers} workers");
        }
    });
}

#[test]
fn closures_borrow_from_the_stack() {
    fn double(numbers: &mut [u64]) -> u64 {
        if let [number] = numbers {
            *number *= 2;
            return *number;
        }
        let (left, right) = numbers.split_at_mut(numbers.len() / 2);
        let (left, right) = join(|| double(left), || double(right));
        left + right
    }

    watchdog::guard("borrows", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            let mut numbers: Vec<u64> = (1..=1_000).collect();
            assert_eq!(on_worker(&executor, || double(&mut numbers)), 1_001_000);
            assert!(numbers.iter().zip(1..).all(|(&number, n)| number == 2 * n));
        }
    });
}

/// The first closure runs where the join was called; the second one there as well if
/// nobody takes it, after the first.
#[test]
fn without_a_thief_they_run_one_after_the_other_on_one_thread() {
    watchdog::guard("no thief", || {
        let executor = executor(1);
        on_worker(&executor, || {
            let me = thread::current().id();
            let step = AtomicU64::new(0);
            join(
                || {
                    assert_eq!(thread::current().id(), me);
                    assert_eq!(step.fetch_add(1, Ordering::Relaxed), 0);
                },
                || {
                    assert_eq!(thread::current().id(), me);
                    assert_eq!(step.fetch_add(1, Ordering::Relaxed), 1);
                },
            );
        });
        assert_eq!(executor.metrics().total().forks_stolen, 0);
    });
}

#[test]
fn an_idle_worker_takes_the_second_closure() {
    watchdog::guard("a thief", || {
        let executor = executor(2);
        for number in 1..=100 {
            let (here, there) = on_worker(&executor, || {
                join_stolen(|| thread::current().id(), || thread::current().id())
            });
            assert_ne!(here, there);
            assert_eq!(executor.metrics().total().forks_stolen, number);
            // Sometimes they sleep before the next one, sometimes not.
            if number % 2 == 0 {
                until(|| executor.metrics().parked_workers() == 2);
            }
        }
    });
}

/// One tree keeps all workers busy, however many there are: as many closures as workers
/// run at the same time.
#[test]
fn all_workers_help_with_one_tree() {
    fn meet(here: &AtomicU64, all: u64) {
        if all == 1 {
            here.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let left = all / 2;
        join(|| meet(here, left), || meet(here, all - left));
    }

    fn leaf_by_leaf(here: &AtomicU64, workers: u64, leaves: u64) {
        if leaves == 1 {
            here.fetch_add(1, Ordering::Relaxed);
            return until(|| here.load(Ordering::Relaxed) == workers);
        }
        let left = leaves / 2;
        join(
            || leaf_by_leaf(here, workers, left),
            || leaf_by_leaf(here, workers, leaves - left),
        );
    }

    watchdog::guard("all help", || {
        for workers in [2, 3, 8] {
            let executor = executor(workers);
            for _ in 0..20 {
                let (here, workers) = (AtomicU64::new(0), workers as u64);
                // As many leaves as workers, and each waits for all others.
                on_worker(&executor, || leaf_by_leaf(&here, workers, workers));
                on_worker(&executor, || meet(&here, 100));
                assert_eq!(here.into_inner(), workers + 100);
            }
        }
    });
}

/// What a random tree consists of.
#[derive(Clone, Copy)]
struct Tree {
    seed: u64,
    depth: u32,
}

impl Tree {
    /// The halves, and what the node itself is worth; no halves for a leaf.
    fn open(self) -> (u64, Option<[Tree; 2]>) {
        let mut rand = FastRand::new(self.seed);
        let value = u64::from(rand.next_u32());
        let mut half = || Tree {
            seed: u64::from(rand.next_u32()) << 32 | u64::from(rand.next_u32()),
            // Uneven: one half may be a leaf where the other one is deep.
            depth: self.depth.saturating_sub(1 + rand.below(3)),
        };
        let halves = [half(), half()];
        (value, (self.depth > 0).then_some(halves))
    }

    fn sequential(self) -> u64 {
        let (value, halves) = self.open();
        match halves {
            None => value,
            Some([a, b]) => combine(value, a.sequential(), b.sequential()),
        }
    }

    /// By joins, and now and then by what else may stand between two of them.
    fn parallel(self) -> u64 {
        let (value, Some([a, b])) = self.open() else {
            // Some leaves take long enough for others to be stolen meanwhile.
            if self.seed % 64 == 0 {
                thread::yield_now();
            }
            return self.open().0;
        };
        // Not too often: waits in `block_on`, one inside the other, take stack.
        let (a, b) = match value % 301 {
            // A task of its own, and a nested `block_on` that waits for it.
            0 => {
                // It is spawned where it is waited for: a closure that waits for a task older
                // than itself may run on top of that, and wait for ever.
                let on_top = || {
                    let handle = Handle::current();
                    handle.block_on(handle.spawn(async move { a.parallel() }))
                };
                join(on_top, || b.parallel())
            }
            // A scope with closures and a task.
            1 => {
                let (mut left, mut right) = (0, 0);
                Handle::current().scope(|s| {
                    let (left, right) = (&mut left, &mut right);
                    s.run(move |s| {
                        s.run(move |_| *left = a.parallel());
                    });
                    s.spawn(async move { *right = b.parallel() });
                });
                (left, right)
            }
            2 => join(
                || a.parallel(),
                || Handle::current().join(|| b.parallel(), || ()).0,
            ),
            _ => join(|| a.parallel(), || b.parallel()),
        };
        combine(value, a, b)
    }
}

/// Not symmetric, so that halves that change places are noticed.
fn combine(value: u64, a: u64, b: u64) -> u64 {
    value
        .wrapping_add(a.rotate_left(7))
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(b.rotate_right(11))
}

fn check(executor: &Executor, tree: Tree) {
    let expected = tree.sequential();
    let found = on_worker(executor, || tree.parallel());
    assert_eq!(
        found,
        expected,
        "the tree of seed {:#x} and depth {} on {} workers",
        tree.seed,
        tree.depth,
        executor.workers()
    );
}

/// An executor whose workers have room for scopes in joins in scopes, in every build.
fn roomy(workers: usize) -> Executor {
    let builder = Executor::builder().workers(workers);
    let builder = builder.stack_size(16 << 20);
    builder.build().expect("the executor starts")
}

/// `WS_STRESS_ITEMS` is a thousand times the number of trees for each executor.
#[test]
fn random_trees_give_the_sequential_result() {
    watchdog::guard("random trees", || {
        let mut rand = FastRand::new(0x5eed);
        for workers in [1, 2, 3, 8] {
            let executor = roomy(workers);
            for _ in 0..stress_rounds(300) {
                let tree = Tree {
                    seed: u64::from(rand.next_u32()),
                    depth: 8 + rand.below(16),
                };
                check(&executor, tree);
            }
            until(|| executor.metrics().live_tasks() == 0);
        }
    });
}

/// Several trees at once, from tasks and from threads outside.
#[test]
fn trees_side_by_side_do_not_mix() {
    watchdog::guard("side by side", || {
        for workers in [1, 2, 4] {
            let executor = roomy(workers);
            thread::scope(|threads| {
                for thread in 0..6 {
                    let executor = &executor;
                    threads.spawn(move || {
                        for number in 0..stress_rounds(20) {
                            let tree = Tree {
                                seed: thread * 1_000_000 + number,
                                depth: 18,
                            };
                            check(executor, tree);
                        }
                    });
                }
            });
        }
    });
}
