//! The one-item slot: whoever takes the item has it, and only once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tests::census::{Census, stress_items};
use tests::drops::Drops;
use tests::watchdog;
use ws_core::FastRand;
use ws_core::slot::{self, Owner, Stealer};

#[test]
fn a_push_evicts_and_a_take_empties() {
    let (owner, stealer) = slot::new();
    assert!(owner.is_empty() && stealer.is_empty());
    assert_eq!(owner.take(), None);
    assert_eq!(owner.push(Box::new(1)), None);
    assert!(!owner.is_empty() && !stealer.is_empty());
    assert_eq!(owner.push(Box::new(2)).as_deref(), Some(&1));
    assert_eq!(stealer.take().as_deref(), Some(&2));
    assert_eq!(stealer.take(), None);
    assert_eq!(owner.push(Box::new(3)), None);
    assert_eq!(owner.take().as_deref(), Some(&3));
}

#[test]
fn boxes_and_arcs_fit() {
    let (owner, stealer) = slot::new();
    let text = Arc::new(String::from("shared"));
    assert_eq!(owner.push(Arc::clone(&text)), None);
    assert_eq!(Arc::strong_count(&text), 2);
    assert!(Arc::ptr_eq(&stealer.take().unwrap(), &text));

    // A box of a zero-sized type has no memory, but still is an item.
    let (owner, stealer) = slot::new();
    assert_eq!(owner.push(Box::new(())), None);
    assert_eq!(stealer.take(), Some(Box::new(())));
}

#[test]
fn what_is_left_is_dropped_once_by_the_last_half() {
    let drops = Drops::of(3);
    let (owner, stealer) = slot::new();
    assert!(owner.push(Box::new(drops.item(0))).is_none());
    drop(owner.push(Box::new(drops.item(1))));
    assert_eq!((drops.count(0), drops.count(1)), (1, 0));
    drop(owner);
    assert_eq!(drops.count(1), 0, "the stealer keeps the slot");
    drop(stealer);
    drop(drops.item(2));
    drops.assert_each_once();
}

#[test]
fn halves_have_the_auto_traits_of_their_role() {
    fn owner<T: Send>() {}
    fn stealer<T: Clone + Send + Sync>() {}
    owner::<Owner<Box<std::cell::Cell<u8>>>>();
    stealer::<Stealer<Box<std::cell::Cell<u8>>>>();
    // That owners are neither `Sync` nor `Clone` is a compile-fail doc test.
}

/// One owner fills and sometimes empties the slot, two thieves take from it.
#[test]
fn stress_conserves_items() {
    watchdog::guard("slot stress", || {
        let items = stress_items(2_000_000);
        let (owner, stealer) = slot::new::<Box<u64>>();
        let left = AtomicU64::new(items);
        let see = |item: Box<u64>, census: &mut Census| {
            census.see(*item);
            left.fetch_sub(1, Ordering::Relaxed);
        };
        let thief = |stealer: Stealer<Box<u64>>| {
            let mut census = Census::of(items);
            while left.load(Ordering::Relaxed) > 0 {
                stealer
                    .take()
                    .into_iter()
                    .for_each(|item| see(item, &mut census));
            }
            census
        };
        let censuses = thread::scope(|scope| {
            let thief = &thief;
            let thieves = [stealer.clone(), stealer].map(|half| scope.spawn(move || thief(half)));
            let mut census = Census::of(items);
            let mut rand = FastRand::new(1);
            for item in 0..items {
                let evicted = owner.push(Box::new(item));
                evicted.into_iter().for_each(|item| see(item, &mut census));
                if rand.below(4) == 0 {
                    owner
                        .take()
                        .into_iter()
                        .for_each(|item| see(item, &mut census));
                }
            }
            let [first, second] = thieves.map(|thief| thief.join().unwrap());
            [census, first, second]
        });
        Census::assert_each_once(censuses);
    });
}
