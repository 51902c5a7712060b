//! How a task is polled, on a worker or on a spare thread.

use super::shared::{Job, Shared};
use crate::base::coop;
use crate::base::panics::ignore_panic;

impl Shared {
    /// Polls a task once.
    #[inline]
    pub(crate) fn poll(&self, job: Job) {
        coop::refill(self.settings.budget);
        // The future's panics are in its outcome. This contains those of foreign wakers, which
        // must not end the thread either.
        if self.driver.is_none() {
            return ignore_panic(|| job.run());
        }
        let mut job = Some(job);
        let mut poll = || job.take().into_iter().for_each(Job::run);
        self.within_driver(&mut poll);
        // The driver has not called it, or has panicked before.
        ignore_panic(poll);
    }

    /// Polls something as the driver wants it, if its implementation calls `poll`.
    pub(crate) fn within_driver(&self, poll: &mut dyn FnMut()) {
        match &self.driver {
            None => poll(),
            Some(driver) => driver.poll_scope(poll),
        }
    }
}
