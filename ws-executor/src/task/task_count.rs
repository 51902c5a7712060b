//! The number of live tasks of an executor, split, so that no two workers write one cache line.
//!
//! The count is split as in the "percpu refcount" of the Linux kernel. Each worker has a
//! counter that it alone writes; threads outside share one more. A single counter may be
//! negative, because tasks move. Only the sum matters, and it is not needed before all workers
//! are gone. Then their counters no longer change, and are added to the shared one. From then
//! on the shared one is an ordinary reference count: at zero, the tasks' reference to the state
//! is dropped.
//!
//! The shared counter must not reach zero before that. So it starts with a large [`BIAS`],
//! which the adding takes away.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `task_count.end` | every decrement, `merge` | the decrement to zero | all uses of the state before its end |

use ws_core::sync::CachePadded;
use ws_core::sync::atomic::{AtomicI64, Ordering};

/// More tasks than can exist.
const BIAS: i64 = 1 << 62;

/// The number of live tasks, split.
pub struct TaskCount {
    outside: CachePadded<AtomicI64>,
    /// One for each worker, written by it alone.
    inside: Box<[CachePadded<AtomicI64>]>,
}

impl TaskCount {
    /// No tasks, and `workers` workers that will all end some day.
    pub fn new(workers: usize) -> Self {
        let zero = |_| CachePadded::new(AtomicI64::new(0));
        Self {
            outside: CachePadded::new(AtomicI64::new(BIAS)),
            inside: (0..workers).map(zero).collect(),
        }
    }

    /// About how many tasks there are.
    pub fn live(&self) -> usize {
        let outside = self.outside.load(Ordering::Relaxed);
        // Once the workers are gone their counters are in the shared one.
        let total = if outside < BIAS / 2 {
            outside
        } else {
            outside - BIAS + self.inside()
        };
        usize::try_from(total).unwrap_or(0)
    }

    fn inside(&self) -> i64 {
        let load = |count: &CachePadded<AtomicI64>| count.load(Ordering::Relaxed);
        self.inside.iter().map(load).sum()
    }

    /// Counts one more task, or one less, on the calling worker.
    #[inline]
    pub fn change_inside(&self, worker: usize, change: i64) {
        let count = &self.inside[worker];
        // One writer: no read-modify-write is needed.
        count.store(count.load(Ordering::Relaxed) + change, Ordering::Relaxed);
    }

    /// Counts one more task from outside. Returns false if the count has ended.
    pub fn join_outside(&self) -> bool {
        let more = |count: i64| (count > 0).then_some(count + 1);
        self.outside
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .is_ok()
    }

    /// Counts one task less from outside. Returns whether it was the last of all.
    #[must_use = "the last one releases the state"]
    pub fn leave_outside(&self) -> bool {
        // ORDERING(task_count.end): as for `Arc`; what each task did with the
        // state comes before its end.
        self.outside.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Ends the split, when all workers are gone. Returns whether no task is left.
    ///
    /// The caller must have synchronised with the end of every worker.
    #[must_use = "the last one releases the state"]
    pub fn merge(&self) -> bool {
        let rest = self.inside() - BIAS;
        // ORDERING(task_count.end): both sides.
        self.outside.fetch_add(rest, Ordering::AcqRel) + rest == 0
    }
}
