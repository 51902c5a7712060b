//! `join` on a worker.

use std::mem;
use std::panic::resume_unwind;

use super::job::StackJob;
use crate::base::panics::{drop_payload, ignore_panic};
use crate::scheduler::worker::Worker;

/// Runs both, `b` on any worker that has time. Returns when both have ended.
#[inline]
pub(crate) fn join<A, B, RA, RB>(worker: &Worker, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB + Send,
    RB: Send,
{
    let _entered = worker.enter_join();
    let job = StackJob::new(b);
    // SAFETY: `pending` does not let the job leave its place before the fork is back or has
    // been run, and nothing in between can panic.
    let fork = unsafe { job.fork() };
    worker.push_fork(fork);
    let pending = Pending { worker, job: &job };
    worker.shared().notify_fork();
    let first = a();
    // From here on nothing can panic until the fork is back, or has been run. The guard is not
    // asked for its fields: then it would have to be in memory.
    mem::forget(pending);
    let second = match take_back(worker, &job) {
        Whereabouts::Back => {
            // SAFETY: the fork is back, and no other thread has it.
            let code = unsafe { job.take_code() };
            code()
        }
        Whereabouts::Stolen => wait_for(worker, &job),
    };
    (first, second)
}

/// Where a fork is.
enum Whereabouts {
    Back,
    Stolen,
}

/// Takes the job's fork back, if it is still there.
#[inline(always)]
fn take_back<F, R>(worker: &Worker, job: &StackJob<F, R>) -> Whereabouts
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    loop {
        match worker.pop_fork() {
            Some(fork) if job.owns(&fork) => return Whereabouts::Back,
            // A scope that outlives this join has left this fork there.
            Some(other) => worker.run_fork(other, worker.index()),
            // Thieves steal the oldest forks first, so all of them were stolen.
            None => return Whereabouts::Stolen,
        }
    }
}

/// Waits for the thief.
#[cold]
fn wait_for<F, R>(worker: &Worker, job: &StackJob<F, R>) -> R
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    worker.help(job.latch());
    // SAFETY: the latch is set, and the result is taken here alone.
    match unsafe { job.take_result() } {
        Ok(value) => value,
        Err(payload) => resume_unwind(payload),
    }
}

/// A job whose fork is in the lane, or was stolen, while the first closure runs.
struct Pending<'a, F, R>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    worker: &'a Worker,
    job: &'a StackJob<F, R>,
}

/// The first closure has panicked: the second one is not run, or is waited for if it was
/// stolen.
impl<F, R> Drop for Pending<'_, F, R>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    #[cold]
    fn drop(&mut self) {
        match take_back(self.worker, self.job) {
            Whereabouts::Back => {
                // SAFETY: the fork is back, and no other thread has it.
                let code = unsafe { self.job.take_code() };
                ignore_panic(|| drop(code));
            }
            Whereabouts::Stolen => {
                // This thread is unwinding, and does not help others.
                self.worker.sleep_on(self.job.latch());
                // SAFETY: the latch is set, and the result is taken here alone.
                let result = unsafe { self.job.take_result() };
                // The first panic is the one that is reported.
                match result {
                    Ok(value) => ignore_panic(|| drop(value)),
                    Err(payload) => drop_payload(payload),
                }
            }
        }
    }
}
