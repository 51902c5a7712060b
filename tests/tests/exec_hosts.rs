//! Hosts give their workers up, drop the executor, do other things on the worker's thread, and
//! have wakers of their own: no task is forgotten, and nobody waits for ever.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use futures::executor::block_on;
use tests::drops::Drops;
use tests::exec::{Gate, until};
use tests::watchdog::guard;
use ws_executor::{Executor, HostedWorker, Task, coop};

/// What a task has used up is no matter of what the host does besides.
#[test]
fn the_budget_of_a_task_ends_with_its_poll() {
    guard("budget", || {
        let task: Arc<Mutex<Option<Task<()>>>> = Arc::default();
        let ended = Gate::new();
        let (given, beside_ended) = (Arc::clone(&task), ended.clone());
        let host = move |worker: HostedWorker| {
            let beside = async {
                let mut task = None;
                // Awaiting it takes a unit.
                let awaits = poll_fn(|cx| {
                    task = task.take().or_else(|| given.lock().unwrap().take());
                    if let Some(task) = &mut task {
                        return Pin::new(task).poll(cx);
                    }
                    cx.waker().wake_by_ref();
                    Poll::Pending
                });
                awaits.await;
                beside_ended.open();
            };
            block_on(async { futures::join!(worker, beside) });
        };
        let executor = Executor::builder().workers(1).host(host).build().unwrap();
        let spends = executor.spawn(async {
            for _ in 0..128 {
                coop::consume().await;
            }
        });
        until(|| spends.is_finished());
        *task.lock().unwrap() = Some(spends);
        ended.wait();
        executor.shutdown();
    });
}

/// A drain goes on with those that are left.
#[test]
fn a_host_may_give_up_during_a_drain() {
    guard("drain", || {
        let (give_up, hosts) = (Gate::new(), AtomicUsize::new(0));
        let gives_up = give_up.clone();
        let host = move |worker: HostedWorker| {
            if hosts.fetch_add(1, Ordering::Relaxed) == 0 {
                gives_up.wait();
                drop(worker);
            } else {
                block_on(worker);
            }
        };
        let executor = Executor::builder().workers(2).host(host).build().unwrap();
        executor.block_on(executor.spawn(async {}));
        let later = thread::spawn(move || {
            // By then the other one sleeps, most likely.
            thread::sleep(Duration::from_millis(50));
            give_up.open();
        });
        executor.drain();
        later.join().unwrap();
    });
}

/// When the last one has given up, nobody runs anything: the executor is shut down.
#[test]
fn without_hosts_every_task_is_cancelled() {
    guard("no hosts", || {
        let give_up = Gate::new();
        let gives_up = give_up.clone();
        let host = move |worker: HostedWorker| {
            gives_up.wait();
            drop(worker);
        };
        let executor = Executor::builder().workers(2).host(host).build().unwrap();
        let handle = executor.handle();
        let drops = Drops::of(2);
        let before = executor.spawn({
            let item = drops.item(0);
            async move { drop(item) }
        });
        give_up.open();
        until(|| handle.is_shut_down());
        let after = executor.spawn({
            let item = drops.item(1);
            async move { drop(item) }
        });
        assert_eq!(executor.block_on(before.fallible()), None);
        assert_eq!(executor.block_on(after.fallible()), None);
        executor.drain();
        drops.assert_each_once();
    });
}

/// It cannot wait for itself.
#[test]
fn a_host_may_drop_its_executor() {
    guard("dropped by its host", || {
        let executor: Arc<Mutex<Option<Executor>>> = Arc::default();
        let (owned, ended) = (Arc::clone(&executor), Gate::new());
        let (hosts, ends) = (AtomicUsize::new(0), ended.clone());
        let host = move |worker: HostedWorker| {
            let is_first = hosts.fetch_add(1, Ordering::Relaxed) == 0;
            let beside = poll_fn(|cx| {
                if !is_first || owned.lock().unwrap().take().is_some() {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            });
            block_on(async { futures::join!(worker, beside) });
            if is_first {
                ends.open();
            }
        };
        let built = Executor::builder().workers(2).host(host).build().unwrap();
        *executor.lock().unwrap() = Some(built);
        ended.wait();
    });
}

/// A waker that may be dropped on its own thread alone.
struct AtHome(ThreadId);

impl Wake for AtHome {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Meanwhile the host puts another one there, and this is the last reference.
        thread::sleep(Duration::from_millis(1));
    }
}

impl Drop for AtHome {
    fn drop(&mut self) {
        if thread::current().id() != self.0 {
            // Without the panic hook, which would print every one of them.
            resume_unwind(Box::new("far from home"));
        }
    }
}

/// Whoever notifies a worker does not answer for the wakers of its host.
#[test]
fn the_drop_of_a_hosts_waker_may_panic() {
    guard("waker", || {
        let host = |mut worker: HostedWorker| {
            let poll = |worker: &mut HostedWorker| {
                let waker = Waker::from(Arc::new(AtHome(thread::current().id())));
                Pin::new(worker).poll(&mut Context::from_waker(&waker))
            };
            while poll(&mut worker).is_pending() {}
        };
        let executor = Executor::builder().workers(1).host(host).build().unwrap();
        let panicked = AtomicBool::new(false);
        for _ in 0..300 {
            let spawns = || executor.spawn(async {}).detach();
            if catch_unwind(AssertUnwindSafe(spawns)).is_err() {
                panicked.store(true, Ordering::Relaxed);
            }
        }
        assert!(!panicked.load(Ordering::Relaxed));
    });
}
