//! Foreign code that misbehaves at the edges of a pipeline: sinks that never close, drops
//! that panic, sources that are slow. The run ends as it says, with all of it counted.

mod pipeline_support;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::executor::block_on;
use pipeline_support::{Numbers, assert_adds_up};
use tests::exec::until;
use tests::watchdog;
use ws_executor::graph::{Sleep, Timer};
use ws_executor::pipeline::{self, BoxError, Sink};

/// All sleeps are over at once.
struct NoTime;

impl Timer for NoTime {
    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(async {})
    }
}

/// A sink that never comes to the end of its closing.
struct Ajar(Arc<AtomicBool>);

impl Sink<u64> for Ajar {
    async fn push(&mut self, _: Vec<u64>) -> Result<(), BoxError> {
        Ok(())
    }

    async fn close(&mut self) -> Result<(), BoxError> {
        self.0.store(true, Ordering::SeqCst);
        pending().await
    }
}

#[test]
fn a_run_that_waits_for_its_sink_to_close_can_be_cancelled() {
    watchdog::guard("close", || {
        let executor = tests::exec::executor(2);
        for how in 0..3 {
            let closing = Arc::new(AtomicBool::new(false));
            let echo =
                pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, ()>(n) });
            let (numbers, acks) = Numbers::to(10);
            let running = echo
                .source(numbers)
                .sink(Ajar(closing.clone()))
                .timer(Arc::new(NoTime))
                .build()
                .unwrap()
                .start();
            let watch = running.watch();
            until(|| closing.load(Ordering::SeqCst));
            match how {
                0 => assert_eq!(block_on(running.cancel()).unwrap().done, 10),
                1 => assert_eq!(
                    block_on(running.drain(Duration::from_secs(1)))
                        .unwrap()
                        .done,
                    10
                ),
                _ => drop(running),
            }
            until(|| watch.is_over());
            assert_adds_up(&watch.report());
            assert_eq!(acks.len(), 10);
        }
    });
}
