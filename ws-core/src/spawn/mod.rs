//! Handing a future to any executor: the trait that makes an executor a plugin.
//!
//! A library that starts tasks takes `impl Spawn` and runs on the executor that the
//! program has. There are two traits, one for each kind of dispatch:
//!
//! | trait | dispatch | cost of a spawn | use |
//! |---|---|---|---|
//! | [`Spawn`] | static | the executor's own | generic code; executors implement it |
//! | [`DynSpawn`] | by vtable | one box more | an executor in a field, without a type parameter |
//!
//! [`DynSpawn`] need not be implemented by hand: every sized [`Spawn`] implements it.
//! `dyn DynSpawn` implements [`Spawn`] in turn, so generic code takes both. The method
//! names of the two traits differ, so both traits can be imported.
//!
//! With the feature `futures`, `FromFutures` and `IntoFutures` adapt
//! `futures::task::Spawn` in both directions.
//!
//! # The smallest executor
//!
//! ```
//! use std::future::Future;
//! use std::pin::Pin;
//! use std::sync::{Arc, Mutex};
//! use std::task::{Context, Waker};
//! use ws_core::{DynSpawn, Spawn};
//!
//! type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;
//!
//! /// Keeps tasks until `run` is called, which polls them until all are done.
//! #[derive(Default)]
//! struct Queue(Mutex<Vec<Boxed>>);
//!
//! impl Spawn for Queue {
//!     fn spawn<F>(&self, future: F)
//!     where
//!         F: Future<Output = ()> + Send + 'static,
//!     {
//!         self.0.lock().unwrap().push(Box::pin(future));
//!     }
//!
//!     fn parallelism(&self) -> usize {
//!         1
//!     }
//! }
//!
//! impl Queue {
//!     fn run(&self) {
//!         let mut cx = Context::from_waker(Waker::noop());
//!         loop {
//!             let mut tasks = std::mem::take(&mut *self.0.lock().unwrap());
//!             tasks.retain_mut(|task| task.as_mut().poll(&mut cx).is_pending());
//!             let mut queue = self.0.lock().unwrap();
//!             queue.append(&mut tasks);
//!             if queue.is_empty() {
//!                 return;
//!             }
//!         }
//!     }
//! }
//!
//! /// Code that knows no executor.
//! fn start(on: &impl Spawn, log: &Arc<Mutex<Vec<&'static str>>>, word: &'static str) {
//!     let log = log.clone();
//!     on.spawn(async move { log.lock().unwrap().push(word) });
//! }
//!
//! let log = Arc::default();
//! let queue = Arc::new(Queue::default());
//! start(&queue, &log, "static"); // `Arc<Queue>` is `Spawn`
//! let shared: Arc<dyn DynSpawn + Send + Sync> = queue.clone();
//! start(&shared, &log, "dyn"); // and so is `Arc<dyn DynSpawn>`
//! assert!(log.lock().unwrap().is_empty()); // `spawn` polls nothing itself
//!
//! queue.run();
//! assert_eq!(*log.lock().unwrap(), ["static", "dyn"]);
//! ```

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;
use core::any::Any;
use core::pin::Pin;

#[cfg(feature = "futures")]
mod futures;

#[cfg(feature = "futures")]
pub use self::futures::{FromFutures, IntoFutures};

/// An executor, as seen by code that starts tasks on it.
///
/// # Contract
///
/// An implementation of [`spawn`](Self::spawn):
/// - must return at once: it may allocate, lock a queue and notify a worker, but
///   must not wait for the task or for room in a queue;
/// - must not poll the future inside the call, so that a caller may hold locks
///   that the future takes;
/// - must either run the future to its end or drop it. It may drop a future that
///   it has never polled, inside the call or later. The usual reason is that the
///   executor has been shut down;
/// - must survive a panic of the future. The executor's own documentation says
///   what becomes of the panic.
///
/// No error is returned. If a caller must know how a task ended, the future must
/// tell it. A value inside the future is dropped with the future: if the future
/// holds the sender of a channel, the channel closes, and a guard's `Drop` runs.
///
/// ```
/// use std::future::Future;
/// use std::sync::mpsc;
/// use ws_core::Spawn;
///
/// /// An executor that has been shut down.
/// struct Closed;
///
/// impl Spawn for Closed {
///     fn spawn<F>(&self, future: F)
///     where
///         F: Future<Output = ()> + Send + 'static,
///     {
///         drop(future);
///     }
///
///     fn parallelism(&self) -> usize {
///         1
///     }
/// }
///
/// let (sender, receiver) = mpsc::channel();
/// Closed.spawn(async move { sender.send("done").unwrap() });
/// assert!(receiver.recv().is_err()); // closed, not stuck
/// ```
pub trait Spawn {
    /// Starts `future` as a task of its own and returns at once.
    ///
    /// The future is taken by value and is not boxed on the way, so the executor
    /// chooses where the future is stored. The [contract](Self#contract) says what
    /// the executor must do with the future.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use ws_core::Spawn;
    ///
    /// # struct Threads;
    /// # impl Spawn for Threads {
    /// #     fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
    /// #         let mut future = Box::pin(future);
    /// #         std::thread::spawn(move || {
    /// #             let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    /// #             while future.as_mut().poll(&mut cx).is_pending() {}
    /// #         });
    /// #     }
    /// #     fn parallelism(&self) -> usize {
    /// #         8
    /// #     }
    /// # }
    /// fn squares(on: &impl Spawn, numbers: [u32; 3]) -> mpsc::Receiver<u32> {
    ///     let (sender, receiver) = mpsc::channel();
    ///     for n in numbers {
    ///         let sender = sender.clone();
    ///         on.spawn(async move { sender.send(n * n).unwrap() });
    ///     }
    ///     receiver
    /// }
    ///
    /// let executor = Threads; // any executor
    /// assert_eq!(squares(&executor, [1, 2, 3]).iter().sum::<u32>(), 14);
    /// ```
    fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static;

    /// Returns how many tasks can make progress at once; at least 1.
    ///
    /// The number is a hint for the number of pieces to cut work into. It is usually
    /// the number of workers, and may differ from one call to the next.
    ///
    /// ```
    /// use ws_core::Spawn;
    ///
    /// # struct Eight;
    /// # impl Spawn for Eight {
    /// #     fn spawn<F: Future<Output = ()> + Send + 'static>(&self, _: F) {}
    /// #     fn parallelism(&self) -> usize { 8 }
    /// # }
    /// fn pieces(on: &impl Spawn, items: usize) -> usize {
    ///     items.min(4 * on.parallelism())
    /// }
    ///
    /// let executor = Eight; // an executor with eight workers
    /// assert_eq!(pieces(&executor, 1000), 32);
    /// assert_eq!(pieces(&executor, 10), 10);
    /// ```
    fn parallelism(&self) -> usize;
}

/// [`Spawn`] for trait objects: `&dyn DynSpawn`, `Arc<dyn DynSpawn + Send + Sync>`.
///
/// Every sized [`Spawn`] implements it, and `dyn DynSpawn` implements
/// [`Spawn`], with one box per task.
///
/// ```
/// use std::sync::mpsc::{self, Receiver};
/// use ws_core::{DynSpawn, Spawn};
///
/// # struct Threads;
/// # impl Spawn for Threads {
/// #     fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
/// #         let mut future = Box::pin(future);
/// #         std::thread::spawn(move || {
/// #             let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
/// #             while future.as_mut().poll(&mut cx).is_pending() {}
/// #         });
/// #     }
/// #     fn parallelism(&self) -> usize {
/// #         8
/// #     }
/// # }
/// struct Service {
///     executor: Box<dyn DynSpawn + Send + Sync>,
/// }
///
/// impl Service {
///     fn double(&self, n: u32) -> Receiver<u32> {
///         let (sender, receiver) = mpsc::channel();
///         self.executor.spawn(async move { sender.send(2 * n).unwrap() });
///         receiver
///     }
/// }
///
/// let executor = Threads; // any executor
/// let service = Service { executor: Box::new(executor) };
/// assert_eq!(service.double(21).recv(), Ok(42));
/// ```
pub trait DynSpawn {
    /// [`Spawn::spawn`] for a future that is already boxed.
    ///
    /// The future is not boxed again on the way. Nor is a future of this type that
    /// is passed to [`Spawn::spawn`].
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use ws_core::DynSpawn;
    ///
    /// # use ws_core::Spawn;
    /// # struct Threads;
    /// # impl Spawn for Threads {
    /// #     fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
    /// #         let mut future = Box::pin(future);
    /// #         std::thread::spawn(move || {
    /// #             let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    /// #             while future.as_mut().poll(&mut cx).is_pending() {}
    /// #         });
    /// #     }
    /// #     fn parallelism(&self) -> usize {
    /// #         8
    /// #     }
    /// # }
    /// let executor: &dyn DynSpawn = &Threads; // any executor
    /// let (sender, receiver) = mpsc::channel();
    /// executor.spawn_boxed(Box::pin(async move { sender.send(1).unwrap() }));
    /// assert_eq!(receiver.recv(), Ok(1));
    /// ```
    fn spawn_boxed(&self, future: Pin<Box<dyn Future<Output = ()> + Send + 'static>>);

    /// [`Spawn::parallelism`] under a name of its own.
    ///
    /// ```
    /// use ws_core::{DynSpawn, Spawn};
    ///
    /// # struct Eight;
    /// # impl Spawn for Eight {
    /// #     fn spawn<F: Future<Output = ()> + Send + 'static>(&self, _: F) {}
    /// #     fn parallelism(&self) -> usize { 8 }
    /// # }
    /// let executor: &dyn DynSpawn = &Eight; // an executor with eight workers
    /// assert_eq!(executor.dyn_parallelism(), 8);
    /// assert_eq!(executor.parallelism(), 8); // by `Spawn`, the same
    /// ```
    fn dyn_parallelism(&self) -> usize;
}

/// The future that [`DynSpawn::spawn_boxed`] takes.
type Boxed = Pin<Box<dyn Future<Output = ()> + Send + 'static>>;

// `S` is sized, so this impl does not cover `dyn DynSpawn`, which implements
// `DynSpawn` as its trait object.
impl<S: Spawn> DynSpawn for S {
    fn spawn_boxed(&self, future: Boxed) {
        self.spawn(future);
    }

    fn dyn_parallelism(&self) -> usize {
        self.parallelism()
    }
}

/// Boxes `future`, unless `future` is such a box already.
///
/// `spawn_boxed` on an `Arc<dyn DynSpawn>` is the method of the `Arc`. It spawns the
/// box on the `dyn DynSpawn` like any other future. Without this function, the box
/// would be put into a second box there. The type is known at compile time, so the
/// branch is, too.
fn box_once<F>(future: F) -> Boxed
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut future = Some(future);
    let any: &mut dyn Any = &mut future;
    any.downcast_mut::<Option<Boxed>>()
        .and_then(Option::take)
        .or_else(|| Some(Box::pin(future?)))
        .expect("the future is there until one branch takes it")
}

/// Implements [`Spawn`] for trait objects. Each set of auto traits makes a type of
/// its own, which needs an impl of its own.
macro_rules! spawn_for_dyn {
    ($($object:ty),+ $(,)?) => {$(
        impl Spawn for $object {
            fn spawn<F>(&self, future: F)
            where
                F: Future<Output = ()> + Send + 'static,
            {
                self.spawn_boxed(box_once(future));
            }

            fn parallelism(&self) -> usize {
                self.dyn_parallelism()
            }
        }
    )+};
}

spawn_for_dyn!(
    dyn DynSpawn + '_,
    dyn DynSpawn + Send + '_,
    dyn DynSpawn + Sync + '_,
    dyn DynSpawn + Send + Sync + '_,
);

/// Implements [`Spawn`] for a pointer to a [`Spawn`], at no cost.
macro_rules! spawn_for_pointer {
    ($($pointer:ty),+ $(,)?) => {$(
        impl<T: Spawn + ?Sized> Spawn for $pointer {
            #[inline]
            fn spawn<F>(&self, future: F)
            where
                F: Future<Output = ()> + Send + 'static,
            {
                T::spawn(self, future);
            }

            #[inline]
            fn parallelism(&self) -> usize {
                T::parallelism(self)
            }
        }
    )+};
}

spawn_for_pointer!(&T, Box<T>, Rc<T>, Arc<T>);
