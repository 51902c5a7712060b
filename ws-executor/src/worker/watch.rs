//! What a worker remembers of the others' queues between two looks.
//!
//! A worker is *stuck* if it has tasks in its slot or its ring at two looks and has not
//! begun another poll between them. It has a *steady backlog* if its ring had several
//! tasks at two looks of the sentinel, which are far apart.

use std::time::Duration;

use crate::clock::Instant;
use crate::driver::DriverSeat;
use crate::shared::Shared;
use crate::tuning::{BACKLOG, CALM_PERIOD, PERIOD, QUIET_LOOKS, RIPE, STUCK};

/// Nothing was queued at the last look.
const NOTHING: u64 = u64::MAX;

/// The last look.
pub(super) struct Watch {
    /// When that was.
    looked: Instant,
    /// For each worker, how many polls it had begun if something was queued there.
    polls: Box<[u64]>,
    /// For each worker, whether it had a backlog when the sentinel looked.
    backlogs: Box<[bool]>,
    /// How many jobs came out of slots, in all.
    lifo_hits: u64,
    /// How often the driver was entered.
    driver_turns: u64,
    /// For each worker, the position of its oldest fork, and when it was first seen there.
    forks: Box<[Option<(i64, Instant)>]>,
}

impl Watch {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            looked: Instant::now(),
            polls: vec![NOTHING; workers].into(),
            backlogs: vec![false; workers].into(),
            lifo_hits: 0,
            driver_turns: 0,
            forks: vec![None; workers].into(),
        }
    }

    /// Looks at all workers but `me`, if the last look is long enough ago; returns one
    /// that is stuck.
    pub(super) fn stuck(&mut self, shared: &Shared, me: usize) -> Option<usize> {
        let now = Instant::now();
        if now - self.looked < STUCK {
            return None;
        }
        self.looked = now;
        let mut stuck = None;
        for (worker, remote) in shared.remotes.iter().enumerate() {
            let seen = &mut self.polls[worker];
            if worker == me || (remote.slot.is_empty() && remote.ring.is_empty()) {
                *seen = NOTHING;
                continue;
            }
            let now = remote.counters.polls.get();
            if *seen == now {
                stuck = Some(worker);
            }
            *seen = now;
        }
        stuck
    }

    /// Looks at all rings but that of `me`; returns a worker with a steady backlog.
    fn steady_backlog(&mut self, shared: &Shared, me: usize) -> Option<usize> {
        let mut steady = None;
        for (worker, remote) in shared.remotes.iter().enumerate() {
            let now = worker != me && remote.ring.len() >= BACKLOG;
            if std::mem::replace(&mut self.backlogs[worker], now) && now {
                steady = Some(worker);
            }
        }
        steady
    }

    /// Whether the oldest fork of a worker, at this position, was there for long enough to
    /// be worth stealing.
    #[inline]
    pub(super) fn is_ripe(&mut self, worker: usize, oldest: Option<i64>) -> bool {
        let seen = &mut self.forks[worker];
        let Some(position) = oldest else {
            *seen = None;
            return false;
        };
        let now = Instant::now();
        match *seen {
            Some((same, since)) if same == position => now - since >= RIPE,
            _ => {
                *seen = Some((position, now));
                RIPE.is_zero()
            }
        }
    }

    /// What the sentinel sees, a period after its last look.
    pub(super) fn look(&mut self, shared: &Shared, me: usize) -> Finding {
        let hits = shared
            .remotes
            .iter()
            .map(|remote| remote.counters.lifo_hits.get());
        let hits = hits.fold(0, u64::wrapping_add);
        let turns = shared.driver.as_ref().map_or(0, DriverSeat::turns);
        let same_turn = turns == self.driver_turns;
        let same_hits = hits == self.lifo_hits;
        (self.lifo_hits, self.driver_turns) = (hits, turns);

        let driver_left = shared
            .driver
            .as_ref()
            .is_some_and(DriverSeat::wants_watching);
        let (stuck, backlog) = (self.stuck(shared, me), self.steady_backlog(shared, me));
        if let Some(worker) = stuck {
            Finding::Stuck(worker)
        } else if driver_left && same_turn {
            Finding::DriverLeft
        } else if let Some(worker) = backlog {
            Finding::Backlog(worker)
        } else if shared.has_something_to_watch() {
            Finding::AtRisk
        } else if same_hits && same_turn {
            Finding::Quiet
        } else {
            Finding::Busy
        }
    }
}

/// How long the sentinel sleeps until its next look, and when it gives its duty up.
///
/// The looks are far apart while nothing is at risk. So a server that gets a message every
/// millisecond has a sentinel all the time, which costs a third of a look a message. A sentinel
/// that gave up in each pause would be called anew by each message: over tokio's I/O that made
/// ten system calls of a message instead of five.
pub(super) struct Rhythm {
    period: Duration,
    /// How many looks in a row found nothing.
    quiet: u32,
}

impl Rhythm {
    pub(super) fn new() -> Self {
        Self {
            period: PERIOD,
            quiet: 0,
        }
    }

    pub(super) fn period(&self) -> Duration {
        self.period
    }

    /// Takes in what the last look has found.
    pub(super) fn hear(&mut self, finding: Finding) {
        match finding {
            Finding::Quiet => {
                self.period = CALM_PERIOD;
                self.quiet += 1;
            }
            Finding::Busy => {
                self.period = (self.period * 2).min(CALM_PERIOD);
                self.quiet = 0;
            }
            Finding::AtRisk | Finding::Stuck(_) | Finding::Backlog(_) | Finding::DriverLeft => {
                *self = Self::new()
            }
        }
    }

    /// Whether the sentinel should give its duty up.
    pub(super) fn is_over(&self) -> bool {
        self.quiet >= QUIET_LOOKS
    }
}

/// What a sentinel may see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Finding {
    /// A slot or the driver was used since the last look; now nothing depends on a worker
    /// that is awake.
    Busy,
    /// A task is queued on a worker, or the driver was left for a task: if the poll under way
    /// does not end, somebody must help.
    AtRisk,
    /// As [`Busy`](Self::Busy), but no slot and no driver was used since the last look.
    Quiet,
    /// This worker is stuck.
    Stuck(usize),
    /// This worker has more to do than it gets done.
    Backlog(usize),
    /// The driver was left alone for a period.
    DriverLeft,
}

#[cfg(test)]
#[cfg(not(any(ws_loom, ws_shuttle)))]
mod tests {
    use super::*;

    fn after(findings: &[Finding]) -> Rhythm {
        let mut rhythm = Rhythm::new();
        findings.iter().for_each(|&finding| rhythm.hear(finding));
        rhythm
    }

    #[test]
    fn looks_are_far_apart_while_nothing_is_at_risk() {
        assert_eq!(after(&[]).period(), PERIOD);
        assert_eq!(after(&[Finding::Busy]).period(), PERIOD * 2);
        assert_eq!(after(&[Finding::Busy; 30]).period(), CALM_PERIOD);
        assert_eq!(after(&[Finding::Quiet]).period(), CALM_PERIOD);
    }

    #[test]
    fn a_risk_brings_the_next_look_near() {
        for finding in [Finding::AtRisk, Finding::Stuck(0), Finding::DriverLeft] {
            assert_eq!(after(&[Finding::Quiet, finding]).period(), PERIOD);
        }
    }

    #[test]
    fn only_quiet_looks_in_a_row_end_the_duty() {
        let quiet = vec![Finding::Quiet; QUIET_LOOKS as usize];
        assert!(after(&quiet).is_over());
        assert!(!after(&quiet[1..]).is_over());
        for other in [Finding::Busy, Finding::AtRisk] {
            let interrupted = [&quiet[1..], &[other], &quiet[1..]].concat();
            assert!(!after(&interrupted).is_over());
        }
        assert!(!after(&[Finding::Busy; 100]).is_over());
    }
}
