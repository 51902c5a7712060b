//! The control of a pipeline: start, watch, pause, drain, cancel.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::report::{Progress, Report};
use super::shared::PipelineShared;
use super::{PerItem, RunError};
use crate::graph::Sleep;

/// A pipeline that is ready to start.
///
/// See the example at [`Builder`](super::Builder).
#[must_use = "a pipeline runs when it is started"]
pub struct Pipeline<E> {
    control: Arc<dyn Control<E>>,
}

impl<E> fmt::Debug for Pipeline<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pipeline")
    }
}

impl<E> Pipeline<E> {
    pub(super) fn new<P: PerItem<Error = E>>(shared: Arc<PipelineShared<P>>) -> Self {
        Self { control: shared }
    }

    /// Starts the lanes.
    ///
    /// They run even if the result is not polled. Dropping it cancels the run.
    ///
    /// ```
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let running = echo.iter(0..3).build().unwrap().start();
    /// assert_eq!(executor.block_on(running).unwrap().done, 3);
    /// ```
    pub fn start(self) -> Running<E> {
        self.control.start();
        Running {
            control: self.control,
        }
    }

    /// Starts the pipeline and waits for its end. Dropping the future cancels the run.
    ///
    /// See the example at [`Builder`](super::Builder).
    ///
    /// # Errors
    /// If the run ended before its source did; see [`Cause`](super::Cause).
    pub async fn run(self) -> Result<Report, RunError<E>> {
        self.start().await
    }
}

/// A pipeline that runs: a future of its report. Dropping it cancels the run.
///
/// See the example at [`Pipeline::start`]. It panics if it is polled after it was ready.
///
/// A cancelled run is over when its lanes have been polled once more. The report of
/// [`cancel`](Self::cancel) says how many items were cut off. After a drop, a [`Watch`] says
/// so.
#[must_use = "dropping it cancels the run"]
pub struct Running<E> {
    control: Arc<dyn Control<E>>,
}

impl<E> fmt::Debug for Running<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Running").field(&self.progress()).finish()
    }
}

impl<E> Running<E> {
    /// Returns the progress of the run.
    ///
    /// ```
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let running = echo.iter(0..1000).build().unwrap().start();
    /// let now = running.progress();
    /// assert_eq!(now.items, now.done + now.in_flight);
    /// assert_eq!(executor.block_on(running).unwrap().done, 1000);
    /// ```
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.control.progress()
    }

    /// Returns a handle to watch the run from elsewhere, even after its end.
    ///
    /// ```
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let stuck = pipeline::from_fn(&executor.handle(), |_: u32| std::future::pending::<Result<(), ()>>());
    /// let running = stuck.iter(0..).in_flight(10).build().unwrap().start();
    /// let watch = running.watch();
    /// while watch.progress().in_flight < 10 {
    ///     std::thread::yield_now();
    /// }
    /// drop(running);
    /// while !watch.is_over() {
    ///     std::thread::yield_now();
    /// }
    /// assert_eq!(watch.progress().cancelled, 10);
    /// ```
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.control.clone().watch()
    }

    /// Starts no further items until [`resume`](Self::resume). Items that have begun continue.
    ///
    /// ```
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let running = echo.iter(0..1000).build().unwrap().start();
    /// running.pause();
    /// running.resume();
    /// assert_eq!(executor.block_on(running).unwrap().done, 1000);
    /// ```
    pub fn pause(&self) {
        self.control.pause();
    }

    /// Ends a [`pause`](Self::pause); see the example there.
    pub fn resume(&self) {
        self.control.unpause();
    }

    /// Pulls no further items and finishes those in flight. Cancels the rest when `timeout` has
    /// passed.
    ///
    /// ```
    /// use std::time::Duration;
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let endless = echo.iter(0..).build().unwrap().start();
    /// let report = executor.block_on(endless.drain(Duration::from_secs(60))).unwrap();
    /// assert_eq!((report.done, report.cancelled), (report.items, 0));
    /// ```
    ///
    /// # Errors
    /// As [`Pipeline::run`].
    pub async fn drain(mut self, timeout: Duration) -> Result<Report, RunError<E>> {
        self.control.drain();
        let mut sleep = Some(self.control.sleep(timeout));
        std::future::poll_fn(|cx| {
            if let Poll::Ready(outcome) = Pin::new(&mut self).poll(cx) {
                return Poll::Ready(outcome);
            }
            let late = |sleep: &mut Sleep| sleep.as_mut().poll(cx).is_ready();
            if sleep.as_mut().is_some_and(late) {
                sleep = None;
                self.control.cancel();
            }
            Poll::Pending
        })
        .await
    }

    /// Cancels the items in flight, and waits until all of them are dropped.
    ///
    /// ```
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let endless = echo.iter(0..).build().unwrap().start();
    /// let report = executor.block_on(endless.cancel()).unwrap();
    /// assert_eq!(report.items, report.done + report.cancelled);
    /// ```
    ///
    /// # Errors
    /// As [`Pipeline::run`], if the run has ended for another cause before.
    pub async fn cancel(self) -> Result<Report, RunError<E>> {
        self.control.cancel();
        self.await
    }
}

impl<E> Future for Running<E> {
    type Output = Result<Report, RunError<E>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.control.poll_outcome(cx)
    }
}

impl<E> Drop for Running<E> {
    fn drop(&mut self) {
        self.control.cancel();
    }
}

/// A look at a run, from any thread, also when it is over; see [`Running::watch`].
#[derive(Clone)]
pub struct Watch(Arc<dyn Look>);

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.progress()).finish()
    }
}

impl Watch {
    /// Returns the progress of the run; see the example at [`Running::watch`].
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.0.progress()
    }

    /// Whether the run is over: all of it is dropped, and its report is final.
    ///
    /// ```
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let running = echo.iter(0..5).build().unwrap().start();
    /// let watch = running.watch();
    /// executor.block_on(running).unwrap();
    /// assert!(watch.is_over());
    /// ```
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// The report up to now.
    ///
    /// ```
    /// use ws_executor::{Executor, pipeline};
    ///
    /// let executor = Executor::new();
    /// let echo = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n) });
    /// let running = echo.iter(0..5).build().unwrap().start();
    /// let watch = running.watch();
    /// let last = executor.block_on(running).unwrap();
    /// assert_eq!(watch.report(), last);
    /// ```
    #[must_use]
    pub fn report(&self) -> Report {
        self.0.report()
    }
}

trait Look: Send + Sync {
    fn progress(&self) -> Progress;
    fn is_over(&self) -> bool;
    fn report(&self) -> Report;
}

impl<P: PerItem> Look for PipelineShared<P> {
    fn progress(&self) -> Progress {
        Self::progress(self)
    }

    fn is_over(&self) -> bool {
        Self::is_over(self)
    }

    fn report(&self) -> Report {
        Self::report(self)
    }
}

/// [`PipelineShared`] without the type of what is run for each item.
trait Control<E>: Look {
    fn start(&self);
    fn pause(&self);
    fn unpause(&self);
    fn drain(&self);
    fn cancel(&self);
    fn sleep(&self, duration: Duration) -> Sleep;
    fn poll_outcome(&self, cx: &mut Context<'_>) -> Poll<Result<Report, RunError<E>>>;
    fn watch(self: Arc<Self>) -> Watch;
}

impl<P: PerItem> Control<P::Error> for PipelineShared<P> {
    fn start(&self) {
        Self::start(self);
    }

    fn pause(&self) {
        Self::pause(self);
    }

    fn unpause(&self) {
        Self::unpause(self);
    }

    fn drain(&self) {
        Self::drain(self);
    }

    fn cancel(&self) {
        Self::cancel(self);
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.settings.timer.sleep(duration)
    }

    fn poll_outcome(&self, cx: &mut Context<'_>) -> Poll<Result<Report, RunError<P::Error>>> {
        Self::poll_outcome(self, cx)
    }

    fn watch(self: Arc<Self>) -> Watch {
        Watch(self)
    }
}
