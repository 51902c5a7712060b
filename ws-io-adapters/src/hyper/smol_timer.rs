//! hyper's timers on async-io.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

/// hyper's timer on async-io.
///
/// ```
/// use hyper::rt::Timer;
/// use std::time::{Duration, Instant};
/// use ws_executor::Executor;
///
/// let executor = ws_io_adapters::smol::executor(Executor::builder().workers(1))?;
/// let begun = Instant::now();
/// let mut sleep = ws_io_adapters::hyper::SmolTimer.sleep(Duration::from_secs(3600));
/// ws_io_adapters::hyper::SmolTimer.reset(&mut sleep, begun + Duration::from_millis(2));
/// executor.block_on(sleep);
/// assert!(begun.elapsed() >= Duration::from_millis(2));
/// # Ok::<_, ws_executor::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SmolTimer;

impl Timer for SmolTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Until(async_io::Timer::after(duration)))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Until(async_io::Timer::at(deadline)))
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        // A timer that this type made is set to the new deadline, without an allocation.
        match sleep.as_mut().downcast_mut_pin::<Until>() {
            Some(until) => until.get_mut().0.set_at(deadline),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

struct Until(async_io::Timer);

impl Future for Until {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.get_mut().0).poll(cx).map(drop)
    }
}

impl Sleep for Until {}
