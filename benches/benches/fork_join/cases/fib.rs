//! Fibonacci numbers by their definition, with a join for each sum: hardly any work
//! beside the joins.

use std::hint::black_box;

use crate::case::Case;
use crate::pool::Pool;

pub(crate) struct Fib<const N: u32, const REPEATS: usize>;

impl<const N: u32, const REPEATS: usize> Case for Fib<N, REPEATS> {
    const REPEATS: usize = REPEATS;

    type Input = ();

    fn name() -> String {
        format!("fib({N})")
    }

    fn input() {}

    fn run<P: Pool>(scope: &mut P::Scope<'_>, (): &mut ()) -> u64 {
        fib::<P>(scope, black_box(N))
    }
}

pub(crate) fn fib<P: Pool>(scope: &mut P::Scope<'_>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = P::join(
        scope,
        |scope| fib::<P>(scope, n - 1),
        |scope| fib::<P>(scope, n - 2),
    );
    a + b
}
