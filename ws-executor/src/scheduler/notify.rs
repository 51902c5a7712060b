//! Which worker is told of new work, and how it is woken. The steps are those of
//! [`sleep`](super::sleep).

use super::driver::{DriverHandoff, SharedDriver};
use super::shared::Shared;
use super::sleep::{Searching, Sleeper};
use super::worker::current;
use crate::base::tuning::share_worth;

impl Shared {
    /// Notifies a worker of new work, if that is needed.
    #[inline]
    pub(crate) fn notify_one(&self) {
        match self.sleep.after_push() {
            Some(sleeper) => self.unpark(sleeper),
            None => self.watch_if_all_are_awake(),
        }
    }

    /// Notifies as many workers as there is new work for.
    pub(crate) fn notify_many(&self, count: usize) {
        self.sleep
            .after_batch(count, |sleeper| self.unpark(sleeper));
        self.watch_if_all_are_awake();
    }

    /// After P2: calls the monitor if no worker searches or is parked. Then all workers may be
    /// kept by their polls.
    #[inline]
    fn watch_if_all_are_awake(&self) {
        self.monitor.watch_if(|| self.sleep.nobody_is_about());
    }

    /// Notifies any parked worker, for no particular task. Returns whether there is one.
    pub(crate) fn notify_idle(&self) -> bool {
        let sleeper = self.sleep.take_sleeper();
        let is_some = sleeper.is_some();
        sleeper.into_iter().for_each(|it| self.unpark(it));
        is_some
    }

    /// Steps S1 to S3: stops searching. Notifies a worker of work that is left, or of a driver
    /// that was left. If no worker is parked, the monitor must watch.
    pub(crate) fn stop_searching(&self, searching: Searching) {
        let driver = self.driver.as_ref();
        if self.sleep.found_work(searching) {
            let is_wanted = self.has_work() || driver.is_some_and(SharedDriver::wants_a_worker);
            if is_wanted && self.notify_idle() {
                return;
            }
        }
        // Pushers may have relied on the last searcher. A worker that was parked may have left
        // the table by itself since, for work of its own. And the driver may have been free so
        // far, or a spare thread may have left it.
        let is_left = || driver.is_some_and(SharedDriver::wants_watching);
        self.monitor.watch_if(|| self.has_work() || is_left());
    }

    /// After a worker has left the driver: makes sure that the driver is not left alone for
    /// long.
    pub(crate) fn hand_off(&self, driver: &SharedDriver) {
        match driver.handoff() {
            DriverHandoff::Off => {}
            DriverHandoff::Monitor => self.monitor.watch(),
            DriverHandoff::Eager => {
                let _ = self.notify_idle();
                self.monitor.watch();
            }
        }
    }

    #[cold]
    pub(crate) fn unpark(&self, sleeper: Sleeper) {
        let Sleeper(worker) = sleeper;
        current::with(self, |me| {
            if let Some(me) = me {
                me.counters().notifications.add(1);
            }
        });
        match &self.driver {
            Some(driver) if self.sleep.is_in_driver(worker) => driver.wake(),
            _ => self.remotes[worker].unparker.unpark(),
        }
    }

    /// Whether thieves should take from this worker's ring.
    pub(crate) fn is_worth_stealing_from(&self, worker: usize) -> bool {
        let remote = &self.remotes[worker];
        let tasks = remote.ring.len();
        tasks > 0 && tasks as f64 * remote.counters.mean_poll() >= share_worth()
    }

    /// Whether there is work that a parked worker should be notified of.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty()
            || self.has_forks()
            || !self.computations.is_empty()
            || (0..self.workers()).any(|worker| self.is_worth_stealing_from(worker))
    }

    /// Notifies a helper of a fork that was pushed, or else an idle worker.
    #[inline(always)]
    pub(crate) fn notify_fork(&self) {
        if self.helpers.after_fork(&self.sleep) {
            self.notify_fork_slow();
        }
    }

    #[cold]
    pub(crate) fn notify_fork_slow(&self) {
        if let Some(sleeper) = self.helpers.take_helper(&self.sleep) {
            self.unpark(sleeper);
        }
    }

    /// Between W3 and W4 of a worker that parks. As a rule no worker is in a join. Then no forks
    /// are pushed, except by scopes, which fence themselves.
    pub(crate) fn fence_against_forks(&self) {
        if self.any_in_join() {
            self.sleep.fence_against_forks();
        }
    }

    /// Lets all workers look at the flags: each gets a token, which publishes them.
    pub(super) fn unpark_all(&self) {
        for remote in &self.remotes {
            remote.unparker.unpark();
        }
        if let Some(driver) = &self.driver {
            driver.wake();
        }
    }
}
