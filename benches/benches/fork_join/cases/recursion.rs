//! Joins of joins of nothing: what the join alone costs.

use std::hint::black_box;

use crate::case::Case;
use crate::pool::Pool;

pub(crate) struct JoinRecursively;

const DEPTH: u32 = 16;

impl Case for JoinRecursively {
    const REPEATS: usize = 16;

    type Input = ();

    fn name() -> String {
        format!("join_recursively({DEPTH})")
    }

    fn input() {}

    fn run<P: Pool>(scope: &mut P::Scope<'_>, (): &mut ()) -> u64 {
        join_recursively::<P>(scope, black_box(DEPTH));
        0
    }
}

fn join_recursively<P: Pool>(scope: &mut P::Scope<'_>, depth: u32) {
    if black_box(depth) == 0 {
        return;
    }
    P::join(
        scope,
        |scope| join_recursively::<P>(scope, depth - 1),
        |scope| join_recursively::<P>(scope, depth - 1),
    );
}
