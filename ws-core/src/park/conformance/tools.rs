//! The tools that the rules use.

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use core::time::Duration;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::{Park, Unpark};

/// How long a call must block to be seen blocking. Parkers on clocks that tick
/// in milliseconds must be able to pass.
pub(super) const NAP: Duration = Duration::from_millis(2);

/// A call blocks in general if it blocks in `ENOUGH` rounds out of `ROUNDS`.
///
/// The contract allows early returns, and some rounds make two calls. If one call
/// in three returns early at random, a round blocks with a chance of 4/9, and a
/// correct parker fails once in 100,000 verdicts. A broken parker would pass if
/// scheduling noise made one round in six look blocked, which is not to be expected.
const ENOUGH: usize = 10;
const ROUNDS: usize = 60;

/// Judges over many rounds whether a call blocks. `round` returns whether it did.
pub(super) fn blocks_mostly(when: &str, mut round: impl FnMut() -> bool) {
    let blocked = (0..ROUNDS).filter(|_| round()).take(ENOUGH).count();
    assert!(
        blocked == ENOUGH,
        "{when} it should block, but did so in only {blocked} of {ROUNDS} rounds",
    );
}

/// Parks for a [`NAP`] and returns whether that blocked.
pub(super) fn naps(parker: &impl Park) -> bool {
    lasts_a_nap(|| parker.park_timeout(NAP))
}

/// Returns whether `call` took about a [`NAP`] or longer.
pub(super) fn lasts_a_nap(call: impl FnOnce()) -> bool {
    let start = Instant::now();
    call();
    start.elapsed() >= NAP / 2
}

/// Waits for `delay`: precisely if it is short.
pub(super) fn linger(delay: Duration) {
    if delay >= NAP {
        thread::sleep(delay);
        return;
    }
    let start = Instant::now();
    while start.elapsed() < delay {
        core::hint::spin_loop();
    }
}

/// Delays from zero to `longest` that cover the range evenly, in a scattered order.
pub(super) fn sweep(longest: Duration) -> impl Iterator<Item = Duration> {
    // Multiples of the golden ratio, modulo one: no two of them are close.
    const GOLDEN: u32 = 0x9E37_79B9;
    (1_u32..).map(move |n| longest.mul_f64(f64::from(n.wrapping_mul(GOLDEN)) / f64::from(u32::MAX)))
}

/// Joins a helper thread. If it panicked, the panic continues here.
pub(super) fn join<T>(helper: JoinHandle<T>) -> T {
    helper
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A thread that unparks on order: it waits, stores the number of the order, and
/// unparks.
pub(super) struct Alarm {
    orders: mpsc::Sender<Duration>,
    ordered: Cell<u32>,
    /// Relaxed on both sides, so that only the parker makes the number visible.
    rung: Arc<AtomicU32>,
}

impl Alarm {
    /// Makes an alarm for this sleeper. The drop of the alarm ends its thread.
    pub(super) fn new(unparker: impl Unpark) -> Self {
        let (orders, ordered) = mpsc::channel();
        let rung = Arc::new(AtomicU32::new(0));
        let ringing = Arc::clone(&rung);
        thread::spawn(move || {
            for (delay, number) in ordered.iter().zip(1..) {
                linger(delay);
                ringing.store(number, Relaxed);
                unparker.unpark();
            }
        });
        Self {
            orders,
            ordered: Cell::new(0),
            rung,
        }
    }

    /// Orders an `unpark` after `delay`.
    pub(super) fn set(&self, delay: Duration) {
        self.ordered.set(self.ordered.get() + 1);
        self.orders.send(delay).expect("unpark panicked");
    }

    /// Whether the last order is carried out, perhaps except its `unpark`.
    pub(super) fn has_rung(&self) -> bool {
        self.rung.load(Relaxed) == self.ordered.get()
    }

    /// Parks until the last order is carried out.
    pub(super) fn await_it(&self, parker: &impl Park) {
        while !self.has_rung() {
            parker.park();
            // A parker that never blocks must not starve the alarm.
            thread::yield_now();
        }
    }

    /// Sets the alarm a [`NAP`] ahead and returns whether `park` blocks until then.
    pub(super) fn is_awaited_by(&self, parker: &impl Park, park: impl FnOnce()) -> bool {
        self.set(NAP);
        if lasts_a_nap(park) {
            return true;
        }
        // The park returned early: wait for the alarm. Then take the token, in case the
        // alarm was seen before the token.
        self.await_it(parker);
        parker.unparker().unpark();
        parker.park();
        false
    }
}
