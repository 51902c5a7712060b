//! The monitor: a thread that looks after tasks which their workers do not get to.
//!
//! # The problem
//!
//! No worker is notified of a task in a LIFO slot, nor of a few short tasks in a ring: their
//! own worker is about to run them, and to run them elsewhere would take longer
//! (`worker/share.rs`). But the poll that pushed them may block or compute for a second, while
//! other workers sleep. The same holds for a driver that its worker has left for such a poll:
//! no thread sees the events of the reactor. And if every worker is in such a poll, or in a
//! join, no thread polls tasks at all.
//!
//! # The idea
//!
//! One thread looks at the workers every now and then, as `sysmon` does in the runtime of Go.
//! It compares what it sees with the look before ([`look`]), and acts ([`thread`]):
//! - it moves the tasks of a stuck worker to the injector, and notifies;
//! - it notifies a parked worker of a driver that was left;
//! - it lets a [spare thread](spare) poll tasks while every worker is kept.
//!
//! The monitor itself polls nothing and turns no driver, so that no task can keep it.
//!
//! The monitor is started when there is something to watch for the first time. It falls asleep
//! when every worker was parked at several looks, and the next quiet push calls it again
//! ([`state`]). So an idle executor makes no system call, a stream of messages with short
//! pauses calls the monitor once, and a quiet push costs one relaxed load.
//!
//! Instead of the monitor, a parked worker could watch the others, and sleep with a timeout.
//! But then the workers would have to hand that duty on. That needs two more protocols, and a
//! worker that sleeps in the parker of a host cannot do it.
//!
//! If the system refuses the thread, tasks behind a poll that blocks wait until that poll ends.
//! The next quiet push asks again, at most once a second.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `spare.round` | the end of a round | the monitor that looks for an idle thread | what the thread did in the round |

pub(crate) mod look;
pub(crate) mod spare;
pub(crate) mod spares;
pub(crate) mod started;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod state;
pub(crate) mod thread;

use std::io;
use std::time::Duration;

use ws_core::Unpark;
use ws_core::sync::{Mutex, MutexGuard};

use self::spares::Spares;
use self::started::Started;
use self::state::{MonitorCall, MonitorState};
use crate::base::clock::Instant;
use crate::base::panics::{drop_payload, ignore_panic};
use crate::scheduler::counters::Counter;
use crate::scheduler::progress::ThreadProgress;

/// How long to wait before asking again for a thread that the system refused.
const PATIENCE: Duration = Duration::from_secs(1);

/// Starts the monitor's thread.
pub(crate) type Start = Box<dyn Fn() -> io::Result<Started> + Send + Sync>;

/// The monitor, as the rest of the executor sees it.
pub(crate) struct Monitor {
    state: MonitorState,
    thread: Mutex<MonitorThread>,
    pub(crate) spares: Spares,
    /// How far the thread is.
    pub(crate) progress: ThreadProgress,
    /// Polls that became stalls; written by the thread.
    pub(crate) stalls: Counter,
    /// Tasks that were moved to the injector; written by the thread.
    pub(crate) rescued: Counter,
}

struct MonitorThread {
    /// None when the executor is closed.
    start: Option<Start>,
    started: Option<Started>,
    /// When the system refused it.
    refused: Option<Instant>,
}

impl Monitor {
    pub(crate) fn new(start: Start, spares: Spares) -> Self {
        Self {
            state: MonitorState::absent(),
            thread: Mutex::new(MonitorThread {
                start: Some(start),
                started: None,
                refused: None,
            }),
            spares,
            progress: ThreadProgress::default(),
            stalls: Counter::default(),
            rescued: Counter::default(),
        }
    }

    fn thread(&self) -> MutexGuard<'_, MonitorThread> {
        // No user code runs under the lock, so it is not poisoned.
        self.thread.lock().expect("never poisoned")
    }

    /// Makes sure that the monitor watches. [`state`] says which threads may call this.
    #[inline]
    pub(crate) fn watch(&self) {
        if self.state.needs_call() {
            self.call();
        }
    }

    /// As [`watch`](Self::watch), if there is something to watch.
    #[inline]
    pub(crate) fn watch_if(&self, is_something_to_watch: impl FnOnce() -> bool) {
        if self.state.needs_call() && is_something_to_watch() {
            self.call();
        }
    }

    #[cold]
    fn call(&self) {
        match self.state.call() {
            MonitorCall::Nothing => {}
            MonitorCall::Unpark => self.unpark(),
            MonitorCall::Start => self.start(),
        }
    }

    fn unpark(&self) {
        if let Some(started) = &self.thread().started {
            started.unparker.unpark();
        }
    }

    /// Starts the thread; the state is awake already.
    fn start(&self) {
        let mut thread = self.thread();
        let Some(start) = &thread.start else {
            return self.state.set_gone();
        };
        let waits = |refused: &Instant| refused.elapsed() < PATIENCE;
        if thread.refused.as_ref().is_some_and(waits) {
            return self.state.set_absent();
        }
        match start() {
            Ok(started) => thread.started = Some(started),
            Err(_) => {
                thread.refused = Some(Instant::now());
                self.state.set_absent();
            }
        }
    }

    /// The executor is closed: lets the threads see that, and lets no other begin.
    pub(crate) fn close(&self) {
        let start = {
            let mut thread = self.thread();
            self.state.set_gone();
            thread.start.take()
        };
        // It owns the user's hooks.
        ignore_panic(|| drop(start));
        self.unpark();
        self.spares.close();
    }

    /// Whether the calling thread is the monitor's, or a spare one.
    pub(crate) fn is_current(&self) -> bool {
        let me = ws_core::sync::thread::current().id();
        let monitor = self.thread();
        let is_monitor = monitor.started.as_ref();
        is_monitor.is_some_and(|it| it.handle.thread().id() == me) || self.spares.is_current()
    }

    /// After `close`: whether all threads have said that they end.
    pub(crate) fn has_ended(&self) -> bool {
        let started = usize::from(self.thread().started.is_some());
        self.progress.have_ended(started) && self.spares.have_ended()
    }

    /// After `close`: waits for the threads.
    pub(crate) fn join(&self) {
        let started = self.thread().started.take();
        if let Some(Err(payload)) = started.map(|started| started.handle.join()) {
            drop_payload(payload);
        }
        self.spares.join();
    }
}
