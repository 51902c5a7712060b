//! The cases. Parameters are those that fork-join libraries publish figures for.

pub(crate) mod fib;
mod queens;
mod recursion;
mod sort;
mod tree;
pub(crate) mod uneven;

use crate::case::Entry;

pub(crate) fn all() -> Vec<Entry> {
    vec![
        Entry::of::<fib::Fib<24, 16>>(),
        Entry::of::<fib::Fib<32, 1>>(),
        Entry::of::<tree::Tree<10, 1_000>>(),
        Entry::of::<tree::Tree<16, 16>>(),
        Entry::of::<recursion::JoinRecursively>(),
        Entry::of::<queens::Queens>(),
        Entry::of::<sort::MergeSort>(),
        Entry::of::<uneven::Uneven>(),
    ]
}
