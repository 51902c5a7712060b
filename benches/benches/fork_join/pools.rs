//! The contenders, and two that are none: sequential code, and one that counts.

use std::num::NonZero;
use std::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use ws_executor::{Executor, par};

use crate::pool::Pool;

/// The same calls in the same order, without forks.
pub(crate) struct Sequential;

impl Pool for Sequential {
    type Scope<'s> = ();

    fn new(_: usize) -> Self {
        Self
    }

    fn enter<R: Send>(&self, code: impl FnOnce(&mut ()) -> R + Send) -> R {
        code(&mut ())
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(scope: &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let first = a(scope);
        let second = b(scope);
        (first, second)
    }

    fn for_each((): &mut (), numbers: Range<usize>, code: &(impl Fn(usize) + Sync)) {
        numbers.for_each(code);
    }
}

/// Counts the joins of a case.
pub(crate) struct Count;

impl Pool for Count {
    type Scope<'s> = usize;

    fn new(_: usize) -> Self {
        Self
    }

    fn enter<R: Send>(&self, code: impl FnOnce(&mut usize) -> R + Send) -> R {
        code(&mut 0)
    }

    fn join<A, B, RA, RB>(joins: &mut usize, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut usize) -> RA + Send,
        B: FnOnce(&mut usize) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        *joins += 1;
        (a(joins), b(joins))
    }
}

/// Ours. The work is one poll of a task, which is where joins are cheapest to write.
pub(crate) struct Ws(Executor);

impl Pool for Ws {
    type Scope<'s> = ();

    fn new(workers: usize) -> Self {
        let executor = Executor::builder().workers(workers).build();
        Self(executor.expect("threads can be started"))
    }

    fn enter<R: Send>(&self, code: impl FnOnce(&mut ()) -> R + Send) -> R {
        self.0.scope(|scope| {
            let task = scope.spawn(async { code(&mut ()) });
            self.0.block_on(task)
        })
    }

    #[inline(always)]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        ws_executor::join(|| a(&mut ()), || b(&mut ()))
    }

    fn for_each((): &mut (), numbers: Range<usize>, code: &(impl Fn(usize) + Sync)) {
        par::par_for_each(numbers, code);
    }
}

pub(crate) struct Rayon(rayon::ThreadPool);

impl Pool for Rayon {
    type Scope<'s> = ();

    fn new(workers: usize) -> Self {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build();
        Self(pool.expect("threads can be started"))
    }

    fn enter<R: Send>(&self, code: impl FnOnce(&mut ()) -> R + Send) -> R {
        self.0.install(|| code(&mut ()))
    }

    #[inline(always)]
    fn join<A, B, RA, RB>((): &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }

    fn for_each((): &mut (), numbers: Range<usize>, code: &(impl Fn(usize) + Sync)) {
        numbers.into_par_iter().for_each(code);
    }
}

/// Its calling thread is one of the workers, and it runs the second closure of a join
/// first, so the two change places here.
pub(crate) struct Chili(chili::ThreadPool);

impl Pool for Chili {
    type Scope<'s> = chili::Scope<'s>;

    fn new(workers: usize) -> Self {
        Self(chili::ThreadPool::with_config(chili::Config {
            thread_count: NonZero::new(workers),
            ..chili::Config::default()
        }))
    }

    fn enter<R: Send>(&self, code: impl FnOnce(&mut chili::Scope<'_>) -> R + Send) -> R {
        code(&mut self.0.scope())
    }

    #[inline(always)]
    fn join<A, B, RA, RB>(scope: &mut chili::Scope<'_>, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut chili::Scope<'_>) -> RA + Send,
        B: FnOnce(&mut chili::Scope<'_>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let (second, first) = scope.join(b, a);
        (first, second)
    }
}
