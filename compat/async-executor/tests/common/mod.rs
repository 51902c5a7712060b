//! What the tests share.

use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

/// Ends the process if a test takes two minutes: it hangs then.
#[allow(dead_code, reason = "not every test file uses it")]
pub(crate) struct Watchdog(Arc<AtomicBool>);

#[allow(dead_code, reason = "not every test file uses it")]
impl Watchdog {
    pub(crate) fn new(name: &'static str) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&done);
        thread::spawn(move || {
            for _ in 0..1_200 {
                thread::sleep(Duration::from_millis(100));
                if seen.load(Ordering::Relaxed) {
                    return;
                }
            }
            // Not by `eprintln!`, which the harness keeps until the test ends.
            let _ = writeln!(io::stderr(), "{name} hangs");
            std::process::abort();
        });
        Self(done)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Counts how often it is dropped.
#[derive(Clone, Default)]
#[allow(dead_code, reason = "not every test file uses it")]
pub(crate) struct Drops(Arc<AtomicUsize>);

#[allow(dead_code, reason = "not every test file uses it")]
impl Drops {
    /// A value that is counted when it is dropped.
    pub(crate) fn guard(&self) -> impl Send + Sync + use<> {
        Guard(Arc::clone(&self.0))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A place for the waker of a task that waits for ever.
#[derive(Clone, Default)]
#[allow(dead_code, reason = "not every test file uses it")]
pub(crate) struct WakerPlace(Arc<Mutex<Option<Waker>>>);

#[allow(dead_code, reason = "not every test file uses it")]
impl WakerPlace {
    /// Waits for ever, and leaves its waker here.
    pub(crate) async fn wait(self) {
        poll_fn(move |cx| {
            *self.0.lock().unwrap() = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    pub(crate) fn get(&self) -> Option<Waker> {
        self.0.lock().unwrap().clone()
    }
}

/// A waker that counts.
#[derive(Default)]
#[allow(dead_code, reason = "not every test file uses it")]
pub(crate) struct CountWakes(AtomicUsize);

impl Wake for CountWakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[allow(dead_code, reason = "not every test file uses it")]
impl CountWakes {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Polls once.
#[allow(dead_code, reason = "not every test file uses it")]
pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}
