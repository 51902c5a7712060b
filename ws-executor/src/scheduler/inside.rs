//! The threads that are inside a poll while the workers seem idle.
//!
//! A drain asks whether all workers are parked and all queues are empty. Three kinds of threads
//! do not show there. A worker that waits in a nested `block_on` is parked, in the middle of a
//! poll. A spare thread is not a worker, and polls tasks that it took out of the queues. The
//! monitor moves tasks from one queue to another. All of them count themselves here.
//!
//! # Why a drain does not miss one
//!
//! A thread first counts itself, and then takes a job. The drain first looks at the queues, and
//! then at the count. If it has seen a queue empty because the job was taken, it sees the
//! count. If it sees that the count was lowered again, it also sees what that thread has pushed
//! meanwhile, or that a worker was notified of it: a push notifies no worker only if one
//! searches. [`all_parked_while`](crate::scheduler::sleep::Sleepers::all_parked_while) sees first that none
//! searches, and last whether one was taken out of the wake table since.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `inside.entered` | fence in `enter`, before a job is taken | fence in `is_empty`, after the queues were seen empty | the count |
//! | `inside.left` | lowering the count | reading it | all that happened inside |

use ws_core::sync::atomic::{AtomicUsize, Ordering, fence};

/// A count of the threads inside.
pub struct Inside(AtomicUsize);

/// A thread is inside until this is dropped.
#[must_use = "the thread is inside until this is dropped"]
pub struct StayingInside<'a>(&'a Inside);

impl Inside {
    /// A count of zero.
    pub fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Counts the calling thread, before it takes a job.
    pub fn enter(&self) -> StayingInside<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        // ORDERING(inside.entered): without it a drain may see the queues empty, but not why.
        fence(Ordering::SeqCst);
        StayingInside(self)
    }

    /// Whether no thread is inside. Must be asked after the queues were seen empty.
    pub fn is_empty(&self) -> bool {
        // ORDERING(inside.entered): the other side.
        fence(Ordering::SeqCst);
        // ORDERING(inside.left): acquire side.
        self.0.load(Ordering::Acquire) == 0
    }

    /// Whether a thread is inside, at some moment.
    pub fn seems_taken(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

impl Drop for StayingInside<'_> {
    fn drop(&mut self) {
        // ORDERING(inside.left): release side.
        self.0.0.fetch_sub(1, Ordering::Release);
    }
}
