//! hyper's traits for spawning and for timers.
//!
//! hyper does not depend on a runtime. The program gives it an executor, a timer, and streams:
//!
//! | hyper's trait | with the feature `smol` | with the feature `tokio` |
//! |---|---|---|
//! | `rt::Executor` | [`Executor`] | [`Executor`] |
//! | `rt::Timer`, `rt::Sleep` | `SmolTimer` | `TokioTimer`, hyper-util's |
//! | `rt::Read`, `rt::Write` | `FuturesIo`, smol-hyper's | `TokioIo`, hyper-util's |
//!
//! What hyper spawns then runs on all workers. (hyper-util's `TokioExecutor` also works, but
//! it spawns on tokio's runtime; see [`tokio`](crate::tokio#what-runs-where).)

#[cfg(feature = "smol")]
mod smol_timer;

use ws_executor::Handle;

#[cfg(feature = "tokio")]
pub use hyper_util::rt::{TokioIo, TokioTimer};
#[cfg(feature = "smol")]
pub use smol_hyper::rt::FuturesIo;
#[cfg(feature = "smol")]
pub use smol_timer::SmolTimer;

/// Spawns the futures that hyper runs beside a connection, such as the streams of HTTP/2.
///
/// ```
/// use hyper::rt::Executor as _;
/// use ws_executor::Executor;
///
/// let executor = Executor::builder().workers(1).build()?;
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let spawner = ws_io_adapters::hyper::Executor::new(executor.handle());
/// spawner.execute(async move { sender.send(7) });
/// assert_eq!(receiver.recv(), Ok(7));
/// # Ok::<_, ws_executor::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Executor {
    handle: Handle,
}

impl Executor {
    /// Spawns on the executor of `handle`.
    #[must_use]
    pub fn new(handle: Handle) -> Self {
        Self { handle }
    }
}

impl<F> hyper::rt::Executor<F> for Executor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        self.handle.spawn(future).detach();
    }
}
