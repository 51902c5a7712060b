//! The ring: nothing lost, nothing doubled, order kept, at every edge.

use std::collections::VecDeque;
use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tests::census::stress_items;
use tests::drops::Drops;
use tests::{stress, watchdog};
use ws_core::Steal;
use ws_core::ring::{self, Owner, Stealer};

/// Start positions whose next few steps wrap.
const NEAR_THE_END: [u32; 4] = [0, u32::MAX, u32::MAX - 3, u32::MAX - 255];

#[test]
fn first_in_first_out_across_the_wrap() {
    for start in NEAR_THE_END {
        let (owner, _) = ring::starting_at::<u32, 8>(start);
        for round in 0..100 {
            assert!(owner.push_batch(round..round + 8).next().is_none());
            assert_eq!(owner.push(0), Err(0), "a ninth item");
            assert_eq!((owner.len(), owner.spare_capacity()), (8, 0));
            assert!((round..round + 8).all(|n| owner.pop() == Some(n)));
            assert_eq!(owner.pop(), None);
            assert_eq!((owner.len(), owner.spare_capacity()), (0, 8));
        }
    }
}

#[test]
fn a_thief_takes_the_older_half() {
    for start in NEAR_THE_END {
        for count in 0..=16_u32 {
            let (owner, stealer) = ring::starting_at::<u32, 16>(start);
            let (thief, _) = ring::starting_at::<u32, 16>(start.wrapping_add(5));
            assert!(owner.push_batch(0..count).next().is_none());
            let half = count.div_ceil(2);
            match stealer.steal_into(&thief) {
                Steal::Empty => assert_eq!(count, 0),
                Steal::Success(first) => assert_eq!(first, 0),
                Steal::Retry => panic!("no one is in the way"),
            }
            assert!((1..half).all(|n| thief.pop() == Some(n)));
            assert_eq!(thief.pop(), None);
            assert!((half..count).all(|n| owner.pop() == Some(n)));
            assert_eq!(owner.pop(), None);
        }
    }
}

#[test]
fn a_thief_takes_no_more_than_fits_or_than_its_limit() {
    let (owner, stealer) = ring::with_capacity::<u32, 16>();
    let (thief, _) = ring::with_capacity::<u32, 16>();
    assert!(owner.push_batch(0..16).next().is_none());
    assert!(thief.push_batch(100..114).next().is_none());

    assert_eq!(stealer.steal_into(&thief), Steal::Success(0));
    assert_eq!(
        (thief.len(), owner.len()),
        (16, 13),
        "room for two, one returned"
    );
    assert_eq!(stealer.steal_into(&thief), Steal::Success(3));
    assert_eq!(
        (thief.len(), owner.len()),
        (16, 12),
        "no room, one returned"
    );

    while thief.pop().is_some() {}
    assert_eq!(stealer.steal_into_limited(&thief, 3), Steal::Success(4));
    assert_eq!((thief.len(), owner.len()), (2, 9));
    assert_eq!(stealer.steal_into_limited(&thief, 0), Steal::Success(7));
    assert_eq!(
        (thief.len(), owner.len()),
        (2, 8),
        "a limit of 0 counts as 1"
    );
}

/// A ring that is only ever filled by stealing and emptied by thieves: what its
/// owner remembers of the head must not fall behind by a whole turn of 2^32.
#[test]
fn an_owner_that_only_steals_keeps_up_with_its_thieves() {
    const N: usize = 1 << 20;
    let (source, source_stealer) = ring::with_capacity::<(), N>();
    let (owner, stealer) = ring::with_capacity::<(), N>();
    assert!(source.push_batch([(); N]).next().is_none());
    let mut moved = 0;
    loop {
        let before = owner.len();
        let item = source_stealer.steal_into(&owner).success();
        item.into_iter().for_each(|item| source.push(item).unwrap());
        moved += (owner.len() - before) as u64;
        if moved > (1 << 32) + N as u64 / 4 {
            break;
        }
        let item = stealer.steal_into(&source).success();
        item.into_iter().for_each(|item| source.push(item).unwrap());
    }
    let len = owner.len();
    assert_eq!(
        owner.push_batch([(); N]).count(),
        len,
        "as much as is there did not fit"
    );
    assert_eq!(std::iter::from_fn(|| owner.pop()).count(), N);
}

#[test]
fn stealing_from_oneself_rotates() {
    let (owner, stealer) = ring::with_capacity::<u32, 8>();
    assert!(owner.push_batch(0..7).next().is_none());
    // Half of seven is four, but only one slot is free for the three others.
    assert_eq!(stealer.steal_into(&owner), Steal::Success(0));
    let order: Vec<u32> = std::iter::from_fn(|| owner.pop()).collect();
    assert_eq!(order, [2, 3, 4, 5, 6, 1]);
}

#[test]
fn an_overflow_hands_out_the_newer_half_in_order() {
    for start in NEAR_THE_END {
        let (owner, stealer) = ring::starting_at::<u32, 256>(start);
        assert!((0..256).all(|n| owner.push_or_overflow(n).is_ok()));
        let overflow = owner.push_or_overflow(256).expect_err("the ring is full");
        assert_eq!(overflow.len(), 129);
        assert!(overflow.eq(128..=256));
        assert_eq!((owner.len(), stealer.len()), (128, 128));
        assert!((0..128).all(|n| owner.pop() == Some(n)));
    }
}

/// The flaw: an overflow that sheds the older half lets new items overtake old
/// ones for as long as they keep coming.
#[test]
fn an_old_item_is_not_pushed_out_by_new_ones() {
    let (owner, _) = ring::with_capacity::<u32, 8>();
    owner.push(0).unwrap();
    for n in 1..1_000 {
        if let Err(overflow) = owner.push_or_overflow(n) {
            assert!(overflow.min() > Some(0), "the oldest item was shed");
        }
    }
    assert_eq!(owner.pop(), Some(0));
}

#[test]
fn an_overflow_may_use_the_ring_it_came_from() {
    let (owner, _) = ring::with_capacity::<u32, 8>();
    assert!((0..8).all(|n| owner.push(n).is_ok()));
    let mut later = VecDeque::new();
    for item in owner.push_or_overflow(8).expect_err("the ring is full") {
        assert!(owner.pop().is_some());
        later.extend(owner.push(item).err());
    }
    assert_eq!(owner.len() + later.len(), 4);
}

#[test]
fn an_iterator_may_use_the_ring_it_fills() {
    let (owner, _) = ring::with_capacity::<u32, 4>();
    let mut calls = 0;
    let nested = std::iter::from_fn(|| {
        calls += 1;
        // The first call fills the ring up; the item that it returns bounces.
        (calls == 1).then(|| assert!(owner.push_batch(10..14).next().is_none()));
        (calls <= 3).then_some(calls)
    });
    let rest: Vec<u32> = owner.push_batch(nested).collect();
    assert_eq!(rest, [1, 2, 3]);
    assert!((10..14).all(|n| owner.pop() == Some(n)));
}

#[test]
fn what_came_before_a_panicking_iterator_is_there() {
    let (owner, _) = ring::with_capacity::<u32, 8>();
    let items = (0..8).inspect(|&n| assert!(n < 3, "the iterator panics"));
    let outcome = catch_unwind(AssertUnwindSafe(|| owner.push_batch(items).count()));
    assert!(outcome.is_err());
    assert!((0..3).all(|n| owner.pop() == Some(n)));
    assert_eq!(owner.pop(), None);
    owner.push(7).expect("the ring is usable");
}

#[test]
fn what_is_left_is_dropped_once_by_the_last_half() {
    for start in NEAR_THE_END {
        let drops = Drops::of(20);
        let (owner, stealer) = ring::starting_at::<_, 16>(start);
        let (thief, _) = ring::starting_at::<_, 16>(start);
        assert!(
            owner
                .push_batch((0..16).map(|n| drops.item(n)))
                .next()
                .is_none()
        );
        drop(owner.push_or_overflow(drops.item(16)).expect_err("full"));
        assert!(
            owner
                .push_batch((17..20).map(|n| drops.item(n)))
                .next()
                .is_none()
        );
        assert!(stealer.steal_into(&thief).is_success());
        drop(owner);
        assert_eq!(drops.count(19), 0, "the stealer keeps the ring");
        assert!(stealer.steal().is_success());
        drop(stealer);
        drop(thief);
        drops.assert_each_once();
    }
}

#[test]
fn a_panicking_drop_spares_the_others() {
    let drops = Drops::of(8);
    let (owner, stealer) = ring::starting_at::<_, 8>(u32::MAX - 2);
    for number in 0..8 {
        let item = if number == 3 {
            drops.panicking(number)
        } else {
            drops.item(number)
        };
        owner.push(item).unwrap();
    }
    drop(stealer);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(owner))).is_err());
    drops.assert_each_once();
}

#[test]
fn any_type_will_do() {
    let (owner, stealer) = ring::new::<()>();
    assert_eq!(owner.push_batch([(); 300]).count(), 44);
    let (thief, _) = ring::new::<()>();
    assert!(stealer.steal_into(&thief).is_success());
    assert_eq!((owner.len(), thief.len()), (128, 127));

    // 256 slots of 64 KiB do not fit a test thread's stack.
    let (owner, stealer) = ring::new::<[u8; 65_536]>();
    owner.push([7; 65_536]).unwrap();
    assert_eq!(stealer.steal().success().map(|item| item[65_535]), Some(7));

    #[repr(align(128))]
    struct Aligned(u8, PhantomPinned);
    let (owner, stealer) = ring::new();
    owner.push(Aligned(3, PhantomPinned)).ok().unwrap();
    owner.push(Aligned(4, PhantomPinned)).ok().unwrap();
    assert_eq!(stealer.steal().success().map(|item| item.0), Some(3));
    assert_eq!(owner.pop().map(|item| item.0), Some(4));
}

#[test]
fn halves_have_the_auto_traits_of_their_role() {
    fn owner<T: Send>() {}
    fn stealer<T: Clone + Send + Sync>() {}
    owner::<Owner<std::cell::Cell<u8>>>();
    stealer::<Stealer<std::cell::Cell<u8>>>();
    // That owners are neither `Sync` nor `Clone` is a compile-fail doc test.
}

fn conserve<const N: usize>(workers: usize, start: u32) {
    let rings = (0..workers).map(|_| ring::starting_at::<u64, N>(start));
    stress::conserve(stress_items(2_000_000), rings.collect());
}

#[test]
fn stress_conserves_items() {
    watchdog::guard("ring stress", || conserve::<256>(3, 0));
}

#[test]
fn stress_conserves_items_in_a_tiny_ring_across_the_wrap() {
    watchdog::guard("tiny ring stress", || conserve::<4>(4, u32::MAX - 1_000));
}

/// Items pass through the ring by pointer and are dropped where they end up,
/// while halves come and go.
#[test]
fn stress_drops_each_item_once() {
    watchdog::guard("ring drop stress", || {
        const ROUNDS: usize = 2_000;
        const ITEMS: usize = 12;
        for round in 0..ROUNDS {
            let drops = Drops::of(ITEMS);
            let (owner, stealer) = ring::starting_at::<_, 8>(round as u32);
            let go = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    let (mine, _) = ring::with_capacity::<_, 8>();
                    while !go.load(Ordering::Acquire) {
                        std::hint::spin_loop();
                    }
                    for _ in 0..4 {
                        drop(stealer.steal_into(&mine));
                    }
                    drop(stealer);
                });
                go.store(true, Ordering::Release);
                for number in 0..ITEMS {
                    drop(owner.push_or_overflow(drops.item(number)));
                }
                drop(owner);
            });
            drops.assert_each_once();
        }
    });
}
