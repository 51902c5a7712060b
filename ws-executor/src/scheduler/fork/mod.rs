//! Fork-join: closures that borrow from the stack, run by any worker that is free.
//!
//! # The idea
//!
//! `join(a, b)` on a worker puts `b` into the worker's *lane*, a deque of its own next to the
//! ring of tasks, and calls `a`. When `a` is done, the worker takes `b` back and calls it, as
//! if nothing had happened. That is what happens nearly always, and it costs a few nanoseconds.
//! Only if another worker was idle meanwhile, and has stolen `b`, must the worker wait for it.
//! An item of a lane is a *fork*: one pointer to a job. The job lives in the stack frame of its
//! `join` (`job.rs`), so nothing is allocated.
//!
//! ```text
//!   worker 1                  lane                          worker 2
//!   join(a, b)   ── push ──►  [ b ]
//!     a()                     [ b ]  ── steal (oldest) ──►  b()
//!     take b back: gone                                      │
//!     wait, helping  ◄────────────── latch ─────────────────┘
//! ```
//!
//! The owner pushes and pops at one end. Thieves take the oldest fork at the other end. The
//! oldest fork is the largest piece of the work, so a few steals keep all workers busy. That is
//! the scheduling of Cilk (Blumofe and Leiserson, *Scheduling multithreaded computations by
//! work stealing*, 1999) and the shape of rayon's `join`. Departures from rayon's `join`: the
//! lane is [`Uneven`](ws_core::chase_lev::Uneven), so that taking back needs no fence; a guard
//! waits for `b` when `a` panics, instead of a `catch_unwind` around `a`; and the workers are
//! those that poll tasks.
//!
//! # While a worker waits
//!
//! The worker *helps*: it runs other forks, its own and stolen ones, and never polls a task
//! (`worker/help.rs`). A task that is polled inside a waiting join could take as long as it
//! likes, call `join` itself, and so on: neither the stack nor the wait would have a bound. If
//! there is no fork to run, the worker sleeps until its latch is set or a fork is pushed.
//!
//! So that tasks do not wait for the worker meanwhile, the first `join` of a poll *hands over*
//! what the worker cannot do for a while: its LIFO slot, its ring and the driver
//! (`worker/lane.rs`). If all workers are in joins, there is no worker to hand over to; then a
//! [spare thread](crate::scheduler::monitor::spare) polls tasks.
//!
//! # Why no fork is forgotten
//!
//! A fork that no thief steals is taken back by its owner, so none is ever lost. But
//! parallelism can be lost, if a fork is pushed while workers sleep. There are two kinds of
//! sleepers: idle workers, in the wake table of [`sleep`](crate::scheduler::sleep), and helpers, which can
//! only run forks. Helpers have a table and a count of their own, a second instance of the same
//! protocol, because a helper that searches does not poll tasks. The pusher of a fork goes
//! through P2 to P5 of that protocol with the helpers' instance. If no helper searches or
//! sleeps, it does the same with the idle workers' instance. Workers of both kinds look at all
//! lanes at their step W4, so the proof is the same for both. The last helper that stops
//! searching looks for sleepers in both tables (S2, S3).
//!
//! # Why it is sound
//!
//! A fork is used once, by the thread that took it out of the lane by pop or by steal: the
//! deque gives it to one thread only. Its job is in a stack frame that is not left, by return
//! or by panic, before the fork is back or its latch is set. The thief does not touch the job
//! after it has set the latch.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | makes visible |
//! |---|---|---|---|
//! | `fork.latch` | thief: the swap that sets the latch | owner: the look that finds it set | the result of the fork, and all that it did |
//! | the deque's | push | steal | the job |

#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod job;
mod join;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod latch;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) use self::join::join;
