//! What every contender has to do here, and which ones there are.
//!
//! A case is written once, over this trait. The methods are what a user of the
//! contender would write, and inlined: an adapter adds nothing to that.

use std::fmt;
use std::ops::Range;

use benches::options::write_name;
use clap::ValueEnum;

/// Threads that run forks.
pub(crate) trait Pool: Sized + 'static {
    /// What code on the pool holds to fork: chili passes something down, others find
    /// their worker by themselves.
    type Scope<'s>;

    /// Starts a pool of that many threads that can run forks.
    fn new(workers: usize) -> Self;

    /// Runs `code` on the pool, and returns what it does. The calling thread waits, or
    /// is one of the pool's while it does.
    fn enter<R: Send>(&self, code: impl FnOnce(&mut Self::Scope<'_>) -> R + Send) -> R;

    /// Runs `a`, and `b` beside it or after it.
    fn join<A, B, RA, RB>(scope: &mut Self::Scope<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Self::Scope<'_>) -> RA + Send,
        B: FnOnce(&mut Self::Scope<'_>) -> RB + Send,
        RA: Send,
        RB: Send;

    /// Calls `code` with each number, by the contender's own loop if it has one.
    fn for_each(
        scope: &mut Self::Scope<'_>,
        numbers: Range<usize>,
        code: &(impl Fn(usize) + Sync),
    ) {
        match numbers.len() {
            0 => {}
            1 => code(numbers.start),
            len => {
                let middle = numbers.start + len / 2;
                Self::join(
                    scope,
                    |scope| Self::for_each(scope, numbers.start..middle, code),
                    |scope| Self::for_each(scope, middle..numbers.end, code),
                );
            }
        }
    }
}

/// Which contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// The same code without forks, on the calling thread.
    Sequential,
    Ws,
    Rayon,
    Chili,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(self, f)
    }
}
