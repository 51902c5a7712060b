//! Exponential back-off: waiting a little longer each time.
//!
//! A thread that finds nothing to do and tries again at once slows the other threads
//! down. Each attempt takes cache lines away from them, and the thread may keep the
//! processor that they need. [`Backoff`] makes the pauses between attempts grow, in
//! three stages. Each stage is cheaper for other threads than the stage before, and
//! slower to react:
//!
//! 1. **spin**, 1, 2, 4 … 32 hints: the thread keeps its processor; about a
//!    microsecond in all;
//! 2. **yield**, a few times: any thread that is ready goes first; a system
//!    call, but no sleep;
//! 3. **sleep**, 1 µs, 2 µs, 4 µs … up to a cap: the processor is free.
//!
//! # What it costs, and when to park instead
//!
//! No thread wakes a thread that sleeps here. The sleeper learns of work up to one
//! cap too late. While there is no work, the sleeper still wakes up a thousand times
//! a second (at the default cap), which takes one or two hundredths of a processor.
//! [`Park`](crate::Park) has neither cost. It is the right way to wait if the other
//! side can call [`unpark`](crate::Unpark::unpark). `Backoff` is for the other cases:
//! a condition in memory that another thread changes without a notification, or a
//! lost race that another thread is about to finish.

use core::time::Duration;

use crate::sync::{hint, thread};

/// Stage 1 ends after this many rounds; the last round has 2⁵ hints. A hint took 12 ns
/// on an x86-64 server and takes up to four times that on others, so the stage
/// lasts 1 to 3 µs. That is less than a sleep and its wake-up cost. Whether another
/// number is better was not measured.
const SPIN_ROUNDS: u32 = 6;

/// Stage 2 ends after this many further rounds. A round takes 0.2 µs if no other thread
/// is ready. One round would be enough on a machine with an idle core. With a few
/// rounds, several ready threads have their turn. Whether another number is better was
/// not measured.
const YIELD_ROUNDS: u32 = 4;

/// The first sleep. The system rounds it up: Linux adds its timer slack, 50 µs by
/// default, and 1 µs took 79 µs in all. So the first sleeps all last about as long.
const FIRST_NAP: Duration = Duration::from_micros(1);

/// The longest sleep unless the caller chooses another. With this cap, some 900 wake-ups
/// a second took 2 % of one processor, on a virtual machine under Linux.
const DEFAULT_CAP: Duration = Duration::from_millis(1);

/// Pauses that grow from a few spins to sleeps, for callers that cannot park.
///
/// Call [`snooze`](Self::snooze) after each failed attempt and
/// [`reset`](Self::reset) after a successful one. A caller that can block should
/// block as soon as [`is_sleeping`](Self::is_sleeping) is true. A caller that another
/// thread can unpark should use [`Park`](crate::Park) from the start: a back-off
/// reacts late and never stops waking up.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use ws_core::Backoff;
///
/// let ready = AtomicBool::new(false);
/// std::thread::scope(|scope| {
///     scope.spawn(|| ready.store(true, Ordering::Release));
///
///     let mut backoff = Backoff::new();
///     while !ready.load(Ordering::Acquire) {
///         backoff.snooze();
///     }
/// });
/// assert!(ready.into_inner());
/// ```
#[derive(Clone, Debug)]
pub struct Backoff {
    /// Rounds of the first two stages taken so far.
    round: u32,
    /// The next sleep.
    nap: Duration,
    cap: Duration,
}

/// What one call of [`Backoff::snooze`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Spin(u32),
    Yield,
    Sleep(Duration),
}

impl Backoff {
    /// Creates a back-off whose sleeps grow to 1 ms.
    ///
    /// ```
    /// assert!(!ws_core::Backoff::new().is_sleeping());
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self::with_cap(DEFAULT_CAP)
    }

    /// Creates a back-off whose sleeps grow to `cap`.
    ///
    /// The cap is the longest delay before the caller learns of what it waits for; the
    /// system adds its own delay. With a cap of zero the caller never sleeps: it
    /// continues to yield.
    ///
    /// ```
    /// use std::time::Duration;
    /// use ws_core::Backoff;
    ///
    /// let mut yielding = Backoff::with_cap(Duration::ZERO);
    /// for _ in 0..100 {
    ///     yielding.snooze();
    /// }
    /// assert!(!yielding.is_sleeping());
    /// ```
    #[must_use]
    pub const fn with_cap(cap: Duration) -> Self {
        Self {
            round: 0,
            nap: FIRST_NAP,
            cap,
        }
    }

    /// Pauses, for longer than the last time: first spins, then yields, then sleeps.
    ///
    /// ```
    /// use ws_core::Backoff;
    ///
    /// let mut attempts = 0;
    /// let mut backoff = Backoff::new();
    /// let found = loop {
    ///     attempts += 1;
    ///     if attempts == 3 {
    ///         break "work";
    ///     }
    ///     backoff.snooze();
    /// };
    /// assert_eq!(found, "work");
    /// ```
    pub fn snooze(&mut self) {
        match self.advance() {
            Pause::Spin(hints) => (0..hints).for_each(|_| hint::spin_loop()),
            Pause::Yield => thread::yield_now(),
            Pause::Sleep(nap) => imp::sleep(nap),
        }
    }

    /// Goes back to the first, shortest pause.
    ///
    /// ```
    /// use ws_core::Backoff;
    ///
    /// let mut backoff = Backoff::new();
    /// while !backoff.is_sleeping() {
    ///     backoff.snooze();
    /// }
    /// backoff.reset();
    /// assert!(!backoff.is_sleeping());
    /// ```
    pub const fn reset(&mut self) {
        *self = Self::with_cap(self.cap);
    }

    /// Returns whether the next [`snooze`](Self::snooze) sleeps.
    ///
    /// At this moment a caller that can block should block instead: the short waits
    /// are over, so the cost of blocking no longer matters.
    ///
    /// ```
    /// use ws_core::Backoff;
    ///
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// std::thread::spawn(move || sender.send(7).unwrap());
    ///
    /// let mut backoff = Backoff::new();
    /// let seven = loop {
    ///     match receiver.try_recv() {
    ///         Ok(seven) => break seven,
    ///         Err(_) if backoff.is_sleeping() => break receiver.recv().unwrap(),
    ///         Err(_) => backoff.snooze(),
    ///     }
    /// };
    /// assert_eq!(seven, 7);
    /// ```
    #[must_use]
    pub const fn is_sleeping(&self) -> bool {
        self.round == SPIN_ROUNDS + YIELD_ROUNDS && !self.cap.is_zero()
    }

    /// Chooses this pause and makes the next pause longer.
    fn advance(&mut self) -> Pause {
        if self.is_sleeping() {
            let nap = self.nap.min(self.cap);
            self.nap = nap.saturating_mul(2);
            return Pause::Sleep(nap);
        }
        let round = self.round;
        self.round = (round + 1).min(SPIN_ROUNDS + YIELD_ROUNDS);
        match round {
            0..SPIN_ROUNDS => Pause::Spin(1 << round),
            _ => Pause::Yield,
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(not(any(ws_loom, ws_shuttle)))]
mod imp {
    pub(super) use std::thread::sleep;
}

/// A model has no clock: a sleep is a yield.
#[cfg(any(ws_loom, ws_shuttle))]
mod imp {
    pub(super) fn sleep(_nap: core::time::Duration) {
        crate::sync::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    //! The sequence of pauses, which these tests do not take. The pauses themselves
    //! are tested from outside, in the `tests` member.

    use alloc::vec::Vec;

    use super::*;

    fn pauses(backoff: &mut Backoff, count: usize) -> Vec<Pause> {
        (0..count).map(|_| backoff.advance()).collect()
    }

    fn micros(pauses: &[Pause]) -> Vec<u128> {
        let nap = |pause: &Pause| match pause {
            Pause::Sleep(nap) => nap.as_micros(),
            other => panic!("expected a sleep, got {other:?}"),
        };
        pauses.iter().map(nap).collect()
    }

    #[test]
    fn pauses_double_from_spins_through_yields_to_sleeps() {
        let mut backoff = Backoff::new();
        let short = [1, 2, 4, 8, 16, 32].map(Pause::Spin);
        assert_eq!(pauses(&mut backoff, 6), short);
        assert_eq!(pauses(&mut backoff, 4), [Pause::Yield; 4]);
        assert_eq!(
            micros(&pauses(&mut backoff, 12)),
            [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000],
        );
        backoff.reset();
        assert_eq!(pauses(&mut backoff, 6), short);
    }

    #[test]
    fn a_cap_is_kept_and_survives_a_reset() {
        let mut backoff = Backoff::with_cap(Duration::from_micros(5));
        for _ in 0..2 {
            pauses(&mut backoff, 10);
            assert_eq!(micros(&pauses(&mut backoff, 5)), [1, 2, 4, 5, 5]);
            backoff.reset();
        }
    }

    #[test]
    fn extreme_caps_work() {
        let mut never = Backoff::with_cap(Duration::ZERO);
        assert_eq!(pauses(&mut never, 100)[6..], [Pause::Yield; 94]);

        let tiny = Duration::from_nanos(1);
        let mut short = Backoff::with_cap(tiny);
        assert_eq!(pauses(&mut short, 12)[10..], [Pause::Sleep(tiny); 2]);

        let mut endless = Backoff::with_cap(Duration::MAX);
        assert_eq!(pauses(&mut endless, 200)[199], Pause::Sleep(Duration::MAX));
    }
}
