//! A task that is due to be polled, as the queues hold it.

use std::cell::RefCell;
use std::ptr::NonNull;
use std::task::Waker;

use ws_core::slot::Pointer;
use ws_core::sync::thread_local;

use super::home::Home;

/// A runnable of this executor; one pointer.
///
/// Dropping it cancels the task: its future is dropped on this thread.
pub(crate) struct Job(async_task::Runnable<Home>);

impl Job {
    pub(crate) fn new(runnable: async_task::Runnable<Home>) -> Self {
        Self(runnable)
    }

    /// Polls the task once. Panics of its future are contained in the task.
    #[inline]
    pub(crate) fn run(self) {
        self.0.run();
    }

    pub(crate) fn home(&self) -> &Home {
        self.0.metadata()
    }

    /// A reference to the task, which keeps its home alive.
    pub(crate) fn waker(&self) -> Waker {
        self.0.waker()
    }
}

// SAFETY: `Runnable::into_raw` and `Runnable::from_raw` are inverse.
unsafe impl Pointer for Job {
    #[inline]
    fn into_raw(self) -> NonNull<()> {
        self.0.into_raw()
    }

    #[inline]
    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller promises that it came out of a job.
        Self(unsafe { async_task::Runnable::from_raw(raw) })
    }
}

/// How many jobs may be dropped one inside the other before further ones wait.
const DEPTH: usize = 32;

thread_local! {
    static DROPPING: RefCell<Dropping> = const {
        RefCell::new(Dropping { depth: 0, waiting: Vec::new() })
    };
}

/// What is being dropped on a thread.
struct Dropping {
    depth: usize,
    /// The jobs that wait until those are done.
    waiting: Vec<Job>,
}

/// Drops jobs that a closed executor refuses.
///
/// A dropped future may own the handle of the next task, and dropping that one leads
/// here again. It is dropped at once, as it would be if both were one value: the outer
/// drop may wait for it. But a chain of a million tasks must not use a million stack
/// frames: from [`DEPTH`] on, jobs line up, and the outermost call drops them.
pub(crate) fn drop_refused(jobs: impl IntoIterator<Item = Job>) {
    for job in jobs {
        match descend(job) {
            Descent::Wait => {}
            Descent::Drop(job) => {
                drop(job);
                ascend();
            }
        }
    }
}

/// Drops those in line now: the calling thread is about to wait, maybe for one of them.
pub(crate) fn drop_line() {
    let next = || DROPPING.try_with(|dropping| dropping.borrow_mut().waiting.pop());
    while let Some(job) = next().ok().flatten() {
        drop(job);
    }
}

enum Descent {
    /// The job is in line.
    Wait,
    /// The job is to be dropped here, and then `ascend` to be called.
    Drop(Job),
}

fn descend(job: Job) -> Descent {
    let mut job = Some(job);
    // Without the thread's locals, which are gone if it is ending, there is no line.
    let _ = DROPPING.try_with(|dropping| {
        let mut dropping = dropping.borrow_mut();
        if dropping.depth >= DEPTH {
            dropping.waiting.extend(job.take());
        } else {
            dropping.depth += 1;
        }
    });
    job.map_or(Descent::Wait, Descent::Drop)
}

/// Leaves one level; the outermost one drops those in line first.
fn ascend() {
    while let Some(job) = next_in_line() {
        drop(job);
    }
}

/// The next job in line if this is the outermost level; otherwise leaves the level.
fn next_in_line() -> Option<Job> {
    let next = DROPPING.try_with(|dropping| {
        let mut dropping = dropping.borrow_mut();
        let next = if dropping.depth == 1 {
            dropping.waiting.pop()
        } else {
            None
        };
        if next.is_none() {
            dropping.depth -= 1;
        }
        next
    });
    next.ok().flatten()
}
