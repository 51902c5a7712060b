//! A panic in a closure goes on when both have ended; nothing is leaked or dropped twice,
//! and the workers live on.

use std::panic::{panic_any, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tests::drops::{Drops, Item};
use tests::exec::{Gate, assert_alive, executor, on_worker, payload_of};
use tests::{child, watchdog};
use ws_core::FastRand;
use ws_executor::{Executor, join};

use super::join_stolen;

/// What a panic carries: which closure, and something that counts its drop.
struct Special {
    from: &'static str,
    _item: Item,
}

/// Which closures panic.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    A,
    B,
    Both,
}

/// Whether another worker has the second closure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Thief {
    Steals,
    Absent,
}

impl Thief {
    fn executor(self) -> Executor {
        executor(match self {
            Thief::Steals => 2,
            Thief::Absent => 1,
        })
    }

    fn join<RA: Send, RB: Send>(
        self,
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        match self {
            Thief::Steals => join_stolen(a, b),
            Thief::Absent => join(a, b),
        }
    }
}

/// A closure with items: it owns the first, its panic carries the second, and its result
/// is the third. The others are dropped at once.
fn closure(
    from: &'static str,
    panics: bool,
    items: [Item; 3],
    ran: &AtomicBool,
) -> impl FnOnce() -> Item + Send {
    let [owned, carried, result] = items;
    move || {
        let _owned = owned;
        ran.store(true, Ordering::SeqCst);
        if panics {
            resume_unwind(Box::new(Special {
                from,
                _item: carried,
            }));
        }
        result
    }
}

#[test]
fn every_combination_reports_one_panic_and_drops_everything_once() {
    watchdog::guard("combinations", || {
        for thief in [Thief::Steals, Thief::Absent] {
            let executor = thief.executor();
            for who in [Who::A, Who::B, Who::Both] {
                for _ in 0..20 {
                    let drops = Drops::of(6);
                    let [a_ran, b_ran] = [AtomicBool::new(false), AtomicBool::new(false)];
                    let a = closure("a", who != Who::B, [0, 1, 2].map(|n| drops.item(n)), &a_ran);
                    let b = closure("b", who != Who::A, [3, 4, 5].map(|n| drops.item(n)), &b_ran);
                    let payload = payload_of(|| on_worker(&executor, || thief.join(a, b)));
                    let special = payload.downcast::<Special>().expect("the payload itself");
                    let reported = match who {
                        Who::B => "b",
                        Who::A | Who::Both => "a",
                    };
                    assert_eq!(special.from, reported, "{who:?}, {thief:?}");
                    assert!(a_ran.into_inner());
                    // If the first one panics and nobody has the second, that is not run.
                    let b_runs = who == Who::B || thief == Thief::Steals;
                    assert_eq!(b_ran.into_inner(), b_runs, "{who:?}, {thief:?}");
                    drop(special);
                    drops.assert_each_once();
                }
            }
            assert_alive(&executor);
        }
    });
}

/// The panic waits for the other closure, which uses what the frame above has.
#[test]
fn a_panic_waits_for_the_closure_that_was_stolen() {
    watchdog::guard("a panic waits", || {
        let executor = executor(2);
        for _ in 0..50 {
            let (panics, ended) = (Gate::new(), AtomicBool::new(false));
            let payload = payload_of(|| {
                on_worker(&executor, || {
                    let local = String::from("of this frame");
                    join_stolen(
                        || {
                            panics.open();
                            panic_any(1_u8);
                        },
                        || {
                            panics.wait();
                            // It has panicked, or is about to.
                            std::thread::yield_now();
                            assert_eq!(local, "of this frame");
                            ended.store(true, Ordering::SeqCst);
                        },
                    );
                })
            });
            assert_eq!(payload.downcast_ref(), Some(&1_u8));
            assert!(ended.into_inner());
        }
        assert_alive(&executor);
    });
}

/// From outside, where the closures go to a worker and come back.
#[test]
fn a_panic_reaches_a_thread_outside() {
    watchdog::guard("outside", || {
        let executor = executor(2);
        for closure in ["a", "b"] {
            let panics = |name| move || assert_ne!(name, closure, "as told");
            let payload = payload_of(|| executor.join(panics("a"), panics("b")));
            let text = payload.downcast_ref::<String>().expect("a text");
            assert!(text.contains("as told"), "{text}");
            let handle = executor.handle();
            // Also where there are no workers any more.
            let late = self::executor(1);
            let late_handle = late.handle();
            late.shutdown();
            let payload = payload_of(|| late_handle.join(panics("a"), panics("b")));
            assert!(payload.is::<String>());
            drop(handle);
        }
        assert_alive(&executor);
    });
}

/// Counts the nodes that were begun, each of which owns an item.
struct Tree<'a> {
    drops: &'a Drops,
    begun: &'a AtomicUsize,
    /// The node that panics, by the order in which they begin.
    bad: usize,
}

impl Tree<'_> {
    fn grow(&self, depth: u32) -> Vec<Item> {
        let number = self.begun.fetch_add(1, Ordering::SeqCst);
        let item = self.drops.item(number);
        if number == self.bad {
            panic_any(number);
        }
        if depth == 0 {
            return vec![item];
        }
        let (mut left, right) = join(|| self.grow(depth - 1), || self.grow(depth - 1));
        left.extend(right);
        left.push(item);
        left
    }
}

/// Any node of a tree panics, at every depth, stolen or not; some subtrees are finished
/// then, some under way, some not begun.
#[test]
fn a_panic_anywhere_in_a_tree_leaks_nothing() {
    const DEPTH: u32 = 7;
    const NODES: usize = (1 << (DEPTH + 1)) - 1;
    watchdog::guard("in a tree", || {
        let seed = 0xbad_5eed;
        let mut rand = FastRand::new(seed);
        for workers in [1, 2, 4] {
            let executor = executor(workers);
            for _ in 0..tests::census::stress_rounds(150) {
                let (drops, begun) = (Drops::of(NODES), AtomicUsize::new(0));
                let tree = Tree {
                    drops: &drops,
                    begun: &begun,
                    bad: rand.below(NODES as u32) as usize,
                };
                let payload = payload_of(|| on_worker(&executor, || tree.grow(DEPTH)));
                assert_eq!(payload.downcast_ref(), Some(&tree.bad), "seed {seed:#x}");
                // Each item that was made is dropped.
                for number in 0..NODES {
                    let made = number < begun.load(Ordering::SeqCst);
                    assert_eq!(drops.count(number), usize::from(made), "seed {seed:#x}");
                }
            }
            assert_alive(&executor);
        }
    });
}

/// Caught in the middle of a tree, the rest of the tree goes on.
#[test]
fn a_panic_that_is_caught_below_spares_the_rest() {
    fn count(depth: u32) -> usize {
        if depth == 0 {
            return 1;
        }
        if depth == 3 {
            let payload = payload_of(|| join(|| count(depth - 1), || panic_any("caught")));
            assert_eq!(payload.downcast_ref(), Some(&"caught"));
        }
        let (a, b) = join(|| count(depth - 1), || count(depth - 1));
        a + b
    }

    watchdog::guard("caught below", || {
        for workers in [1, 2] {
            let executor = executor(workers);
            assert_eq!(on_worker(&executor, || count(8)), 256);
            assert_alive(&executor);
        }
    });
}

/// Panics when it is dropped, whatever else happens.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb was dropped");
    }
}

/// What nobody gets is dropped where its panic does no harm. (A drop that panics while
/// the stack of its own thread is unwound aborts, by Rust's rule.)
#[test]
fn panics_in_drops_are_contained() {
    child::survives("panics::panics_in_drops_are_contained", || {
        // Nobody has the second closure, and it is dropped unrun.
        let alone = executor(1);
        let bomb = Bomb;
        let never = move || {
            let _bomb = bomb;
            unreachable!("it is not run");
        };
        let payload = payload_of(|| on_worker(&alone, || join(|| panic_any(1_u8), never)));
        assert_eq!(payload.downcast_ref(), Some(&1_u8));
        assert_alive(&alone);

        // The result of the second closure, which nobody gets as the first one panics.
        let two = executor(2);
        let payload = payload_of(|| on_worker(&two, || join_stolen(|| panic_any(2_u8), || Bomb)));
        assert_eq!(payload.downcast_ref(), Some(&2_u8));

        // The payload of the second panic.
        let second = || {
            panic_any(Bomb);
        };
        let payload = payload_of(|| on_worker(&two, || join_stolen(|| panic_any(3_u8), second)));
        assert_eq!(payload.downcast_ref(), Some(&3_u8));
        assert_alive(&two);

        // What the second closure owns, on the thief: that is its panic.
        let bomb = Bomb;
        let payload = payload_of(|| on_worker(&two, || join_stolen(|| 1, move || drop(bomb))));
        assert_eq!(payload.downcast_ref(), Some(&"a bomb was dropped"));
        assert_alive(&two);
    });
}
