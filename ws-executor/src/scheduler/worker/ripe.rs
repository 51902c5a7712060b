//! How long forks have been in the lanes of others: a fork is stolen only when it is *ripe*.

use crate::base::clock::Instant;
use crate::base::tuning::RIPE;

/// For each worker, the position of its oldest fork, and when it was first seen there.
pub(super) struct ForkAges(Box<[Option<(i64, Instant)>]>);

impl ForkAges {
    pub(super) fn new(workers: usize) -> Self {
        Self(vec![None; workers].into())
    }

    /// Whether the oldest fork of a worker, at this position, has been there for long enough to
    /// be worth stealing.
    #[inline]
    pub(super) fn is_ripe(&mut self, worker: usize, oldest: Option<i64>) -> bool {
        let seen = &mut self.0[worker];
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
}
