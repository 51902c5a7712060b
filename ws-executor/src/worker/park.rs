//! How a worker goes to sleep, and what wakes it; the steps are those of
//! [`sleep`](crate::sleep).

use std::time::Duration;

use super::watch::Finding;
use super::{Until, Worker};
use crate::driver::DriverSeat;
use crate::sleep::sentinel::Duty;
use crate::sleep::{Parking, Searching};
use crate::tuning::{PERIOD, SPIN_WORTH};

impl Worker {
    /// Sleeps until there is something to do. Returns whether it counts as searching.
    pub(super) fn park(
        &self,
        searching: Option<Searching>,
        until: &impl Until,
    ) -> Option<Searching> {
        let in_driver = self.enter_driver();
        let searching = match self.start_parking(searching, until) {
            Ok(parking) => {
                self.fall_asleep();
                let searching = self.sleep(parking, in_driver, until);
                self.wake_up();
                searching
            }
            Err(searching) => searching,
        };
        self.leave_driver(in_driver);
        Some(searching)
    }

    pub(super) fn fall_asleep(&self) {
        let counters = self.counters();
        if self.polls_at_wake.get() == Some(counters.polls.get()) {
            counters.idle_notifications.add(1);
        }
        counters.fall_asleep(self.shared.age());
    }

    pub(super) fn wake_up(&self) {
        let counters = self.counters();
        if counters.wake_up(self.shared.age()) < SPIN_WORTH {
            // It should have gone on searching.
            self.search_longer(4);
        }
        self.polls_at_wake.set(Some(counters.polls.get()));
    }

    /// Sleeps until `until` is over, and runs nothing meanwhile.
    pub(crate) fn wait(&self, until: &impl Until) {
        while !until.is_over() {
            if self.shared.is_closed() {
                // What it waits for may be queued here.
                self.drop_queued();
                if until.is_over() {
                    return;
                }
            }
            self.parker.park();
        }
    }

    /// Steps W1 to W4.
    pub(super) fn start_parking(
        &self,
        searching: Option<Searching>,
        until: &impl Until,
    ) -> Result<Parking, Searching> {
        let parking = self.shared.sleep.start_parking(self.index, searching);
        if self.has_reason_to_stay(until) || self.driver_is_free() {
            // If it fails, a notification is on its way, and ends the sleep at once.
            return match self.shared.sleep.cancel_parking(parking) {
                Ok(searching) => Err(searching),
                Err(parking) => Ok(parking),
            };
        }
        self.close_if_drained();
        Ok(parking)
    }

    /// Step W5: sleeps until notified, or until there is another reason not to.
    fn sleep(&self, mut parking: Parking, in_driver: bool, until: &impl Until) -> Searching {
        let sleep = &self.shared.sleep;
        let mut duty = self.take_duty();
        let mut finding = Finding::Busy;
        loop {
            let mut ended = sleep.wake_up(parking);
            if self.has_reason_to_stay(until) || self.should_act_on(finding) {
                ended = ended.or_else(|parking| sleep.cancel_parking(parking));
            }
            parking = match ended {
                Ok(searching) => {
                    self.end_duty(duty);
                    return searching;
                }
                Err(parking) => parking,
            };
            self.close_if_drained();
            if finding == Finding::Quiet {
                duty = self.renew(duty);
            }
            finding = self.block(&duty, in_driver);
        }
    }

    /// Blocks once, in the driver or in the parker; the sentinel for a period only.
    fn block(&self, duty: &Option<Duty>, in_driver: bool) -> Finding {
        let timeout = duty.as_ref().map(|_| PERIOD);
        match (in_driver, timeout) {
            (true, timeout) => self.turn(timeout),
            (false, None) => self.parker.park(),
            (false, Some(period)) => self.parker.park_timeout(period),
        }
        if duty.is_none() {
            return Finding::Busy;
        }
        self.watch.borrow_mut().look(&self.shared, self.index)
    }

    /// Whether the worker should not sleep: work, the end, or what `until` says.
    fn has_reason_to_stay(&self, until: &impl Until) -> bool {
        self.shared.has_work()
            || !self.remote().pinned.is_empty()
            || !self.slot.is_empty()
            || !self.ring.is_empty()
            || self.should_stop(until)
    }

    /// Whether what the sentinel sees is to be acted on; the search begins with it.
    fn should_act_on(&self, finding: Finding) -> bool {
        self.finding.set(finding);
        !matches!(finding, Finding::Busy | Finding::Quiet)
    }

    /// Gives the duty up, if there is nothing to watch after all.
    fn renew(&self, duty: Option<Duty>) -> Option<Duty> {
        self.shared.sleep.give_up(duty?);
        self.take_duty()
    }

    fn take_duty(&self) -> Option<Duty> {
        if !self.shared.settings.sentinel {
            return None;
        }
        self.shared
            .sleep
            .take_duty(self.shared.has_something_to_watch())
    }

    fn end_duty(&self, duty: Option<Duty>) {
        if let Some(duty) = duty {
            self.shared.sleep.hand_on(duty);
        }
    }

    fn close_if_drained(&self) {
        if self.shared.is_drained() {
            self.shared.close();
        }
    }

    /// Takes the driver to sleep in, if there is one and it is free. Before W1, so
    /// that whoever finds this worker in the wake table knows where it sleeps.
    fn enter_driver(&self) -> bool {
        let entered = self.shared.driver.as_ref().is_some_and(DriverSeat::take);
        if entered {
            self.shared.sleep.enter_driver(self.index);
        }
        entered
    }

    fn leave_driver(&self, in_driver: bool) {
        let Some(seat) = self.shared.driver.as_ref().filter(|_| in_driver) else {
            return;
        };
        self.shared.sleep.leave_driver();
        seat.leave();
        self.announce_events();
        seat.hand_off(&self.shared);
    }

    /// Whether the driver is free for this worker to sleep in.
    fn driver_is_free(&self) -> bool {
        self.shared.driver.as_ref().is_some_and(DriverSeat::is_free)
    }

    /// Lets the driver see what is ready, between two tasks.
    pub(super) fn turn_driver(&self) {
        let Some(seat) = &self.shared.driver else {
            return;
        };
        if seat.is_free() && seat.take() {
            self.turn(Some(Duration::ZERO));
            seat.leave();
            self.announce_events();
            seat.hand_off(&self.shared);
        }
    }

    /// Tells others of what the driver has put into the ring, if it is more than one.
    fn announce_events(&self) {
        if self.ring.len() > 1 {
            self.announce();
        }
    }

    fn turn(&self, timeout: Option<Duration>) {
        let Some(seat) = &self.shared.driver else {
            return;
        };
        self.turning.set(true);
        crate::task::contain::ignore_panic(|| seat.driver().turn(timeout));
        self.turning.set(false);
    }
}
