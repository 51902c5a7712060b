//! Foreign wakers that panic: whoever awaits a task leaves one with it, and it is cloned,
//! woken and dropped by workers.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use tests::child;
use tests::exec::{Gate, assert_alive, executor, until};
use ws_executor::{Executor, LocalExecutor};

/// Which function of the waker panics.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Clone,
    Wake,
    Drop,
}

const FAULTS: [Fault; 3] = [Fault::Clone, Fault::Wake, Fault::Drop];

/// How often wakers of this file panicked.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// How often they had when the scene began.
static BEFORE: AtomicUsize = AtomicUsize::new(0);

/// Returns when the waker of this scene has panicked.
fn await_panic() {
    until(|| PANICS.load(Ordering::SeqCst) > BEFORE.load(Ordering::SeqCst));
}

fn panic_here(what: &str) -> ! {
    PANICS.fetch_add(1, Ordering::SeqCst);
    panic!("a foreign waker panics in {what}");
}

static CLONE: RawWakerVTable = RawWakerVTable::new(|_| panic_here("clone"), |_| {}, |_| {}, |_| {});
static WAKE: RawWakerVTable = RawWakerVTable::new(
    |data| RawWaker::new(data, &WAKE),
    |_| panic_here("wake"),
    |_| panic_here("wake_by_ref"),
    |_| {},
);
static DROP: RawWakerVTable = RawWakerVTable::new(
    |data| RawWaker::new(data, &DROP),
    |_| panic_here("drop in wake"),
    |_| {},
    |_| panic_here("drop"),
);

/// What the data pointer of the waker is; it means nothing to it.
#[derive(Clone, Copy, Debug)]
enum Data {
    /// As that of wakers that have no data.
    Null,
    /// That of the waker of the task or `block_on` that is being polled: what a wrapper
    /// with functions of its own may have.
    Borrowed,
    Other,
}

const DATA: [Data; 3] = [Data::Null, Data::Borrowed, Data::Other];

/// Polls `future` once with a waker that panics. Whether the poll itself panics is the
/// poller's business.
fn poll_with_fault<F: Future + Unpin>(
    future: &mut F,
    fault: Fault,
    data: Data,
    cx: &Context<'_>,
) -> Option<Poll<F::Output>> {
    let vtable = match fault {
        Fault::Clone => &CLONE,
        Fault::Wake => &WAKE,
        Fault::Drop => &DROP,
    };
    let data = match data {
        Data::Null => ptr::null(),
        Data::Borrowed => cx.waker().data(),
        Data::Other => (&raw const PANICS).cast(),
    };
    // SAFETY: the functions may be called on any thread, and use no data.
    let waker = unsafe { Waker::from_raw(RawWaker::new(data, vtable)) };
    // Its own drop may panic as well.
    let waker = std::mem::ManuallyDrop::new(waker);
    let mut cx = Context::from_waker(&waker);
    catch_unwind(AssertUnwindSafe(|| Pin::new(future).poll(&mut cx))).ok()
}

/// Polls `future` twice with such a waker, so that the first is replaced; inside of
/// `block_on`, and outside of everything.
fn poll_everywhere<F: Future + Unpin>(future: &mut F, fault: Fault, data: Data) {
    let mut poll = |cx: &mut Context<'_>| {
        for _ in 0..2 {
            let polled = poll_with_fault(future, fault, data, cx);
            assert!(
                !matches!(polled, Some(Poll::Ready(_))),
                "it is not ready yet"
            );
        }
        Poll::Ready(())
    };
    ws_executor::block_on(std::future::poll_fn(&mut poll));
    let _ = poll(&mut Context::from_waker(Waker::noop()));
}

/// Plays `scene` for each way a waker may be bad; it has to be used in each.
fn for_each_fault(mut scene: impl FnMut(&Executor, Fault, Data)) {
    let executor = executor(2);
    for fault in FAULTS {
        for data in DATA {
            BEFORE.store(PANICS.load(Ordering::SeqCst), Ordering::SeqCst);
            scene(&executor, fault, data);
            await_panic();
            assert_alive(&executor);
        }
    }
}

#[test]
fn of_a_task() {
    child::survives("wakers::of_a_task", || {
        for_each_fault(|executor, fault, data| {
            let gate = Gate::new();
            let mut task = {
                let gate = gate.clone();
                executor.spawn(async move { gate.wait() })
            };
            poll_everywhere(&mut task, fault, data);
            gate.open();
            until(|| task.is_finished());
            executor.block_on(task);
        });
    });
}

#[test]
fn of_a_fallible_task_at_the_shutdown() {
    child::survives("wakers::of_a_fallible_task_at_the_shutdown", || {
        for_each_fault(|_, fault, data| {
            let executor = executor(1);
            let handle = executor.handle();
            let mut task = executor.spawn(std::future::pending::<()>()).fallible();
            poll_everywhere(&mut task, fault, data);
            executor.shutdown();
            assert_eq!(handle.block_on(task), None);
        });
    });
}

#[test]
fn of_a_cancellation() {
    child::survives("wakers::of_a_cancellation", || {
        for_each_fault(|executor, fault, data| {
            let (gate, inside) = (Gate::new(), Gate::new());
            let task = {
                let (gate, inside) = (gate.clone(), inside.clone());
                executor.spawn(async move {
                    inside.open();
                    gate.wait();
                    std::future::pending::<()>().await;
                })
            };
            inside.wait();
            // A panic of the clone inside of it would be its own end: it is polled once.
            let mut cancel = Box::pin(task.cancel());
            let polled = ws_executor::block_on(std::future::poll_fn(|cx| {
                Poll::Ready(poll_with_fault(&mut cancel, fault, data, cx))
            }));
            gate.open();
            // Before another waker replaces it.
            await_panic();
            match polled {
                Some(Poll::Pending) => assert_eq!(executor.block_on(cancel), None),
                Some(Poll::Ready(_)) => panic!("the poll is under way"),
                None => drop(cancel),
            }
        });
    });
}

#[test]
fn of_a_cancellation_outside_of_everything() {
    child::survives("wakers::of_a_cancellation_outside_of_everything", || {
        for_each_fault(|executor, fault, data| {
            let (gate, inside) = (Gate::new(), Gate::new());
            let task = {
                let (gate, inside) = (gate.clone(), inside.clone());
                executor.spawn(async move {
                    inside.open();
                    gate.wait();
                    std::future::pending::<()>().await;
                })
            };
            inside.wait();
            let mut cancel = Box::pin(task.fallible().cancel());
            let cx = Context::from_waker(Waker::noop());
            let _ = poll_with_fault(&mut cancel, fault, data, &cx);
            gate.open();
            drop(cancel);
        });
    });
}

#[test]
fn of_a_pinned_and_a_blocking_task() {
    child::survives("wakers::of_a_pinned_and_a_blocking_task", || {
        for_each_fault(|executor, fault, data| {
            let gate = Gate::new();
            let wait = || {
                let gate = gate.clone();
                move || gate.wait()
            };
            let (pinned, blocking) = (wait(), wait());
            let mut pinned = executor
                .handle()
                .spawn_pinned(1, || async move { pinned() });
            let mut blocking = executor.handle().spawn_blocking(blocking);
            poll_everywhere(&mut pinned, fault, data);
            poll_everywhere(&mut blocking, fault, data);
            gate.open();
            await_panic();
            executor.block_on(pinned);
            executor.block_on(blocking);
        });
    });
}

#[test]
fn of_a_task_of_a_scope() {
    child::survives("wakers::of_a_task_of_a_scope", || {
        for_each_fault(|executor, fault, data| {
            let gate = Gate::new();
            executor.scope(|scope| {
                let mut task = scope.spawn(async { gate.wait() });
                poll_everywhere(&mut task, fault, data);
                gate.open();
                executor.block_on(task);
                // And one that is dropped with the waker in it.
                let gate = Gate::new();
                let waits = {
                    let gate = gate.clone();
                    async move { gate.wait() }
                };
                let mut task = scope.spawn(waits);
                poll_everywhere(&mut task, fault, data);
                drop(task);
                gate.open();
            });
        });
    });
}

#[test]
fn of_a_local_task() {
    child::survives("wakers::of_a_local_task", || {
        for_each_fault(|_, fault, data| {
            let executor = LocalExecutor::new();
            let mut task = executor.spawn(async { 1 });
            poll_everywhere(&mut task, fault, data);
            assert!(executor.try_tick());
            assert_eq!(executor.block_on(task), 1);
            let mut task = executor.spawn(std::future::pending::<()>());
            poll_everywhere(&mut task, fault, data);
            drop(executor);
            assert_eq!(ws_executor::block_on(task.fallible()), None);
        });
    });
}

/// A task polls another one with a bad waker in its own poll, after a nested `block_on`.
#[test]
fn in_a_task() {
    child::survives("wakers::in_a_task", || {
        for_each_fault(|executor, fault, data| {
            let handle = executor.handle();
            let gate = Gate::new();
            let outer = {
                let gate = gate.clone();
                executor.spawn(async move {
                    handle.block_on(handle.spawn(async {}));
                    let inner = gate.clone();
                    let mut task = handle.spawn(async move { inner.wait() });
                    std::future::poll_fn(|cx| {
                        let polled = poll_with_fault(&mut task, fault, data, cx);
                        assert!(!matches!(polled, Some(Poll::Ready(()))));
                        Poll::Ready(())
                    })
                    .await;
                    gate.open();
                    await_panic();
                    task.await;
                })
            };
            executor.block_on(outer);
        });
    });
}
