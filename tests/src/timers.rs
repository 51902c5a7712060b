//! A driver with timers: a reactor without an operating system.

use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use ws_core::Driver;

/// The reactor.
#[derive(Clone, Debug, Default)]
pub struct Timers(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_woken: bool,
    timers: Vec<(Instant, Waker)>,
    /// What the reactor wakes in a turn that goes on afterwards.
    inside: Vec<Waker>,
}

impl Timers {
    /// Waits until a turn of the driver comes after `time`.
    pub fn sleep(&self, time: Duration) -> Sleep {
        Sleep(self.clone(), Instant::now() + time)
    }

    /// Has the driver wake this in a turn. The turn goes on, unless it is ended by that.
    pub fn wake_inside(&self, waker: Waker) {
        self.change(|state| state.inside.push(waker));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.state.lock().unwrap());
        self.0.changed.notify_all();
    }
}

impl Driver for Timers {
    fn turn(&self, timeout: Option<Duration>) {
        let end = timeout.map(|timeout| Instant::now() + timeout);
        let mut state = self.0.state.lock().unwrap();
        let due = loop {
            let inside = mem::take(&mut state.inside);
            if !inside.is_empty() {
                drop(state);
                inside.into_iter().for_each(Waker::wake);
                state = self.0.state.lock().unwrap();
                continue;
            }
            let now = Instant::now();
            let is_due = |(time, _): &(Instant, Waker)| *time <= now;
            let timers = mem::take(&mut state.timers);
            let (due, later): (Vec<_>, Vec<_>) = timers.into_iter().partition(is_due);
            state.timers = later;
            if !due.is_empty()
                || mem::take(&mut state.is_woken)
                || end.is_some_and(|end| end <= now)
            {
                break due;
            }
            let next = state.timers.iter().map(|(time, _)| *time).chain(end).min();
            state = match next {
                None => self.0.changed.wait(state).unwrap(),
                Some(next) => self.0.changed.wait_timeout(state, next - now).unwrap().0,
            };
        };
        drop(state);
        due.into_iter().for_each(|(_, waker)| waker.wake());
    }

    fn wake(&self) {
        self.change(|state| state.is_woken = true);
    }

    fn wake_local(&self) {
        self.wake();
    }
}

/// A timer.
#[derive(Debug)]
#[must_use = "it does nothing unless polled"]
pub struct Sleep(Timers, Instant);

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.1 {
            return Poll::Ready(());
        }
        let timer = (self.1, cx.waker().clone());
        self.0.change(|state| state.timers.push(timer));
        Poll::Pending
    }
}
