//! Hosts give their workers up, drop the executor, do other things on the worker's thread, and
//! have wakers of their own: no task is forgotten, and nobody waits for ever.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use futures::channel::oneshot;
use futures::executor::block_on;
use tests::drops::Drops;
use tests::exec::{Gate, until};
use tests::watchdog::guard;
use ws_executor::{Executor, HostedWorker, Task, coop, yield_now};

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

/// It does not count as searching: a task from outside is run by the other worker.
#[test]
fn a_worker_that_its_host_has_not_polled_yet_hides_no_task() {
    guard("not polled", || {
        let (go_on, hosts) = (Gate::new(), AtomicUsize::new(0));
        let goes_on = go_on.clone();
        let host = move |worker: HostedWorker| {
            if hosts.fetch_add(1, Ordering::Relaxed) == 0 {
                goes_on.wait();
            }
            block_on(worker);
        };
        let executor = Executor::builder().workers(2).host(host).build().unwrap();
        until(|| executor.metrics().parked_workers() == 1);
        executor.block_on(executor.spawn(async {}));
        go_on.open();
    });
}

/// A task that yields is queued on its worker, whose host blocks between two polls of it.
#[test]
fn a_host_that_blocks_between_two_polls_keeps_no_task() {
    guard("blocks between", || {
        let polls = Arc::new(AtomicUsize::new(0));
        let last: Arc<Mutex<Option<ThreadId>>> = Arc::default();
        let blocks = Arc::new(AtomicBool::new(false));
        let blocked = Gate::new();
        let host = {
            let (polls, last, blocks) = (polls.clone(), last.clone(), blocks.clone());
            let blocked = blocked.clone();
            move |worker: HostedWorker| {
                let mut worker = Box::pin(worker);
                block_on(poll_fn(|cx| {
                    let polled = worker.as_mut().poll(cx);
                    let is_here = *last.lock().unwrap() == Some(thread::current().id());
                    if polled.is_pending() && is_here && blocks.swap(false, Ordering::Relaxed) {
                        let before = polls.load(Ordering::Relaxed);
                        until(|| polls.load(Ordering::Relaxed) > before + 10);
                        blocked.open();
                    }
                    polled
                }));
            }
        };
        let executor = Executor::builder().workers(2).host(host).build().unwrap();
        let yields = {
            let (polls, last) = (polls.clone(), last.clone());
            executor.spawn(async move {
                loop {
                    *last.lock().unwrap() = Some(thread::current().id());
                    polls.fetch_add(1, Ordering::Relaxed);
                    yield_now().await;
                }
            })
        };
        until(|| polls.load(Ordering::Relaxed) > 100);
        blocks.store(true, Ordering::Relaxed);
        blocked.wait();
        drop(yields);
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

/// A `block_on` that parks its thread by `std::thread::park`: the one in the documentation of
/// `std::task::Wake`. A worker that waits inside of a poll has to leave its token alone.
#[test]
fn a_worker_that_waits_inside_of_a_poll_leaves_the_token_of_its_host() {
    struct Unparks(thread::Thread);

    impl Wake for Unparks {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    guard("token", || {
        let (request, requests) = mpsc::channel::<Waker>();
        let (seen, sees) = mpsc::channel::<()>();
        let request = Mutex::new(Some(request));
        let host = move |worker: HostedWorker| {
            let mut worker = std::pin::pin!(worker);
            let waker = Waker::from(Arc::new(Unparks(thread::current())));
            let mut cx = Context::from_waker(&waker);
            // The host's own event: a flag, and an unpark.
            let mut request = request.lock().unwrap().take();
            while worker.as_mut().poll(&mut cx).is_pending() {
                if let Some(request) = request.take() {
                    request.send(waker.clone()).unwrap();
                    thread::park();
                    seen.send(()).unwrap();
                } else {
                    thread::park();
                }
            }
        };
        let executor = Executor::builder().workers(1).host(host).build().unwrap();
        let hosts_waker = requests.recv().unwrap();
        // The host parks, or is about to; the worker is not notified.
        hosts_waker.wake_by_ref();
        sees.recv().unwrap();
        // The worker waits inside a poll, and its host's token is given meanwhile.
        let (entered, enters) = mpsc::channel();
        let (end, ends) = oneshot::channel::<()>();
        let handle = executor.handle();
        let waits = executor.spawn(async move {
            let inside = poll_fn({
                let (mut ends, mut entered) = (ends, Some(entered));
                move |cx| {
                    let polled = Pin::new(&mut ends).poll(cx);
                    entered
                        .take()
                        .into_iter()
                        .for_each(|entered| entered.send(()).unwrap());
                    polled
                }
            });
            let _ = handle.block_on(inside);
            // The token that was given meanwhile is still there.
            thread::park();
        });
        enters.recv().unwrap();
        hosts_waker.wake_by_ref();
        // As long as the old wait looked up by itself.
        thread::sleep(Duration::from_millis(5));
        drop(end);
        executor.block_on(waits);
    });
}

/// A stolen half of a join: its end wakes the worker that waits for it, at once. Without a
/// token of its own the worker would have to look up now and then.
#[test]
fn a_stolen_half_wakes_the_worker_that_waits_for_it() {
    guard("stolen half", || {
        let executor = Executor::builder()
            .workers(2)
            .host(block_on)
            .build()
            .unwrap();
        let handle = executor.handle();
        for _ in 0..200 {
            let (stolen, steals) = mpsc::channel();
            let inner = handle.clone();
            let sum = executor.spawn(async move {
                let a = move || steals.recv().unwrap();
                let b = move || {
                    stolen.send(1).unwrap();
                    // The other worker has nothing left to help with, and falls asleep.
                    thread::sleep(Duration::from_micros(300));
                    2
                };
                let (a, b) = inner.join(a, b);
                a + b
            });
            assert_eq!(executor.block_on(sum), 3);
        }
    });
}

thread_local! {
    /// Whether this thread is inside of a host.
    static IN_HOST: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// A task that is polled while all workers are in joins finds the host's context there, too.
#[test]
fn a_task_beside_joins_is_polled_in_the_context_of_a_host() {
    guard("context", || {
        let host = |worker: HostedWorker| {
            IN_HOST.set(true);
            block_on(worker);
            IN_HOST.set(false);
        };
        let executor = Executor::builder().workers(1).host(host).build().unwrap();
        let handle = executor.handle();
        for _ in 0..20 {
            let (ran, runs) = mpsc::channel();
            let handle = handle.clone();
            let in_join = move || {
                let task = async move { ran.send((IN_HOST.get(), thread::current().id())) };
                handle.spawn(async move { task.await.unwrap() }).detach();
                runs.recv().unwrap()
            };
            let ((in_host, thread), worker) = executor.join(in_join, || thread::current().id());
            assert!(in_host, "polled outside of the host");
            assert_ne!(thread, worker, "the worker is in the join");
        }
    });
}

/// Worker 0 has ended; a task that waits, and is polled beside joins, is polled once.
#[test]
fn a_task_beside_joins_waits_although_worker_0_has_ended() {
    guard("worker 0", || {
        let (give_up, gave_up) = (Gate::new(), Gate::new());
        let (gives_up, ends) = (give_up.clone(), gave_up.clone());
        let host = move |worker: HostedWorker| {
            if format!("{worker:?}").contains("index: 0") {
                gives_up.wait();
                drop(worker);
                ends.open();
            } else {
                block_on(worker);
            }
        };
        let executor = Executor::builder().workers(2).host(host).build().unwrap();
        give_up.open();
        gave_up.wait();
        let polls = Arc::new(AtomicUsize::new(0));
        let handle = executor.handle();
        let (first, counted) = (Gate::new(), Arc::clone(&polls));
        let polled = first.clone();
        let in_join = || {
            let waits = poll_fn(move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
                polled.open();
                Poll::<()>::Pending
            });
            handle.spawn(waits).detach();
            first.wait();
            // The spare thread looks around several times.
            thread::sleep(Duration::from_millis(20));
        };
        executor.join(in_join, || ());
        assert_eq!(polls.load(Ordering::Relaxed), 1);
    });
}

/// The drop of a pinned future calls `block_on`, and that polls another one, which was about to
/// be dropped: it waits again, and is dropped all the same.
#[test]
fn a_drop_may_poll_what_is_about_to_be_dropped() {
    struct Waits(Arc<AtomicUsize>);

    impl Drop for Waits {
        fn drop(&mut self) {
            let polled = poll_fn(|cx| {
                cx.waker().wake_by_ref();
                match self.0.load(Ordering::Relaxed) {
                    2 => Poll::Ready(()),
                    _ => Poll::Pending,
                }
            });
            ws_executor::block_on(polled);
        }
    }

    guard("polled in a drop", || {
        let polls = Arc::new(AtomicUsize::new(0));
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let (rests, give_up) = (Gate::new(), Gate::new());
        let host = {
            let (wakers, rests, give_up) = (Arc::clone(&wakers), rests.clone(), give_up.clone());
            move |worker: HostedWorker| {
                let mut worker = Box::pin(worker);
                let mut cx = Context::from_waker(Waker::noop());
                while wakers.lock().unwrap().len() < 2 {
                    assert!(worker.as_mut().poll(&mut cx).is_pending());
                    thread::yield_now();
                }
                rests.open();
                give_up.wait();
                drop(worker);
            }
        };
        let executor = Executor::builder().workers(1).host(host).build().unwrap();
        let handle = executor.handle();
        let drops = Drops::of(1);
        let (waits, leaves) = (Waits(Arc::clone(&polls)), Arc::clone(&wakers));
        let first = move || {
            poll_fn(move |cx| {
                let _waits = &waits;
                leaves.lock().unwrap().push(cx.waker().clone());
                Poll::<()>::Pending
            })
        };
        handle.spawn_pinned(0, first).detach();
        until(|| wakers.lock().unwrap().len() == 1);
        let (item, leaves) = (drops.item(0), Arc::clone(&wakers));
        let second = move || {
            poll_fn(move |cx| {
                let _item = &item;
                polls.fetch_add(1, Ordering::Relaxed);
                leaves.lock().unwrap().push(cx.waker().clone());
                Poll::<()>::Pending
            })
        };
        handle.spawn_pinned(0, second).detach();
        rests.wait();
        // Both are queued now, in this order.
        wakers.lock().unwrap().drain(..).for_each(Waker::wake);
        give_up.open();
        // Nobody is left, so the executor is closed by then.
        until(|| handle.is_shut_down());
        executor.shutdown();
        drops.assert_each_once();
    });
}
