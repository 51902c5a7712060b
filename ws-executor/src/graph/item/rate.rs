//! A bound on the number of calls in a time: `rate = "500/s"`.
//!
//! Each call gets a moment of its own, and sleeps until then. That moment is one interval after
//! the moment of the call before, or now if that has passed. So there are at most
//! `t / interval + 1` calls in any time `t`. A timer that wakes late does not delay later
//! calls, because their moments do not depend on it. This is the virtual scheduling algorithm
//! of the ATM Forum's *Traffic Management Specification 4.0* (1996) without a burst tolerance:
//! an idle time does not allow a burst afterwards.
//!
//! An item that is cancelled while it sleeps does not give its moment back.

use std::time::{Duration, Instant};

use ws_core::sync::Mutex;

use crate::graph::{Timer, lock};

/// The gate of a node with a rate.
#[derive(Debug)]
pub(in crate::graph) struct Rate {
    interval: Duration,
    /// The earliest moment of the next call.
    next: Mutex<Option<Instant>>,
}

impl Rate {
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            interval,
            next: Mutex::new(None),
        }
    }

    /// Waits for the moment of this call.
    pub(in crate::graph) async fn pass(&self, timer: &dyn Timer) {
        let wait = self.reserve(timer.now());
        if wait > Duration::ZERO {
            timer.sleep(wait).await;
        }
    }

    /// Reserves the moment of a call. Returns how far away it is.
    fn reserve(&self, now: Instant) -> Duration {
        let mut next = lock(&self.next);
        let at = next.map_or(now, |next| next.max(now));
        *next = at.checked_add(self.interval).or(Some(at));
        at - now
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;
    use std::time::{Duration, Instant};

    #[test]
    fn calls_are_an_interval_apart_whenever_they_come() {
        let (rate, start) = (Rate::new(Duration::from_millis(10)), Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        let waits = [0, 0, 3, 3, 100, 101].map(|now| rate.reserve(at(now)).as_millis());
        // At 0, 10, 20, 30; and after a pause at 100, 110.
        assert_eq!(waits, [0, 10, 17, 27, 0, 9]);
    }
}
