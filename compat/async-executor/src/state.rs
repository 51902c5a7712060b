//! The state of an executor: its queues, its sleepers and its tasks.

use std::fmt;
use std::future::poll_fn;
use std::ptr;
use std::task::Poll;

use async_task::{Runnable, ScheduleInfo};
use ws_core::sync::thread;
use ws_core::{Backoff, Steal, ring};

use crate::current::{self, Pushed};
use crate::injector::Injector;
use crate::registry::Registry;
use crate::rings::{self, Rings};
use crate::seat::{Parked, Queues, Seat};
use crate::sleepers::Sleepers;

/// What all handles, tasks and `run`s of an executor share.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) injector: Injector,
    pub(crate) rings: Rings,
    pub(crate) sleepers: Sleepers,
    pub(crate) registry: Registry,
}

impl State {
    /// The address of the state, by which two executors can be told apart.
    pub(crate) fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Pushes a task that is due.
    pub(crate) fn schedule(&self, runnable: Runnable, info: ScheduleInfo) {
        match current::push(self.address(), &self.injector, runnable) {
            // The task yielded. This `run` polls it next, or else announces it
            // (`runner.rs`).
            Pushed::Alone if info.woken_while_running => return,
            Pushed::Alone | Pushed::BehindOthers => {}
            Pushed::NotHere(runnable) => self.injector.push(runnable),
        }
        self.sleepers.notify();
    }

    /// Pushes tasks that were spawned together.
    pub(crate) fn schedule_batch(&self, batch: Vec<Runnable>) {
        let count = batch.len();
        self.injector.push_batch(batch.into_iter());
        self.sleepers.notify_many(count);
    }

    /// Takes one task out of any queue.
    fn take_one(&self) -> Option<Runnable> {
        self.injector.pull().or_else(|| self.steal_one())
    }

    fn steal_one(&self) -> Option<Runnable> {
        let mut backoff = Backoff::new();
        loop {
            match self.rings.steal(0, rings::NONE, ring::Stealer::steal) {
                Steal::Success(runnable) => return Some(runnable),
                Steal::Empty => return None,
                Steal::Retry => backoff.snooze(),
            }
        }
    }

    /// Polls one task, if one is due.
    pub(crate) fn try_tick(&self) -> bool {
        let runnable = self.take_one();
        let found = runnable.is_some();
        runnable.into_iter().for_each(run_apart);
        found
    }

    /// Polls one task, as soon as a task is due.
    pub(crate) async fn tick(&self) {
        let mut seat = Seat::new(self);
        let runnable = poll_fn(|cx| {
            seat.wake_up();
            loop {
                if let Some(runnable) = self.take_one() {
                    seat.leave();
                    return Poll::Ready(runnable);
                }
                if seat.park(cx.waker()) == Parked::Asleep {
                    return Poll::Pending;
                }
            }
        });
        run_apart(runnable.await);
    }

    /// Drops the futures of all tasks, on this thread. The caller ensures that no `run` and
    /// no `tick` is polled any more, and that no task is spawned.
    ///
    /// A thread that has a waker may be about to push a task: the task is marked as due, but
    /// is in no queue yet. No lifetime binds that thread, so this function must wait until
    /// the task is pushed. The wait is short.
    pub(crate) fn drop_tasks(&self) {
        while !self.registry.is_empty() {
            self.registry.wake_all();
            let mut dropped = false;
            while let Some(runnable) = self.take_one() {
                drop(runnable);
                dropped = true;
            }
            if !dropped {
                thread::yield_now();
            }
        }
    }

    pub(crate) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("tasks", &self.registry.len())
            .field("injector", &self.injector.len())
            .field("rings", &self.rings.lengths())
            .field("sleeping", &self.sleepers.sleeping())
            .field("searching", &self.sleepers.searching())
            .finish()
    }
}

impl Queues for State {
    fn sleepers(&self) -> &Sleepers {
        &self.sleepers
    }

    fn has_work(&self) -> bool {
        !self.injector.is_empty() || !self.rings.are_empty()
    }
}

/// Polls a task that does not belong to the `run` around this call, if there is such a `run`.
/// A task that is woken here must not go into the ring of that `run`: it would wait there
/// until the caller is done.
fn run_apart(runnable: Runnable) {
    let _aside = current::aside();
    runnable.run();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use crate::Executor;

    struct SetOnDrop<'a>(&'a AtomicBool);

    impl Drop for SetOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    /// A thread that wakes a task is stopped after it has marked the task as due, and before
    /// it pushes the task.
    #[test]
    fn the_end_waits_for_a_push_that_is_under_way() {
        let dropped = AtomicBool::new(false);
        let guard = SetOnDrop(&dropped);
        let executor = Executor::new();
        let task = executor.spawn(async {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        assert!(executor.try_tick());
        let state = Arc::clone(executor.state());
        let held = state.injector.lock();
        thread::scope(|scope| {
            // Dropping the handle cancels: the task is marked, and pushed to be dropped.
            let (started, starting) = std::sync::mpsc::channel();
            scope.spawn(move || {
                started.send(()).expect("the test waits for it");
                drop(task);
            });
            starting.recv().expect("it starts");
            // Long enough for the thread to come to the lock. Otherwise the test shows less.
            thread::sleep(Duration::from_millis(50));
            let ending = scope.spawn(|| {
                drop(executor);
                assert!(dropped.load(Ordering::SeqCst));
            });
            thread::sleep(Duration::from_millis(50));
            drop(held);
            ending
                .join()
                .expect("the future was dropped before the end");
        });
    }
}
