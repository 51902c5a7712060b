//! `each` does the work of every item, no more at a time than it may, in order.

mod graph_support;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt;
use futures::executor::block_on;
use graph_support::Meeting;
use tests::drops::Drops;
use tests::watchdog;
use ws_executor::graph::{each, try_each};

#[test]
fn results_are_in_order_and_the_limit_holds() {
    watchdog::guard("results_are_in_order_and_the_limit_holds", || {
        for limit in [1, 2, 3, 7, 100] {
            let (now, most) = (Cell::new(0), Cell::new(0));
            let work = |item: usize| {
                let (now, most) = (&now, &most);
                async move {
                    now.set(now.get() + 1);
                    most.set(most.get().max(now.get()));
                    for _ in 0..(item * 7) % 5 {
                        ws_executor::yield_now().await;
                    }
                    now.set(now.get() - 1);
                    item * 2
                }
            };
            let results = block_on(each(0..20, limit, work));
            assert_eq!(results, (0..20).map(|item| item * 2).collect::<Vec<_>>());
            assert_eq!(most.get().min(limit), most.get());
        }
        assert_eq!(
            block_on(each(Vec::new(), 1, |item: u32| async move { item })),
            Vec::<u32>::new()
        );
    });
}

#[test]
fn items_are_under_way_together() {
    watchdog::guard("items_are_under_way_together", || {
        let meeting = Meeting::of(3);
        block_on(each(0..3, 3, |_| meeting.come()));
        let meeting = Meeting::of(3);
        assert_eq!(each(0..3, 2, |_| meeting.come()).now_or_never(), None);
    });
}

#[test]
fn an_error_ends_it_and_drops_the_others() {
    let drops = Drops::of(5);
    let work = |item: usize| {
        let held = drops.item(item);
        async move {
            let _held = held;
            if item == 2 {
                return Err(item);
            }
            std::future::pending::<Result<(), usize>>().await
        }
    };
    assert_eq!(block_on(try_each(0..10, 5, work)), Err(2));
    // Those before it and those that began after it are gone; the rest never began.
    drops.assert_each_once();
}

#[test]
fn a_limit_of_nothing_is_refused() {
    let none = catch_unwind(AssertUnwindSafe(|| block_on(each(0..1, 0, |_| async {}))));
    assert!(none.is_err());
}
