//! Exponential back-off: waiting a little longer each time.
//!
//! A thread that finds nothing to do and tries again at once costs the others:
//! each attempt pulls their cache lines away, and the processor it burns may be
//! the one they need. [`Backoff`] makes the pauses between attempts grow, in
//! three stages, each cheaper for others and slower to react than the one
//! before:
//!
//! 1. **spin**, 1, 2, 4 … 32 hints: the thread keeps its processor; about a
//!    microsecond in all;
//! 2. **yield**, a few times: any thread that is ready goes first; a system
//!    call, but no sleep;
//! 3. **sleep**, 1 µs, 2 µs, 4 µs … up to a cap: the processor is free.
//!
//! # What it costs, and when to park instead
//!
//! Nobody wakes a sleeper of this kind. It learns of work up to one cap too
//! late, and while there is none it still wakes up a thousand times a second
//! (at the default cap), which takes one or two hundredths of a processor.
//! [`Park`](crate::Park) has neither cost, and is the right way to wait
//! wherever the other side can be made to call
//! [`unpark`](crate::Unpark::unpark). `Backoff` is for the rest: a condition in
//! memory that somebody changes without telling, or a lost race that another
//! thread is about to finish.

use core::time::Duration;

use crate::sync::{hint, thread};

/// Stage 1 ends after this many rounds, the last of 2⁵ hints. A hint took 12 ns
/// on an x86-64 server and takes up to four times that on others, so the stage
/// lasts 1 to 3 µs: less than a sleep and its wake-up cost. Whether another
/// number is better was not measured.
const SPIN_ROUNDS: u32 = 6;

/// Stage 2 ends after this many further rounds, 0.2 µs each where nobody else is
/// ready. One would do on a machine with an idle core; a few give several ready
/// threads their turn. Whether another number is better was not measured.
const YIELD_ROUNDS: u32 = 4;

/// The first sleep. The system rounds it up: Linux adds its timer slack, 50 µs by
/// default, and 1 µs took 79 µs in all. The first sleeps all last about as long.
const FIRST_NAP: Duration = Duration::from_micros(1);

/// The longest sleep unless the caller chooses. Some 900 wake-ups a second then
/// took 2 % of one processor, on a virtual machine under Linux.
const DEFAULT_CAP: Duration = Duration::from_millis(1);

/// Pauses that grow from a few spins to sleeps, for callers that cannot park.
///
/// Call [`snooze`](Self::snooze) after each failed attempt and
/// [`reset`](Self::reset) after a successful one. A caller that has something
/// to block on should do so once [`is_sleeping`](Self::is_sleeping) is true,
/// and one whose partner can wake it should use [`Park`](crate::Park) from the
/// start: a back-off reacts late and never stops waking up.
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
    /// The cap is how late the caller may learn of what it waits for, but for
    /// the system's own delay. A cap of zero never sleeps: it goes on yielding.
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

    /// Pauses, for longer than the time before: spins, later yields, at last
    /// sleeps.
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

    /// Whether the next [`snooze`](Self::snooze) sleeps.
    ///
    /// This is the moment to block instead, for a caller that can: the short
    /// waits are used up, so the cost of blocking no longer matters.
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

    /// Chooses this pause and makes the next one longer.
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
    //! The sequence of pauses, without taking them; the pauses themselves are
    //! tested from outside, in the `tests` member.

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
