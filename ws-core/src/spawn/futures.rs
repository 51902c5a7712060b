//! Adapters between [`Spawn`] and `futures::task::Spawn`, in both directions.
//!
//! The traits differ in three points. Each adapter says how it bridges them:
//!
//! | | [`Spawn`] | `futures::task::Spawn` |
//! |---|---|---|
//! | the future | by value | boxed, a `FutureObj` |
//! | a refusal | drops the future | drops the future and returns an error |
//! | parallelism | known | unknown |
//!
//! The adapters are types, not blanket impls: blanket impls in both directions would
//! overlap, and an executor may implement both traits itself.

use alloc::boxed::Box;
use core::num::NonZeroUsize;

use futures_task::{FutureObj, SpawnError};

use super::Spawn;

/// A `futures::task::Spawn` as a [`Spawn`].
///
/// Each future is boxed once, as the other trait demands. A refused spawn
/// (`SpawnError`) drops the future, as the [contract](Spawn#contract) allows. The
/// error says nothing else and is not reported.
///
/// ```
/// use std::cell::RefCell;
/// use futures_task::{Context, FutureObj, SpawnError, noop_waker_ref};
/// use ws_core::Spawn;
/// use ws_core::spawn::FromFutures;
///
/// /// An executor that knows the other trait only.
/// #[derive(Default)]
/// struct Other(RefCell<Vec<FutureObj<'static, ()>>>);
///
/// impl futures_task::Spawn for Other {
///     fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
///         self.0.borrow_mut().push(future);
///         Ok(())
///     }
/// }
///
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let executor = FromFutures::new(Other::default());
/// executor.spawn(async move { sender.send("ran").unwrap() });
///
/// let mut task = executor.get_ref().0.borrow_mut().pop().unwrap();
/// let mut cx = Context::from_waker(noop_waker_ref());
/// assert!(std::pin::Pin::new(&mut task).poll(&mut cx).is_ready());
/// assert_eq!(receiver.recv(), Ok("ran"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FromFutures<S> {
    spawner: S,
    parallelism: NonZeroUsize,
}

impl<S> FromFutures<S> {
    /// Wraps `spawner`, with a [`parallelism`](Spawn::parallelism) of 1.
    ///
    /// The example at [`FromFutures`] uses it.
    pub const fn new(spawner: S) -> Self {
        Self::with_parallelism(spawner, NonZeroUsize::MIN)
    }

    /// Wraps `spawner`, on which `parallelism` tasks can make progress at once.
    ///
    /// ```
    /// use std::num::NonZeroUsize;
    /// use futures_task::{FutureObj, SpawnError};
    /// use ws_core::Spawn;
    /// use ws_core::spawn::FromFutures;
    ///
    /// struct Closed;
    ///
    /// impl futures_task::Spawn for Closed {
    ///     fn spawn_obj(&self, _future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
    ///         Err(SpawnError::shutdown())
    ///     }
    /// }
    ///
    /// let workers = NonZeroUsize::new(8).unwrap();
    /// assert_eq!(FromFutures::with_parallelism(Closed, workers).parallelism(), 8);
    /// assert_eq!(FromFutures::new(Closed).parallelism(), 1);
    /// ```
    pub const fn with_parallelism(spawner: S, parallelism: NonZeroUsize) -> Self {
        Self {
            spawner,
            parallelism,
        }
    }

    /// The wrapped spawner.
    ///
    /// ```
    /// use ws_core::spawn::FromFutures;
    /// assert_eq!(FromFutures::new("a spawner").get_ref(), &"a spawner");
    /// ```
    pub const fn get_ref(&self) -> &S {
        &self.spawner
    }

    /// Gives the wrapped spawner back.
    ///
    /// ```
    /// use ws_core::spawn::FromFutures;
    /// assert_eq!(FromFutures::new("a spawner").into_inner(), "a spawner");
    /// ```
    pub fn into_inner(self) -> S {
        self.spawner
    }
}

impl<S: futures_task::Spawn> Spawn for FromFutures<S> {
    fn spawn<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let future = FutureObj::new(Box::new(future));
        // A refused future is dropped by now: `spawn_obj` took it, and the error
        // does not hold it. The drop tells the caller.
        let _refused: Result<(), SpawnError> = self.spawner.spawn_obj(future);
    }

    fn parallelism(&self) -> usize {
        self.parallelism.get()
    }
}

/// A [`Spawn`] as a `futures::task::Spawn`, and so with all methods of `SpawnExt`.
///
/// `spawn_obj` and `status` never fail, because a [`Spawn`] does not say whether it
/// has been shut down. After a shutdown, the [`Spawn`] drops the future. A handle of
/// `spawn_with_handle` then panics when it is awaited, as the handle of any task of
/// `futures` that is dropped early.
///
/// ```
/// use futures_task::{FutureObj, Spawn as _};
/// use ws_core::Spawn;
/// use ws_core::spawn::IntoFutures;
///
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
/// let (sender, receiver) = std::sync::mpsc::channel::<()>();
/// let task = FutureObj::new(Box::new(async move { drop(sender) }));
/// assert!(IntoFutures::new(Closed).spawn_obj(task).is_ok());
/// assert!(receiver.recv().is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct IntoFutures<S> {
    spawner: S,
}

impl<S> IntoFutures<S> {
    /// Wraps `spawner`; see the example at [`IntoFutures`].
    pub const fn new(spawner: S) -> Self {
        Self { spawner }
    }

    /// The wrapped spawner.
    ///
    /// ```
    /// use ws_core::spawn::IntoFutures;
    /// assert_eq!(IntoFutures::new("a spawner").get_ref(), &"a spawner");
    /// ```
    pub const fn get_ref(&self) -> &S {
        &self.spawner
    }

    /// Gives the wrapped spawner back.
    ///
    /// ```
    /// use ws_core::spawn::IntoFutures;
    /// assert_eq!(IntoFutures::new("a spawner").into_inner(), "a spawner");
    /// ```
    pub fn into_inner(self) -> S {
        self.spawner
    }
}

impl<S: Spawn> futures_task::Spawn for IntoFutures<S> {
    fn spawn_obj(&self, future: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        self.spawner.spawn(future);
        Ok(())
    }
}
