//! Parallel loops give what sequential ones do: each item once, in order where order is
//! promised, and nothing lost when a closure panics.

use std::cell::Cell;
use std::cmp::Ordering as Order;
use std::collections::HashSet;
use std::panic::panic_any;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use tests::drops::{Drops, Item};
use tests::exec::{assert_alive, executor, on_worker, payload_of, until};
use tests::watchdog;
use ws_core::FastRand;
use ws_executor::par::{
    par_for_each, par_map, par_reduce, par_sort_unstable, par_sort_unstable_by,
};
use ws_executor::{Executor, Handle};

/// Runs `code` on a worker, and in the `block_on` of a thread that is none, with several
/// numbers of workers.
fn everywhere(name: &str, code: impl Fn() + Sync) {
    watchdog::guard(name, || {
        for workers in [1, 2, 8, 65] {
            let executor = executor(workers);
            on_worker(&executor, &code);
            executor.block_on(async { code() });
            assert_eq!(executor.workers(), workers);
        }
        // And nowhere: on the process-wide one.
        code();
    });
}

#[test]
fn each_item_once() {
    everywhere("each once", || {
        for items in [0, 1, 2, 3, 63, 64, 65, 1_000, 20_000] {
            let mut slice = vec![0_u8; items];
            par_for_each(&mut slice[..], |item| *item += 1);
            assert!(slice.iter().all(|&item| item == 1));
            let counts: Vec<_> = (0..items).map(|_| AtomicUsize::new(0)).collect();
            let count = |n: usize| {
                counts[n].fetch_add(1, Ordering::Relaxed);
            };
            par_for_each(0..items, count);
            par_for_each(&counts[..], |count| {
                assert_eq!(count.fetch_add(1, Ordering::Relaxed), 1);
            });
            assert!(counts.into_iter().all(|count| count.into_inner() == 2));
        }
    });
}

#[test]
fn a_map_keeps_the_order() {
    everywhere("order", || {
        for items in [0, 1, 2, 5, 100, 20_000_u64] {
            let squares = par_map(0..items, |n| n * n);
            assert!(squares.into_iter().eq((0..items).map(|n| n * n)));
        }
        // Also if later items are ready sooner.
        let slow = par_map(0..200_u32, |n| {
            if n % 50 == 0 {
                thread::yield_now();
            }
            n.to_string()
        });
        assert!(slow.into_iter().eq((0..200).map(|n: u32| n.to_string())));
    });
}

/// Combining is not commutative here, so parts must not change places.
#[test]
fn a_reduction_keeps_the_order() {
    everywhere("reduce", || {
        for items in [0, 1, 2, 7, 3_000_usize] {
            let words: Vec<String> = (0..items).map(|n| format!("{n} ")).collect();
            let text = par_reduce(
                &words[..],
                String::new,
                |text, word| text + word,
                |left, right| left + &right,
            );
            assert_eq!(text, words.concat());
        }
    });
}

#[test]
fn ranges_of_every_kind() {
    fn count<S: ws_executor::par::Source>(source: S) -> u64 {
        par_reduce(source, || 0, |count, _| count + 1, |a, b| a + b)
    }

    everywhere("ranges", || {
        assert_eq!(par_map(0..255_u8, u64::from).iter().sum::<u64>(), 32_385);
        assert_eq!(par_map(-128..127_i8, i64::from).iter().sum::<i64>(), -255);
        assert_eq!(count(i16::MIN..i16::MAX), 65_535);
        assert_eq!(count(u16::MAX - 10..u16::MAX), 10);
        assert_eq!(count(u64::MAX - 10..u64::MAX), 10);
        assert_eq!(count(i64::MIN..i64::MIN + 10), 10);
        assert_eq!(count(i64::MAX - 10..i64::MAX), 10);
        assert_eq!(count(usize::MAX - 100..usize::MAX), 100);
        assert_eq!(count(-5..5_isize), 10);
        // The wrong way round there is nothing.
        let backwards = std::ops::Range { start: 5, end: -5 };
        assert_eq!(count(backwards), 0);
    });
}

/// A range with more items than anyone has time for works as well: it is divided as it
/// turns out to be needed, and the panic that is the only way out goes on.
#[test]
fn huge_ranges() {
    everywhere("huge", || {
        let begun = AtomicUsize::new(0);
        let payload = payload_of(|| {
            par_for_each(i64::MIN..i64::MAX, |n| {
                begun.fetch_add(1, Ordering::Relaxed);
                panic_any(n);
            });
        });
        assert!(payload.is::<i64>());
        // At most one item of each part that was divided off.
        assert!(begun.into_inner() <= 64 * 65);
        payload_of(|| par_for_each(0..u64::MAX, |_| panic_any(())));
        // Results of so many items do not fit anywhere.
        payload_of(|| par_map(0..u64::MAX, |n| n));
    });
}

/// Half of a loop is offered to others before its first item, which may take long.
#[test]
fn others_take_part_while_one_item_takes_long() {
    watchdog::guard("uneven", || {
        for workers in [2, 4] {
            let executor = executor(workers);
            for _ in 0..20 {
                let (ended, threads) = (AtomicUsize::new(0), Mutex::new(HashSet::new()));
                on_worker(&executor, || {
                    par_for_each(0..1_000, |n| {
                        threads.lock().unwrap().insert(thread::current().id());
                        if n == 0 {
                            until(|| ended.load(Ordering::SeqCst) >= 500);
                        }
                        ended.fetch_add(1, Ordering::SeqCst);
                    });
                });
                assert_eq!(ended.into_inner(), 1_000);
                assert!(threads.into_inner().unwrap().len() >= 2);
            }
        }
    });
}

#[test]
fn loops_nest() {
    everywhere("nest", || {
        let rows = par_map(0..30_u64, |row| {
            let row_sum = || par_reduce(0..30_u64, || 0, |sum, n| sum + row * n, |a, b| a + b);
            let (a, b) = ws_executor::join(row_sum, row_sum);
            let mut cells = par_map(0..10_u64, |n| row + n);
            par_sort_unstable_by(&mut cells, |a, b| b.cmp(a));
            (a + b, cells)
        });
        for (row, (sum, cells)) in (0..).zip(rows) {
            assert_eq!(sum, 2 * row * 435);
            assert!(cells.into_iter().eq((row..row + 10).rev()));
        }
    });
}

/// Items, results and accumulators are dropped once each if a closure panics somewhere.
#[test]
fn a_panic_in_the_middle_drops_everything_once() {
    const ITEMS: usize = 2_000;

    /// Makes result `n`, unless that is the bad one.
    fn make(drops: &Drops, made: &AtomicUsize, n: usize, bad: usize) -> Item {
        if n == bad {
            panic_any(n);
        }
        made.fetch_add(1, Ordering::SeqCst);
        drops.item(n)
    }

    fn check(drops: &Drops, made: AtomicUsize) {
        let dropped: usize = (0..ITEMS).map(|n| drops.count(n)).sum();
        assert!((0..ITEMS).all(|n| drops.count(n) <= 1));
        assert_eq!(dropped, made.into_inner());
    }

    watchdog::guard("panics", || {
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            for bad in [0, 1, ITEMS / 2, ITEMS - 1] {
                let (drops, made) = (Drops::of(ITEMS), AtomicUsize::new(0));
                let map = || par_map(0..ITEMS, |n| make(&drops, &made, n, bad));
                let payload = payload_of(|| on_worker(&executor, map));
                assert_eq!(payload.downcast_ref(), Some(&bad));
                check(&drops, made);

                let (drops, made) = (Drops::of(ITEMS), AtomicUsize::new(0));
                let fold = |mut all: Vec<Item>, n: usize| {
                    all.push(make(&drops, &made, n, bad));
                    all
                };
                let append = |mut left: Vec<Item>, right: Vec<Item>| {
                    left.extend(right);
                    left
                };
                let reduce = || par_reduce(0..ITEMS, Vec::new, fold, append);
                let payload = payload_of(|| on_worker(&executor, reduce));
                assert_eq!(payload.downcast_ref(), Some(&bad));
                check(&drops, made);
            }
            assert_alive(&executor);
        }
    });
}

/// A panic while two parts are put together, and while one begins.
#[test]
fn a_panic_between_parts_drops_everything_once() {
    watchdog::guard("between parts", || {
        let executor = executor(2);
        for panics in ["identity", "combine"] {
            let (drops, next) = (Drops::of(1_000), AtomicUsize::new(0));
            let item = || drops.item(next.fetch_add(1, Ordering::SeqCst));
            let reduce = || {
                par_reduce(
                    0..500,
                    || {
                        assert_ne!(panics, "identity", "as told");
                        vec![item()]
                    },
                    |mut all, _| {
                        all.push(item());
                        all
                    },
                    |_, _| panic_any("as told"),
                )
            };
            payload_of(|| on_worker(&executor, reduce));
            for number in 0..1_000 {
                let made = number < next.load(Ordering::SeqCst);
                assert_eq!(drops.count(number), usize::from(made));
            }
        }
        assert_alive(&executor);
    });
}

/// Slices that need many pieces, with patterns that sorts do not like.
#[test]
fn sorts() {
    everywhere("sort", || {
        let mut rand = FastRand::new(0x5027);
        for items in [0, 1, 2, 100, 4_096, 4_097, 20_000] {
            let mut random: Vec<u32> = (0..items).map(|_| rand.next_u32()).collect();
            let few: Vec<u32> = random.iter().map(|n| n % 4).collect();
            let rising: Vec<u32> = (0..items).collect();
            let falling: Vec<u32> = (0..items).rev().collect();
            for mut numbers in [random.clone(), few, rising, falling] {
                let mut expected = numbers.clone();
                expected.sort_unstable();
                par_sort_unstable(&mut numbers);
                assert_eq!(numbers, expected);
            }
            par_sort_unstable_by(&mut random, |a, b| b.cmp(a));
            assert!(random.is_sorted_by(|a, b| a >= b));
        }
    });
}

/// With a comparison that is no order, or that panics, the slice keeps its items.
#[test]
fn bad_comparisons_lose_nothing() {
    type Compare<'a> = dyn Fn(&Item, &Item) -> Order + Sync + 'a;
    const ITEMS: usize = 5_000;

    watchdog::guard("bad comparisons", || {
        let executor = executor(2);
        let random = |_: &Item, _: &Item| {
            thread_local! {
                static RAND: Cell<u64> = const { Cell::new(1) };
            }
            let next = RAND
                .get()
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            RAND.set(next);
            [Order::Less, Order::Equal, Order::Greater][(next >> 33) as usize % 3]
        };
        let less = |_: &Item, _: &Item| Order::Less;
        let (left, fired) = (AtomicUsize::new(30_000), AtomicBool::new(false));
        let panics = |a: &Item, b: &Item| {
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                fired.store(true, Ordering::Relaxed);
                panic_any("enough");
            }
            a.number.cmp(&b.number).reverse()
        };
        let comparisons: [&Compare<'_>; 3] = [&random, &less, &panics];
        for compare in comparisons {
            let drops = Drops::of(ITEMS);
            let mut items: Vec<Item> = (0..ITEMS).map(|n| drops.item(n)).collect();
            // It may panic, or not.
            let sort = || {
                let sort =
                    std::panic::AssertUnwindSafe(|| par_sort_unstable_by(&mut items, compare));
                let _ = std::panic::catch_unwind(sort);
            };
            on_worker(&executor, sort);
            let numbers: HashSet<usize> = items.iter().map(|item| item.number).collect();
            assert_eq!(numbers.len(), ITEMS);
            drop(items);
            drops.assert_each_once();
        }
        assert!(fired.load(Ordering::Relaxed));
        assert_alive(&executor);
    });
}

/// Which executor a loop uses: that of the task or the `block_on`, without a worker the
/// caller's own thread.
#[test]
fn where_a_loop_runs() {
    let here = |_| Handle::try_current().ok().map(|handle| handle.workers());
    watchdog::guard("where", || {
        let executor = executor(3);
        assert_eq!(on_worker(&executor, || par_map(0..5, here)), [Some(3); 5]);
        assert_eq!(
            executor.block_on(async { par_map(0..5, here) }),
            [Some(3); 5]
        );
        let handle = executor.handle();
        executor.shutdown();
        let me = thread::current().id();
        let ids = handle.block_on(async { par_map(0..5, |_| thread::current().id()) });
        assert_eq!(ids, [me; 5]);
        let hosted = Executor::builder()
            .workers(2)
            .host(futures::executor::block_on)
            .build()
            .unwrap();
        assert_eq!(on_worker(&hosted, || par_map(0..5, here)), [Some(2); 5]);
    });
}

/// There is no such memory, but a number of that size.
#[test]
fn too_many_results() {
    watchdog::guard("too many", || {
        let executor = executor(2);
        for items in [1_u64 << 59, 1 << 63] {
            let map = async { par_map(0..items, |n| n) };
            let payload = payload_of(|| executor.block_on(map));
            let text = payload.downcast_ref::<&str>().unwrap();
            assert_eq!(*text, "more results than memory can hold");
        }
        assert_alive(&executor);
    });
}
