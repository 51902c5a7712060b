//! Parallel loops over slices and ranges.
//!
//! ```
//! use ws_executor::par;
//!
//! let words = ["fork", "join", "steal"];
//! assert_eq!(par::par_map(&words[..], |word| word.len()), [4, 4, 5]);
//! ```
//!
//! A loop runs on the executor of the calling task, or on the process-wide one, and returns
//! when all items are done. If the calling thread is a worker, it takes part. Closures may
//! borrow. A panic in a closure continues after everything that was begun has ended.
//!
//! There is no grain size to choose, because work is divided on demand: a worker without work
//! takes half of what another worker has left. A loop that nobody takes from is hardly divided
//! at all (`drive.rs`).
//!
//! # When to use rayon instead
//!
//! These loops are for a program that is otherwise asynchronous, and has one pool of threads
//! for both. There are no parallel iterators: no `filter`, `zip`, `flat_map`, no collecting
//! into maps, no early exit. If a program is mainly about loops, use rayon's iterators. They
//! are the better tool, and cost a second pool.

mod drive;
mod sort;
mod source;

use self::drive::{Consumer, drive};
use crate::api::global::install;

pub use self::sort::{par_sort_unstable, par_sort_unstable_by};
pub use self::source::Source;

/// Calls `code` with each item.
///
/// ```
/// let mut numbers = [1, 2, 3, 4];
/// ws_executor::par::par_for_each(&mut numbers[..], |number| *number *= 2);
/// assert_eq!(numbers, [2, 4, 6, 8]);
/// ```
///
/// # Panics
///
/// If `code` does; and see the [module](self).
pub fn par_for_each<S: Source>(source: S, code: impl Fn(S::Item) + Sync) {
    struct ForEach<C>(C);

    impl<S: Source, C: Fn(S::Item) + Sync> Consumer<S> for ForEach<C> {
        type Output = ();
        fn begin(&self, _: usize) {}
        fn feed(&self, (): (), items: S) {
            items.for_each(&self.0);
        }
        fn combine(&self, (): (), (): ()) {}
    }

    let consumer = ForEach(code);
    install(|| drive(source, &consumer));
}

/// Calls `code` with each item, and returns the results in the order of the items.
///
/// ```
/// let squares = ws_executor::par::par_map(0..5_u64, |n| n * n);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// # Panics
///
/// If `code` does, or if there are more results than memory can hold; and see the
/// [module](self).
pub fn par_map<S: Source, R: Send>(source: S, code: impl Fn(S::Item) -> R + Sync) -> Vec<R> {
    struct Map<C>(C);

    impl<S: Source, R: Send, C: Fn(S::Item) -> R + Sync> Consumer<S> for Map<C> {
        type Output = Vec<R>;

        fn begin(&self, items: usize) -> Vec<R> {
            let mut results = Vec::new();
            let reserved = results.try_reserve_exact(items);
            assert!(reserved.is_ok(), "more results than memory can hold");
            results
        }

        fn feed(&self, mut results: Vec<R>, items: S) -> Vec<R> {
            items.for_each(|item| results.push((self.0)(item)));
            results
        }

        fn combine(&self, mut left: Vec<R>, right: Vec<R>) -> Vec<R> {
            left.extend(right);
            left
        }
    }

    // Checked here, rather than in a part of the loop on some worker. There an allocation could
    // fail, which ends the process.
    let most = isize::MAX as usize / size_of::<R>().max(1);
    assert!(source.count() <= most, "more results than memory can hold");
    let consumer = Map(code);
    install(|| drive(source, &consumer))
}

/// Folds the items of each part with `fold`, beginning with `identity`, and then the
/// results of neighbouring parts with `combine`.
///
/// The division into parts varies from run to run. So the result is determined only if
/// `combine` is associative, and `identity` changes nothing.
///
/// ```
/// let words = ["a", "bb", "ccc"];
/// let length = ws_executor::par::par_reduce(
///     &words[..],
///     || 0,
///     |sum, word| sum + word.len(),
///     |left, right| left + right,
/// );
/// assert_eq!(length, 6);
/// ```
///
/// # Panics
///
/// If one of the closures does; and see the [module](self).
pub fn par_reduce<S: Source, R: Send>(
    source: S,
    identity: impl Fn() -> R + Sync,
    fold: impl Fn(R, S::Item) -> R + Sync,
    combine: impl Fn(R, R) -> R + Sync,
) -> R {
    struct Reduce<I, F, C>(I, F, C);

    impl<S, R, I, F, C> Consumer<S> for Reduce<I, F, C>
    where
        S: Source,
        R: Send,
        I: Fn() -> R + Sync,
        F: Fn(R, S::Item) -> R + Sync,
        C: Fn(R, R) -> R + Sync,
    {
        type Output = R;

        fn begin(&self, _: usize) -> R {
            (self.0)()
        }

        fn feed(&self, result: R, items: S) -> R {
            items.fold(result, &self.1)
        }

        fn combine(&self, left: R, right: R) -> R {
            (self.2)(left, right)
        }
    }

    let consumer = Reduce(identity, fold, combine);
    install(|| drive(source, &consumer))
}
