//! Sorting in parallel.
//!
//! The slice is divided at its median until there are a few pieces for each worker. The
//! standard library finds the median in linear time (`select_nth_unstable_by`), and sorts the
//! pieces. The halves are equal, whatever the input. There is no merging, so no second buffer.
//! The first median is found sequentially: on two workers, sorting a million numbers takes
//! about two thirds of the time.

use std::cmp::Ordering;

use crate::api::global::install;
use crate::scheduler::worker::current;

/// A slice of this length is sorted in some hundred microseconds; shorter pieces are not
/// worth dividing. Not measured.
const SMALL: usize = 4_096;

/// How many pieces there are for each worker. More pieces balance better, and each time their
/// number doubles they cost another median. Not measured.
const PIECES: usize = 4;

/// Sorts the slice; the order of equal items may change.
///
/// ```
/// let mut numbers: Vec<u32> = (0..10_000).rev().collect();
/// ws_executor::par::par_sort_unstable(&mut numbers);
/// assert!(numbers.is_sorted());
/// ```
///
/// # Panics
///
/// If `T`'s comparison panics. If the comparison is not a total order, the function may panic,
/// too; otherwise the order of the items is unspecified.
pub fn par_sort_unstable<T: Ord + Send>(slice: &mut [T]) {
    par_sort_unstable_by(slice, T::cmp);
}

/// As [`par_sort_unstable`], with the comparison `compare`.
///
/// ```
/// let mut words = ["bb", "a", "ccc"];
/// ws_executor::par::par_sort_unstable_by(&mut words, |a, b| b.len().cmp(&a.len()));
/// assert_eq!(words, ["ccc", "bb", "a"]);
/// ```
///
/// # Panics
///
/// If `compare` panics. If it is not a total order, the function may panic, too; otherwise the
/// order of the items is unspecified.
pub fn par_sort_unstable_by<T: Send>(slice: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    if slice.len() <= SMALL {
        return slice.sort_unstable_by(compare);
    }
    install(|| {
        let workers = current::with_any(|worker| worker.map_or(1, |worker| worker.workers()));
        let pieces = if workers == 1 { 1 } else { workers * PIECES };
        let enough = slice.len().div_ceil(pieces).max(SMALL);
        sort(slice, &compare, enough);
    });
}

/// Sorts a piece, divided into pieces of up to `enough` items.
fn sort<T: Send>(piece: &mut [T], compare: &(impl Fn(&T, &T) -> Ordering + Sync), enough: usize) {
    if piece.len() <= enough {
        return piece.sort_unstable_by(compare);
    }
    let middle = piece.len() / 2;
    let (left, _, right) = piece.select_nth_unstable_by(middle, compare);
    crate::join(
        || sort(left, compare, enough),
        || sort(right, compare, enough),
    );
}
