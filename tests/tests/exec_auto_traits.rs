//! Which public types are `Send`, `Sync` and `Unpin`: a promise like any other, and broken
//! by a private field as easily as by a public one.

use std::cell::Cell;
use std::future::{Ready, pending, ready};
use std::marker::PhantomPinned;
use std::rc::Rc;

use ws_executor::pipeline::{Pipeline, Report, RunError, Running, Watch};
use ws_executor::{
    AbortHandle, BuildError, Builder, DriverHandoff, Executor, FallibleTask, Handle, HostedWorker,
    JoinError, JoinHandle, LocalExecutor, Metrics, Scope, ScopedTask, Task, TryCurrentError,
    WorkerMetrics, YieldNow,
};

/// Whether a type implements a trait, as a value.
///
/// The inherent constant exists only where the bound holds, and comes before that of
/// the trait, which every type has.
macro_rules! implements {
    ($type:ty: $bound:path) => {{
        #[allow(dead_code)]
        trait No {
            const ANSWER: bool = false;
        }
        impl<T: ?Sized> No for T {}

        #[allow(dead_code)]
        struct Asked<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code)]
        impl<T: ?Sized + $bound> Asked<T> {
            const ANSWER: bool = true;
        }

        <Asked<$type>>::ANSWER
    }};
}

/// Checks the rows of a table: a type, and whether it is `Send`, `Sync`, `Unpin`.
macro_rules! check {
    ($($type:ty: $send:literal $sync:literal $unpin:literal;)*) => {$(
        assert_eq!(
            [implements!($type: Send), implements!($type: Sync), implements!($type: Unpin)],
            [$send, $sync, $unpin].map(|mark| mark == "yes"),
            "[Send, Sync, Unpin] of {}",
            stringify!($type),
        );
    )*};
}

/// `Send`, but not `Sync`.
type Unshared = Cell<u8>;

/// Neither.
type Local = Rc<u8>;

#[test]
fn the_table() {
    check! {
        //                              Send  Sync  Unpin
        Executor:                       "yes" "yes" "yes";
        Handle:                         "yes" "yes" "yes";
        Builder:                        "yes" "yes" "yes";
        BuildError:                     "yes" "yes" "yes";
        TryCurrentError:                "yes" "yes" "yes";
        Metrics:                        "yes" "yes" "yes";
        WorkerMetrics:                  "yes" "yes" "yes";
        DriverHandoff:                  "yes" "yes" "yes";
        YieldNow:                       "yes" "yes" "yes";
        // A handle can be sent if the output can; shared, it gives nothing away.
        Task<u8>:                       "yes" "yes" "yes";
        Task<Unshared>:                 "yes" "yes" "yes";
        Task<Local>:                    "no"  "yes" "yes";
        Task<PhantomPinned>:            "yes" "yes" "yes";
        FallibleTask<u8>:               "yes" "yes" "yes";
        FallibleTask<Unshared>:         "yes" "yes" "yes";
        FallibleTask<Local>:            "no"  "yes" "yes";
        FallibleTask<PhantomPinned>:    "yes" "yes" "yes";
        JoinHandle<u8>:                 "yes" "yes" "yes";
        JoinHandle<Unshared>:           "yes" "yes" "yes";
        JoinHandle<Local>:              "no"  "yes" "yes";
        JoinHandle<PhantomPinned>:      "yes" "yes" "yes";
        JoinError:                      "yes" "yes" "yes";
        AbortHandle:                    "yes" "yes" "yes";
        ScopedTask<'static, u8>:        "yes" "yes" "yes";
        ScopedTask<'static, Unshared>:  "yes" "yes" "yes";
        ScopedTask<'static, Local>:     "no"  "no"  "yes";
        ScopedTask<'static, PhantomPinned>: "yes" "yes" "yes";
        // Tasks of a scope spawn into it.
        Scope<'static, 'static>:        "yes" "yes" "yes";
        // Bound to their thread, where futures that are not `Send` live.
        LocalExecutor:                  "no"  "no"  "yes";
        HostedWorker:                   "no"  "no"  "yes";
        // Whatever the errors are; they are behind a lock.
        Pipeline<Unshared>:             "yes" "yes" "yes";
        Running<Unshared>:              "yes" "yes" "yes";
        Watch:                          "yes" "yes" "yes";
        Report:                         "yes" "yes" "yes";
        RunError<u8>:                   "yes" "yes" "yes";
        RunError<Unshared>:             "yes" "no"  "yes";
    }
}

/// The table would notice: these are known.
#[test]
fn the_question_is_answered_right() {
    check! {
        u8:             "yes" "yes" "yes";
        Unshared:       "yes" "no"  "yes";
        Local:          "no"  "no"  "yes";
        PhantomPinned:  "yes" "yes" "no";
        std::sync::MutexGuard<'static, u8>: "no" "yes" "yes";
    }
}

fn is_send<T: Send>(_: &T) {}
fn is_sync<T: Sync>(_: &T) {}

/// Types without a name: what asynchronous functions return.
#[test]
fn futures_without_a_name() {
    let executor = Executor::builder().workers(1).build().unwrap();
    let cancel = executor.spawn(pending::<Unshared>()).cancel();
    is_send(&cancel);
    is_sync(&cancel);
    let cancel = executor.spawn(pending::<Unshared>()).fallible().cancel();
    is_send(&cancel);
    is_sync(&cancel);
    let consume = ws_executor::coop::consume();
    is_send(&consume);
    is_sync(&consume);
    let waits = async {
        ws_executor::yield_now().await;
        ws_executor::coop::consume().await;
        executor.spawn(ready(1)).await
    };
    is_send(&waits);
}

/// A task's output has to be `Send`, not `Sync`; its future neither `Sync` nor `Unpin`.
#[test]
fn what_may_be_spawned() {
    let executor = Executor::builder().workers(1).build().unwrap();
    let unshared: Task<Unshared> = executor.spawn(async {
        let cell = Cell::new(1);
        let pinned = PhantomPinned;
        ws_executor::yield_now().await;
        let _ = pinned;
        cell
    });
    assert_eq!(executor.block_on(unshared).get(), 1);
    let local: Task<u8> = executor.handle().spawn_pinned(0, || async { *Rc::new(2) });
    assert_eq!(executor.block_on(local), 2);
    let locals = LocalExecutor::new();
    let local: Task<Local> = locals.spawn(async { Rc::new(3) });
    assert_eq!(*locals.block_on(local), 3);
    let at_once: Task<u8> = executor.spawn::<Ready<u8>>(ready(4));
    assert_eq!(executor.block_on(at_once), 4);
}

/// Handles and executors are used by reference from many threads.
#[test]
fn shared_by_reference() {
    let executor = Executor::builder().workers(1).build().unwrap();
    let handle = executor.handle();
    let sum: u32 = std::thread::scope(|threads| {
        let spawn = |number: u32| {
            let (executor, handle) = (&executor, &handle);
            threads.spawn(move || executor.block_on(handle.spawn(async move { number })))
        };
        let all = [1, 2, 3].map(spawn);
        all.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(sum, 6);
}
