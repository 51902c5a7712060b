//! Pipelines: one graph, run for every item of a stream.

mod per_item;

pub use per_item::{NodeReport, PerItem, Verdict};
