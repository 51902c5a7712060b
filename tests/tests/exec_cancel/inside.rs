//! Cancelling a task from inside its own poll, and from its own drop.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;

use tests::drops::Drops;
use tests::exec::{assert_alive, executor, until};
use tests::watchdog;
use ws_executor::{Executor, Task};

/// Where a task finds its own handle.
type Own = Arc<Mutex<Option<Task<()>>>>;

/// Spawns what `make` makes of its own handle, and lets it go as soon as the handle is
/// there.
fn spawn_with_own<F>(executor: &Executor, make: impl FnOnce(Own) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let own = Own::default();
    // Locked, so that the task finds its handle however early it runs.
    let mut lock = own.lock().unwrap();
    *lock = Some(executor.spawn(make(Arc::clone(&own))));
}

#[test]
fn a_task_drops_its_own_handle() {
    watchdog::guard("drops itself", || {
        let executor = executor(1);
        let drops = Drops::of(1);
        let item = drops.item(0);
        let (sender, receiver) = mpsc::channel();
        spawn_with_own(&executor, |own| async move {
            let _item = item;
            drop(own.lock().unwrap().take());
            sender.send("still in its poll").unwrap();
            pending::<()>().await;
        });
        assert_eq!(receiver.recv(), Ok("still in its poll"));
        until(|| drops.count(0) == 1);
        assert_alive(&executor);
        drop(executor);
        drops.assert_each_once();
    });
}

/// Its last poll: it is ready, but nobody wants to know.
#[test]
fn a_task_drops_its_own_handle_and_ends() {
    watchdog::guard("drops itself and ends", || {
        let executor = executor(1);
        let drops = Drops::of(1);
        let item = drops.item(0);
        spawn_with_own(&executor, |own| async move {
            let _item = item;
            drop(own.lock().unwrap().take());
        });
        until(|| drops.count(0) == 1);
        assert_alive(&executor);
    });
}

/// It can never be ready, since the future of it is what is waited for; but neither
/// may it block its worker.
#[test]
fn a_task_awaits_its_own_cancellation() {
    watchdog::guard("cancels itself", || {
        let executor = executor(1);
        let drops = Drops::of(2);
        let [before, after] = [0, 1].map(|number| drops.item(number));
        let (sender, receiver) = mpsc::channel();
        spawn_with_own(&executor, |own| async move {
            let _before = before;
            let task = own.lock().unwrap().take().unwrap();
            task.cancel().await;
            sender.send(()).unwrap();
            drop(after);
        });
        until(|| drops.count(0) == 1 && drops.count(1) == 1);
        assert!(receiver.try_recv().is_err(), "it was cancelled");
        drops.assert_each_once();
        assert_alive(&executor);
    });
}

#[test]
fn a_task_awaits_itself_and_is_cancelled_from_outside() {
    watchdog::guard("awaits itself", || {
        let executor = executor(1);
        let drops = Drops::of(1);
        let item = drops.item(0);
        spawn_with_own(&executor, |own| async move {
            let _item = item;
            let task = own.lock().unwrap().take().unwrap();
            task.await;
        });
        executor.block_on(executor.spawn(async {}));
        assert_eq!(drops.count(0), 0);
        // The handle is in the future, the future in the task.
        drop(executor);
        drops.assert_each_once();
    });
}

/// Wakes and cancels itself in one poll, in both orders.
#[test]
fn a_task_wakes_and_cancels_itself() {
    watchdog::guard("wakes and cancels itself", || {
        let executor = executor(2);
        for wake_first in [true, false] {
            let drops = Drops::of(1);
            let item = drops.item(0);
            let (polled, polls) = mpsc::channel();
            spawn_with_own(&executor, |own| {
                poll_fn(move |cx| {
                    let _item = &item;
                    polled.send(()).unwrap();
                    if wake_first {
                        cx.waker().wake_by_ref();
                    }
                    drop(own.lock().unwrap().take());
                    cx.waker().wake_by_ref();
                    Poll::Pending
                })
            });
            until(|| drops.count(0) == 1);
            assert_eq!(polls.iter().count(), 1, "not polled again");
        }
        assert_alive(&executor);
    });
}

/// The future owns the handle of its own task: it is dropped in its own drop.
#[test]
fn a_future_owns_its_own_handle() {
    struct Owner(Own, #[allow(dead_code)] tests::drops::Item);

    impl Drop for Owner {
        fn drop(&mut self) {
            drop(self.0.lock().unwrap().take());
        }
    }

    watchdog::guard("owns itself", || {
        for ends in [true, false] {
            let executor = executor(2);
            let drops = Drops::of(1);
            let item = drops.item(0);
            spawn_with_own(&executor, |own| async move {
                let _owner = Owner(own, item);
                if !ends {
                    pending::<()>().await;
                }
            });
            if ends {
                until(|| drops.count(0) == 1);
            }
            drop(executor);
            drops.assert_each_once();
        }
    });
}

/// A task that cancels another one, which is being polled by a nested `block_on`.
#[test]
fn a_task_below_is_cancelled_by_the_one_on_top() {
    watchdog::guard("cancelled from above", || {
        let executor = executor(1);
        let handle = executor.handle();
        let drops = Drops::of(1);
        let item = drops.item(0);
        let (sender, receiver) = mpsc::channel();
        spawn_with_own(&executor, |own| async move {
            let _item = item;
            let top = handle.spawn(async move { drop(own.lock().unwrap().take()) });
            let mut top = pin!(top);
            // The only worker runs it on top of this poll.
            handle.block_on(top.as_mut());
            sender.send("went on").unwrap();
            pending::<()>().await;
        });
        assert_eq!(receiver.recv(), Ok("went on"));
        until(|| drops.count(0) == 1);
        assert_alive(&executor);
    });
}
