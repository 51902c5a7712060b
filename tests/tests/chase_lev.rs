//! The growable deque: nothing lost, nothing doubled, through any growth.

use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tests::census::stress_items;
use tests::drops::Drops;
use tests::{stress, watchdog};
use ws_core::Steal;
use ws_core::chase_lev::{self, Owner, Stealer};

#[test]
fn a_new_deque_is_empty() {
    // The flaw: an unsigned `bottom - 1` at zero.
    let (owner, stealer) = chase_lev::new::<u32>();
    assert_eq!(owner.pop(), None);
    assert_eq!(stealer.steal(), Steal::Empty);
    assert!(owner.is_empty() && stealer.is_empty());
}

#[test]
fn last_in_first_out_for_the_owner_first_in_first_out_for_thieves() {
    for start in [0, -3, i64::from(u32::MAX) - 2] {
        let (owner, stealer) = chase_lev::starting_at(start, 4);
        (0..100).for_each(|n| owner.push(n));
        assert_eq!((owner.len(), stealer.len()), (100, 100));
        for n in 0..50 {
            assert_eq!(owner.pop(), Some(99 - n));
            assert_eq!(stealer.steal(), Steal::Success(n));
        }
        assert_eq!(owner.pop(), None);
        assert_eq!(stealer.steal(), Steal::Empty);
    }
}

#[test]
fn it_grows_when_full_and_not_before() {
    // The flaw: a push that does not look whether the deque is full.
    let (owner, stealer) = chase_lev::with_capacity(2);
    owner.push(1);
    owner.push(2);
    assert_eq!(owner.capacity(), 2);
    owner.push(3);
    assert_eq!(owner.capacity(), 4);
    assert_eq!(stealer.steal(), Steal::Success(1));
    // Room that thieves made is used before the deque grows again.
    (4..=5).for_each(|n| owner.push(n));
    assert_eq!(owner.capacity(), 4);
    assert!((2..=5).rev().all(|n| owner.pop() == Some(n)));
}

#[test]
fn an_absurd_capacity_is_refused() {
    for capacity in [usize::MAX, isize::MAX as usize] {
        assert!(catch_unwind(|| chase_lev::with_capacity::<u64>(capacity)).is_err());
    }
    assert_eq!(chase_lev::with_capacity::<u64>(0).0.capacity(), 1);
}

#[test]
fn a_batch_is_the_older_half() {
    for count in 0..20_u32 {
        let (owner, stealer) = chase_lev::with_capacity(2);
        let (thief, _) = chase_lev::with_capacity(1);
        (0..count).for_each(|n| owner.push(n));
        let half = count.div_ceil(2);
        match stealer.steal_into(&thief) {
            Steal::Empty => assert_eq!(count, 0),
            Steal::Success(first) => assert_eq!(first, 0),
            Steal::Retry => panic!("no one is in the way"),
        }
        assert!((1..half).rev().all(|n| thief.pop() == Some(n)));
        assert_eq!(thief.pop(), None);
        assert!((half..count).rev().all(|n| owner.pop() == Some(n)));
    }
    let (owner, stealer) = chase_lev::new();
    (0..10).for_each(|n| owner.push(n));
    assert_eq!(stealer.steal_into_limited(&owner, 3), Steal::Success(0));
    assert_eq!(
        (owner.pop(), owner.pop()),
        (Some(2), Some(1)),
        "stealing from oneself rotates"
    );
    assert_eq!(stealer.steal_into_limited(&owner, 0), Steal::Success(3));
    assert_eq!(owner.len(), 6);
}

#[test]
fn what_is_left_is_dropped_once_by_the_last_half() {
    let drops = Drops::of(50);
    let (owner, stealer) = chase_lev::with_capacity(2);
    (0..50).for_each(|n| owner.push(drops.item(n)));
    drop(owner.pop());
    drop(owner);
    assert_eq!(drops.count(10), 0, "the stealer keeps the deque");
    assert!(stealer.steal().is_success());
    drop(stealer);
    drops.assert_each_once();
}

#[test]
fn a_panicking_drop_spares_the_others() {
    let drops = Drops::of(8);
    let (owner, stealer) = chase_lev::with_capacity(2);
    for number in 0..8 {
        owner.push(if number == 3 {
            drops.panicking(number)
        } else {
            drops.item(number)
        });
    }
    drop(stealer);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(owner))).is_err());
    drops.assert_each_once();
}

#[test]
fn any_type_will_do() {
    let (owner, stealer) = chase_lev::with_capacity::<()>(2);
    (0..100).for_each(|_| owner.push(()));
    assert_eq!(
        (owner.pop(), stealer.steal()),
        (Some(()), Steal::Success(()))
    );
    assert_eq!(owner.len(), 98);

    // Sizes around the word: padding inside and at the end.
    #[derive(Clone, Debug, PartialEq)]
    struct Padded(u8, u32, u8);
    check_type(|n| n as u8);
    check_type(|n| [n as u8; 3]);
    check_type(|n| [n as u8; 13]);
    check_type(|n| n as u16);
    check_type(|n| u128::from(n) << 64 | 1);
    check_type(|n| Padded(n as u8, n, 1));
    check_type(|n| Some(Padded(n as u8, n, 1)).filter(|_| n % 2 == 0));
    check_type(|n| format!("item {n}"));
    check_type(|n| vec![Box::new(n); 3]);
    check_type(|n| [u64::from(n); 513]);

    #[repr(align(128))]
    struct Aligned(u32, PhantomPinned);
    let (owner, stealer) = chase_lev::with_capacity(1);
    (0..5).for_each(|n| owner.push(Aligned(n, PhantomPinned)));
    assert_eq!(stealer.steal().success().map(|item| item.0), Some(0));
    assert_eq!(owner.pop().map(|item| item.0), Some(4));
}

fn check_type<T: PartialEq + std::fmt::Debug>(make: impl Fn(u32) -> T) {
    let (owner, stealer) = chase_lev::with_capacity(1);
    (0..9).for_each(|n| owner.push(make(n)));
    for n in 0..4 {
        assert_eq!(owner.pop(), Some(make(8 - n)));
        assert_eq!(stealer.steal(), Steal::Success(make(n)));
    }
}

#[test]
fn halves_have_the_auto_traits_of_their_role() {
    fn owner<T: Send>() {}
    fn stealer<T: Clone + Send + Sync>() {}
    owner::<Owner<std::cell::Cell<u8>>>();
    stealer::<Stealer<std::cell::Cell<u8>>>();
    // That owners are neither `Sync` nor `Clone` is a compile-fail doc test.
}

/// The deques start small, so they grow under the thieves.
fn conserve(workers: usize, start: i64) {
    let deques = (0..workers).map(|_| chase_lev::starting_at::<Box<u64>>(start, 2));
    stress::conserve(stress_items(2_000_000), deques.collect());
}

#[test]
fn stress_conserves_items() {
    watchdog::guard("deque stress", || conserve(2, 0));
}

#[test]
fn stress_conserves_items_among_many() {
    watchdog::guard("deque stress among many", || conserve(5, -100_000));
}

/// A tenth of the items: a steal is a system call, and on a virtual machine one that
/// disturbs the other cores. That the steal needs it, only the models show: two steals
/// have to pass within the time that one store takes to become visible.
#[test]
fn stress_conserves_items_where_thieves_pay() {
    watchdog::guard("uneven deque stress", || {
        let deques = (0..2).map(|_| chase_lev::uneven_starting_at(-1_000, 2));
        stress::conserve(stress_items(200_000).div_ceil(10), deques.collect());
    });
}

/// Items are dropped where they end up, while halves come and go.
#[test]
fn stress_drops_each_item_once() {
    watchdog::guard("deque drop stress", || {
        const ROUNDS: usize = 2_000;
        const ITEMS: usize = 12;
        for _ in 0..ROUNDS {
            let drops = Drops::of(ITEMS);
            let (owner, stealer) = chase_lev::with_capacity(1);
            let go = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    let (mine, _) = chase_lev::with_capacity(1);
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
                    owner.push(drops.item(number));
                    (number % 3 == 0).then(|| drop(owner.pop()));
                }
                drop(owner);
            });
            drops.assert_each_once();
        }
    });
}
