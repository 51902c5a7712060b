//! A closure as a lane holds it, and where it lives: in a stack frame or in a box.
//!
//! The unsafe code of forks is in this file and in its two callers, which keep the promises
//! made here: `join.rs` for a [`StackJob`], the scope for a [`BoxJob`].

use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;

use ws_core::sync::UnsafeCell;

use super::latch::OnceLatch;
use crate::base::panics::{Payload, contain};

/// A closure that may be run by another worker; one pointer.
///
/// The holder must run it, unless it is the owner that popped its own fork back.
#[must_use = "a worker waits for it"]
#[derive(PartialEq, Eq)]
pub struct Fork(NonNull<Header>);

// SAFETY: a fork is made only of closures and results that are `Send`.
unsafe impl Send for Fork {}

impl Fork {
    /// Runs the fork, out of the lane of the worker `owner`. Its panics go to the worker that
    /// waits for it. Returns that worker if it sleeps and must be unparked.
    pub fn run(self, owner: usize) -> Option<usize> {
        // SAFETY: the job is alive, since its fork was not run yet.
        let run = unsafe { self.0.as_ref() }.run;
        // SAFETY: it is this job's function, and the fork is used up.
        unsafe { run(self.0, owner) }
    }
}

/// What every job begins with.
struct Header {
    /// Runs the job that this is the header of; see [`Fork::run`].
    run: unsafe fn(NonNull<Header>, usize) -> Option<usize>,
}

/// A job in the stack frame that waits for it.
#[repr(C)]
pub struct StackJob<F, R> {
    header: Header,
    latch: OnceLatch,
    /// Taken out by the thread that has the fork.
    code: UnsafeCell<ManuallyDrop<F>>,
    /// Written by a thief, before it sets the latch.
    result: UnsafeCell<MaybeUninit<Result<R, Payload>>>,
}

impl<F, R> StackJob<F, R>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    /// A job whose fork is in no lane yet. The fork must go into the lane of the worker that
    /// waits for it: a thief unparks the owner of the lane.
    #[inline(always)]
    pub fn new(code: F) -> Self {
        Self {
            header: Header { run: Self::run },
            latch: OnceLatch::new(),
            code: UnsafeCell::new(ManuallyDrop::new(code)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// The latch that is set when a thief has run the fork.
    pub fn latch(&self) -> &OnceLatch {
        &self.latch
    }

    /// The fork of this job.
    ///
    /// # Safety
    ///
    /// Must be called once. The job must stay in its place until the caller has the fork again,
    /// or the latch is set.
    #[inline(always)]
    pub unsafe fn fork(&self) -> Fork {
        Fork(NonNull::from(self).cast())
    }

    /// Whether `fork` is this job's.
    #[inline(always)]
    pub fn owns(&self, fork: &Fork) -> bool {
        fork.0 == NonNull::from(self).cast()
    }

    /// Takes the code out.
    ///
    /// # Safety
    ///
    /// The caller has the fork, or has taken it back, and calls this once.
    #[inline(always)]
    pub unsafe fn take_code(&self) -> F {
        self.code.with_mut(|code| {
            // SAFETY: the fork gives the right to the cell.
            let code = unsafe { &mut *code };
            // SAFETY: it is taken once.
            unsafe { ManuallyDrop::take(code) }
        })
    }

    /// Takes the result out.
    ///
    /// # Safety
    ///
    /// The latch was seen set, and this is called once.
    pub unsafe fn take_result(&self) -> Result<R, Payload> {
        self.result.with(|result| {
            // SAFETY: the thief is done with the cell.
            let result = unsafe { &*result };
            // SAFETY: it was written, and is read once.
            unsafe { result.assume_init_read() }
        })
    }

    /// Runs the job on a thief.
    ///
    /// # Safety
    ///
    /// `header` is that of such a job, and the caller has its fork.
    unsafe fn run(header: NonNull<Header>, owner: usize) -> Option<usize> {
        // SAFETY: the header is the first field of the job, by its representation, and
        // the job is alive until the latch is set.
        let this = unsafe { header.cast::<Self>().as_ref() };
        // SAFETY: the caller has the fork.
        let code = unsafe { this.take_code() };
        let outcome = contain(code);
        this.result.with_mut(|result| {
            // SAFETY: no other thread touches the cell before the latch is set.
            let result = unsafe { &mut *result };
            result.write(outcome);
        });
        // The last use of the job.
        this.latch.set().then_some(owner)
    }
}

/// A job in a box of its own, without a result.
#[repr(C)]
pub struct BoxJob<F> {
    header: Header,
    code: F,
}

impl<F> BoxJob<F>
where
    F: FnOnce() -> Option<usize> + Send,
{
    /// The fork of `code`, which must not panic; what it returns is what [`Fork::run`]
    /// returns. If the fork is never run, `code` is leaked.
    ///
    /// # Safety
    ///
    /// What `code` borrows outlives the fork.
    pub unsafe fn fork(code: F) -> Fork {
        let header = Header { run: Self::run };
        let job = Box::leak(Box::new(Self { header, code }));
        Fork(NonNull::from(job).cast())
    }

    /// Runs the job.
    ///
    /// # Safety
    ///
    /// `header` is that of such a job, and the caller has its fork.
    unsafe fn run(header: NonNull<Header>, _: usize) -> Option<usize> {
        // SAFETY: `fork` has leaked this box, and its fork is used up.
        let this = unsafe { Box::from_raw(header.cast::<Self>().as_ptr()) };
        let code = this.code;
        code()
    }
}
