//! If a closure panics, the others run nevertheless, and the scope panics at its end.

use std::panic::{panic_any, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use tests::child;
use tests::drops::{Drops, Item};
use tests::exec::{assert_alive, executor, on_worker, payload_of};
use ws_executor::{Scope, join};

use super::everywhere;

#[test]
fn the_others_run_and_the_panic_goes_on() {
    everywhere("panic", |executor| {
        let count = AtomicU64::new(0);
        let payload = payload_of(|| {
            executor.scope(|s| {
                for number in 0..50_u64 {
                    let count = &count;
                    s.run(move |s| {
                        s.run(|_| {
                            count.fetch_add(1, Ordering::SeqCst);
                        });
                        if number == 20 {
                            panic_any(number);
                        }
                    });
                }
            })
        });
        assert_eq!(payload.downcast_ref(), Some(&20_u64));
        assert_eq!(count.into_inner(), 50);
    });
}

/// One panic is reported, of several; all payloads and all that closures own is dropped
/// once.
#[test]
fn of_several_panics_one_is_reported() {
    struct Special {
        number: usize,
        _item: Item,
    }

    everywhere("several panics", |executor| {
        let drops = Drops::of(40);
        let payload = payload_of(|| {
            executor.scope(|s| {
                for number in 0..20 {
                    let (owned, carried) = (drops.item(number), drops.item(20 + number));
                    s.run(move |_| {
                        let _owned = owned;
                        resume_unwind(Box::new(Special {
                            number,
                            _item: carried,
                        }));
                    });
                }
            })
        });
        let special = payload.downcast::<Special>().expect("the payload itself");
        assert!(special.number < 20);
        drop(special);
        drops.assert_each_once();
    });
}

/// The body's panic is the one that is reported, when all closures have ended.
#[test]
fn the_body_panics_after_its_closures() {
    everywhere("the body", |executor| {
        for closures_panic in [false, true] {
            let count = AtomicU64::new(0);
            let payload = payload_of(|| {
                executor.scope(|s| {
                    for _ in 0..10 {
                        s.run(|_| {
                            count.fetch_add(1, Ordering::SeqCst);
                            assert!(!closures_panic, "a closure");
                        });
                    }
                    panic_any("the body");
                })
            });
            assert_eq!(payload.downcast_ref(), Some(&"the body"));
            assert_eq!(count.into_inner(), 10);
        }
    });
}

/// A join unwinds with closures of an outer scope in its lane.
#[test]
fn a_join_unwinds_over_closures_of_a_scope() {
    everywhere("unwinds", |executor| {
        let count = AtomicU64::new(0);
        let add = |_: &Scope<'_, '_>| {
            count.fetch_add(1, Ordering::SeqCst);
        };
        let add = &add;
        let payload = payload_of(|| {
            executor.scope(|s| {
                join(
                    || {
                        s.run(add);
                        s.run(add);
                        panic_any(1_u8);
                    },
                    || s.run(add),
                );
            })
        });
        assert_eq!(payload.downcast_ref(), Some(&1_u8));
        let count = count.into_inner();
        // The second arm ran if someone had it.
        assert!([2, 3].contains(&count), "{count}");
    });
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb was dropped");
    }
}

#[test]
fn payloads_that_panic_in_their_drop_are_contained() {
    child::survives(
        "panics::payloads_that_panic_in_their_drop_are_contained",
        || {
            for workers in [1, 2] {
                let executor = executor(workers);
                let scope = || {
                    let payload = payload_of(|| {
                        executor.scope(|s| {
                            for _ in 0..5 {
                                s.run(|_| panic_any(Bomb));
                            }
                            panic_any("the body");
                        })
                    });
                    assert_eq!(payload.downcast_ref(), Some(&"the body"));
                    // What a closure owns panics: that is the closure's panic.
                    let bomb = Bomb;
                    let payload = payload_of(|| executor.scope(|s| s.run(move |_| drop(bomb))));
                    assert_eq!(payload.downcast_ref(), Some(&"a bomb was dropped"));
                };
                scope();
                on_worker(&executor, scope);
                assert_alive(&executor);
            }
        },
    );
}
