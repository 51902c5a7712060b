//! The sentinel: a parked worker that looks up now and then.
//!
//! # The problem
//!
//! The task in a worker's LIFO slot is about to be run by that worker, so nobody is
//! notified of it: a wake-up for each such push is what made another runtime give
//! up stealable slots. Nor is anybody notified of a few short tasks in its ring: to run
//! them elsewhere would take longer than to wait for them (`worker/share.rs`). But the
//! poll that pushed them may block, or compute for a second, while other workers sleep;
//! and few short tasks may be followed by more, for ever. The same holds for a driver
//! whose worker has left it for a poll that does not end: nobody sees what the reactor
//! has to say.
//!
//! # The idea
//!
//! One parked worker has a duty: it parks with a timeout of one
//! [`PERIOD`](crate::tuning::PERIOD), and each time looks whether a worker was stuck, or
//! had a backlog, or the driver was left alone, during a whole period; then it helps.
//! While nothing of the kind is there to watch, its looks are further apart
//! ([`CALM_PERIOD`](crate::tuning::CALM_PERIOD)). After some looks without any activity it
//! gives the duty up and sleeps without a timeout. So a stream of messages with short pauses
//! costs one notification, and silence costs nothing.
//!
//! ```text
//!            a quiet push, someone is parked             a parked worker takes it
//!   nobody ──────────────────────────────────► wanted ────────────────────► held
//!      ▲  │   a parking worker sees something queued      ▲                   │ │
//!      │  └───────────────────────────────────────────────┼──────────► held   │ │
//!      │                                                  └───────────────────┘ │
//!      │                                  the sentinel is notified of work      │
//!      └────────────────────────────────────────────────────────────────────────┘
//!                              quiet for some looks
//! ```
//!
//! # Why no task is forgotten
//!
//! Whoever pushes quietly fences (lightly) and looks at the duty, and then at the wake
//! table; a worker that parks enters the wake table, fences (heavily) and looks at
//! slots, rings and the duty.
//!
//! - The pusher saw *held*: the sentinel gives up by storing *nobody*, fencing
//!   heavily, and looking at slots and rings; so it sees the task, and goes on.
//! - It saw *wanted*: whoever stored that has notified a worker since, or there was
//!   none parked. The notified worker becomes the sentinel when it parks, or hands
//!   the notification on when it finds work instead
//!   ([`Sentinel::is_wanted`] is part of step S3). A worker that parks in a driver
//!   leaves it, wanted, to one that is counted as searching at that moment, which has both
//!   still before it.
//! - It saw *nobody* and an empty table: a worker that parks later sees the task.
//! - It was no quiet push, and its pusher relied on a searcher (P3), but what was worth
//!   sharing then is not any more, because polls got shorter or a thief took half of it: the
//!   last searcher sees that something is queued, and acts as after a quiet push
//!   ([`Sleep::after_search`]).
//! - It saw *nobody* and someone in the table: it stores *wanted* and notifies one.

use ws_core::sync::CachePadded;
use ws_core::sync::asymmetric;
use ws_core::sync::atomic::{AtomicU8, Ordering, fence};

use super::{Sleep, Sleeper};

const NOBODY: u8 = 0;
const WANTED: u8 = 1;
const HELD: u8 = 2;

/// Who has the duty.
pub struct Sentinel {
    duty: CachePadded<AtomicU8>,
}

/// The duty, held by the calling worker.
#[must_use = "the duty must be handed on or given up"]
#[derive(Debug)]
pub struct Duty(());

impl Sentinel {
    pub(super) fn new() -> Self {
        Self {
            duty: CachePadded::new(AtomicU8::new(NOBODY)),
        }
    }

    /// Whether a sentinel is needed that no one is yet.
    pub fn is_wanted(&self) -> bool {
        self.duty.load(Ordering::Relaxed) == WANTED
    }
}

impl Sleep {
    /// After a quiet push, or after the driver was left: whom to notify, so that there is
    /// a sentinel.
    #[inline]
    pub fn want_sentinel(&self) -> Option<Sleeper> {
        // ORDERING(sleep.fence): pairs with the heavy fences of a worker that parks,
        // and of a sentinel that gives up.
        asymmetric::light();
        if self.sentinel.duty.load(Ordering::Relaxed) != NOBODY || !self.someone_parked() {
            return None;
        }
        self.call_sentinel()
    }

    #[cold]
    fn call_sentinel(&self) -> Option<Sleeper> {
        let duty = &self.sentinel.duty;
        let order = (Ordering::Relaxed, Ordering::Relaxed);
        if duty
            .compare_exchange(NOBODY, WANTED, order.0, order.1)
            .is_err()
        {
            return None;
        }
        // ORDERING(sleep.fence): a worker that parks sees the wish, or we see it.
        asymmetric::light();
        self.take_sleeper()
    }

    /// Step S3 of the last searcher: whom to notify. If there is no `work` that is worth a
    /// notification, there may be `something_to_watch` all the same: it was worth one when it
    /// was announced, and its pusher relied on the searcher. Then there has to be a sentinel.
    pub fn after_search(
        &self,
        work: impl FnOnce() -> bool,
        something_to_watch: impl FnOnce() -> bool,
    ) -> Option<Sleeper> {
        if work() || self.sentinel.is_wanted() {
            self.take_sleeper()
        } else if something_to_watch() {
            self.want_sentinel()
        } else {
            None
        }
    }

    /// For a worker that parks, after W3: takes the duty if it is wanted, or if
    /// there is something to watch and no one does.
    pub fn take_duty(&self, something_to_watch: bool) -> Option<Duty> {
        let duty = &self.sentinel.duty;
        let wanted = |now: u8| match now {
            WANTED => Some(HELD),
            NOBODY if something_to_watch => Some(HELD),
            _ => None,
        };
        duty.fetch_update(Ordering::Relaxed, Ordering::Relaxed, wanted)
            .is_ok()
            .then_some(Duty(()))
    }

    /// For a worker that parks, after W3, and has a better place to sleep in: leaves the
    /// duty to one that searches, if there is one. That one takes it when it parks, or has
    /// someone notified when it finds work (S3), for which the duty has to be *wanted*.
    pub fn leave_duty_to_searcher(&self, something_to_watch: bool) -> bool {
        if !self.others_search(&None) {
            return false;
        }
        if something_to_watch {
            let duty = &self.sentinel.duty;
            let order = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = duty.compare_exchange(NOBODY, WANTED, order.0, order.1);
        }
        // ORDERING(sleep.fence): a searcher that stops sees the wish at S3, or this sees
        // that it has stopped.
        fence(Ordering::SeqCst);
        self.others_search(&None)
    }

    /// Takes the duty if it is wanted; before W1 as well.
    pub(crate) fn take_wanted_duty(&self) -> Option<Duty> {
        if !self.sentinel.is_wanted() {
            return None;
        }
        self.take_duty(false)
    }

    /// The sentinel is notified: someone else should watch, if someone can.
    pub fn hand_on(&self, duty: Duty) {
        let Duty(()) = duty;
        self.sentinel.duty.store(WANTED, Ordering::Relaxed);
    }

    /// There was nothing to watch for some looks. The caller looks once more, and
    /// takes the duty again if that was premature.
    pub fn give_up(&self, duty: Duty) {
        let Duty(()) = duty;
        self.sentinel.duty.store(NOBODY, Ordering::Relaxed);
        // ORDERING(sleep.fence): a pusher that saw the duty held is seen by the
        // look that follows.
        asymmetric::heavy();
    }
}
