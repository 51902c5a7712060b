//! A task that is due to be polled, as the queues hold it.

use std::cell::RefCell;
use std::ptr::{self, NonNull};
use std::task::Waker;

use ws_core::slot::Pointer;
use ws_core::sync::thread_local;

use super::home::Home;
use crate::shield;

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
        // A task's waker carries the address of the task.
        let raw = self.into_raw();
        shield::trust(raw.as_ptr());
        // SAFETY: it came from `into_raw`, just now.
        unsafe { Self::from_raw(raw) }.0.run();
        shield::trust(ptr::null());
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

thread_local! {
    /// The jobs that wait for the one that is being dropped on this thread.
    static DROPPING: RefCell<Option<Vec<Job>>> = const { RefCell::new(None) };
}

/// Drops jobs that a closed executor refuses.
///
/// A dropped future may own the handle of the next task, and dropping that one
/// leads here again: a chain of a million tasks must not use a million stack
/// frames. So only the outermost call drops; the inner ones line up.
pub(crate) fn drop_refused(jobs: impl IntoIterator<Item = Job>) {
    let mut jobs: Vec<Job> = jobs.into_iter().collect();
    let outermost = DROPPING.try_with(|line| {
        let mut line = line.borrow_mut();
        match &mut *line {
            Some(waiting) => {
                waiting.append(&mut jobs);
                false
            }
            None => {
                *line = Some(std::mem::take(&mut jobs));
                true
            }
        }
    });
    match outermost {
        Ok(true) => {
            while let Some(job) = next_in_line() {
                drop(job);
            }
        }
        Ok(false) => {}
        // The thread is ending, and its locals are gone: no line to wait in.
        Err(_) => drop(jobs),
    }
}

/// The next job to drop; ends the line when there is none.
fn next_in_line() -> Option<Job> {
    let next = DROPPING.try_with(|line| {
        let mut line = line.borrow_mut();
        let next = line.as_mut().and_then(Vec::pop);
        if next.is_none() {
            *line = None;
        }
        next
    });
    next.ok().flatten()
}
