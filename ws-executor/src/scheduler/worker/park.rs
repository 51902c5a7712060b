//! How a worker goes to sleep, and what wakes it; the steps are those of
//! [`sleep`](crate::scheduler::sleep).

use std::time::Duration;

use ws_core::sync::thread;

use super::Worker;
use crate::base::tuning::{DRIVER_INTERVAL, DRIVER_LATENCY, PERIOD, SPIN_WORTH};
use crate::scheduler::driver::SharedDriver;
use crate::scheduler::sleep::{Parking, Searching};
use crate::scheduler::until::Until;

/// Where a worker sleeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SleepPlace {
    /// In its parker: there is no driver, or another thread is in it.
    Parker,
    /// In the driver, or in the worker's host.
    Driver,
}

impl Worker {
    /// Sleeps until there is something to do. Returns whether it counts as searching.
    pub(super) fn park(
        &self,
        searching: Option<Searching>,
        until: &impl Until,
    ) -> Option<Searching> {
        let place = self.take_place();
        let searching = match self.start_parking(searching, place, until) {
            Ok(parking) => {
                self.fall_asleep();
                let searching = self.sleep(parking, place, until);
                self.wake_up(place);
                searching
            }
            Err(searching) => Some(searching),
        };
        self.leave_place(place);
        searching
    }

    pub(super) fn fall_asleep(&self) {
        self.pace.pause();
        let counters = self.counters();
        if self.polls_at_wake.get() == Some(counters.polls.get()) {
            counters.idle_notifications.add(1);
        }
        counters.fall_asleep(self.shared.age());
    }

    pub(super) fn wake_up(&self, place: SleepPlace) {
        let counters = self.counters();
        let slept = counters.wake_up(self.shared.age());
        if slept < SPIN_WORTH && place == SleepPlace::Parker {
            // The worker should have gone on searching.
            self.search.lengthen(4);
        }
        self.polls_at_wake.set(Some(counters.polls.get()));
        self.pace.resume();
        if self.shared.settings.watches_polls {
            self.shared.monitor.watch();
        }
    }

    /// Sleeps until `until` is over, and polls nothing meanwhile.
    pub(crate) fn wait(&self, until: &impl Until) {
        while !until.is_over() {
            if self.shared.is_closed() {
                self.drop_when_closed();
                if until.is_over() {
                    return;
                }
            }
            if self.shared.driver.is_some() && self.shared.is_closed() {
                // The other workers have ended, or are about to.
                self.look_at_driver();
            } else {
                self.parker.park();
            }
        }
    }

    /// Drops what a closed executor has queued here, while this worker waits inside a poll: the
    /// task that it waits for may be queued here, where no other worker takes it, or may have
    /// been refused. So that task is dropped under the locks that the poll holds.
    pub(super) fn drop_when_closed(&self) {
        // `push_pinned` of `submit.rs` is the other side.
        self.shared.sleep.fence_against_pinned();
        if self.nesting.has_room() {
            self.drop_queued();
        } else {
            // Each of the drops may wait in turn, one inside the other. Other threads drop what
            // this worker leaves, or this worker itself, when it has left some of these waits.
            self.drop_own();
        }
        self.run_what_is_left();
    }

    /// Turns the driver at the end of this worker, while threads wait inside a poll: they may
    /// wait for an event of the driver, and the other workers end as well.
    pub(super) fn turn_for_others(&self) {
        while self.shared.driver.is_some() && self.shared.someone_waits_inside() {
            self.shared.drop_refused();
            self.look_at_driver();
        }
    }

    /// Waits for a while: in the driver, or in the parker if another thread is in the driver.
    pub(super) fn look_at_driver(&self) {
        match &self.shared.driver {
            Some(driver) if driver.take() => {
                self.turn(Some(PERIOD));
                driver.leave();
            }
            _ => self.parker.park_timeout(PERIOD),
        }
    }

    /// Steps W1 to W4.
    pub(super) fn start_parking(
        &self,
        searching: Option<Searching>,
        place: SleepPlace,
        until: &impl Until,
    ) -> Result<Parking, Searching> {
        let parking = self.shared.sleep.start_parking(self.index, searching);
        self.shared.fence_against_forks();
        let driver = self.shared.driver.as_ref();
        let missed_driver =
            place == SleepPlace::Parker && driver.is_some_and(SharedDriver::was_missed);
        if self.has_reason_to_stay(until) || missed_driver {
            // If this fails, a notification is on its way, and ends the sleep at once.
            return match self.shared.sleep.cancel_parking(parking) {
                Ok(searching) => Err(searching),
                Err(parking) => Ok(parking),
            };
        }
        self.shared.act_if_quiet();
        Ok(parking)
    }

    /// Step W5: sleeps until notified, or until there is another reason to wake up.
    fn sleep(
        &self,
        mut parking: Parking,
        place: SleepPlace,
        until: &impl Until,
    ) -> Option<Searching> {
        let sleep = &self.shared.sleep;
        loop {
            self.shared.act_if_quiet();
            let has_queued = !self.local.is_empty();
            let stays = has_queued || self.has_reason_to_stay(until);
            let ended = sleep.wake_up(parking).map(Some).or_else(|parking| {
                if has_queued {
                    // The driver has woken a task: the worker need not count as searching, only
                    // to stop again.
                    sleep.cancel_parking_with_work(parking).map(|()| None)
                } else if stays {
                    sleep.cancel_parking(parking).map(Some)
                } else {
                    Err(parking)
                }
            });
            parking = match ended {
                Ok(searching) => return searching,
                Err(parking) => parking,
            };
            match place {
                // A pusher has taken this worker out of the table, and is about to notify it.
                // The worker does not enter the reactor, which may run tasks of its own.
                SleepPlace::Driver if stays => thread::yield_now(),
                SleepPlace::Driver => self.turn(None),
                SleepPlace::Parker => self.parker.park(),
            }
        }
    }

    /// Whether the worker must not sleep: there is work, the executor is closed, or `until` is
    /// over.
    fn has_reason_to_stay(&self, until: &impl Until) -> bool {
        self.shared.has_work()
            || !self.remote().pinned.is_empty()
            || !self.local.is_empty()
            || self.should_stop(until)
    }

    /// Chooses where to sleep: in the driver, if there is one and it is free. Called before W1,
    /// so that a pusher that finds this worker in the wake table knows where it sleeps.
    fn take_place(&self) -> SleepPlace {
        match &self.shared.driver {
            Some(driver) if driver.take() => {
                self.shared.sleep.enter_driver(self.index);
                SleepPlace::Driver
            }
            _ => SleepPlace::Parker,
        }
    }

    fn leave_place(&self, place: SleepPlace) {
        let in_driver = place == SleepPlace::Driver;
        let Some(driver) = self.shared.driver.as_ref().filter(|_| in_driver) else {
            return;
        };
        self.shared.sleep.leave_driver();
        driver.leave();
        self.announce_events();
        self.shared.hand_off(driver);
    }

    /// Whether this worker would sleep in a reactor, if it went to sleep now.
    pub(super) fn may_enter_reactor(&self) -> bool {
        self.shared.settings.hosted || self.driver_is_free()
    }

    /// Whether this thread runs its host's code, between two polls of the worker.
    #[inline]
    pub(crate) fn is_in_host(&self) -> bool {
        self.duty.is_inside() && self.shared.settings.hosted
    }

    /// Whether this thread is inside the driver. Then the caller is code of the reactor, and
    /// other threads may see the worker asleep.
    pub(crate) fn is_in_driver(&self) -> bool {
        self.duty.is_inside()
    }

    /// Whether the driver is free for this worker to sleep in.
    fn driver_is_free(&self) -> bool {
        self.shared
            .driver
            .as_ref()
            .is_some_and(SharedDriver::is_free)
    }

    /// Turns the driver without waiting, between two tasks, if the last turn was long enough
    /// ago.
    pub(super) fn turn_driver(&self) {
        let Some(driver) = &self.shared.driver else {
            return;
        };
        let since = self.duty.polls_since_turn(self.counters().polls.get());
        let time = since as f64 * self.pace.mean();
        if time < DRIVER_LATENCY.as_nanos() as f64 && since < DRIVER_INTERVAL {
            return;
        }
        if driver.is_free() {
            self.glance_at_driver();
        }
    }

    /// Turns the driver without waiting, if no other thread is in it.
    pub(super) fn glance_at_driver(&self) {
        if let Some(driver) = self.shared.driver.as_ref().filter(|driver| driver.take()) {
            // The reactor may run tasks of its own, and these may block.
            self.announce_rest();
            self.turn(Some(Duration::ZERO));
            driver.leave();
            self.announce_events();
            self.shared.hand_off(driver);
        }
    }

    /// Announces the tasks that the driver has put into the ring, if there is more than one.
    pub(super) fn announce_events(&self) {
        if self.local.ring_len() > 1 {
            self.announce();
        }
    }

    fn turn(&self, timeout: Option<Duration>) {
        let Some(driver) = &self.shared.driver else {
            return;
        };
        self.duty.set_inside(true);
        driver.turn(timeout);
        self.duty.set_inside(false);
        self.duty.was_turned(self.counters().polls.get());
    }
}
