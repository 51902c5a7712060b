//! Pipelines: one graph, or one closure, run for every item of a stream.

mod builder;
mod closure;
mod failure;
pub mod files;

mod lane;
mod outlet;
mod per_item;
mod report;
mod running;
mod shared;
mod sink;
mod source;
mod state;

pub use builder::Builder;
pub use closure::{FromFn, IntoVerdict, from_fn};
pub use failure::{BoxError, BuildError, Cause, DeadLetter, Failure, Route, RunError};
pub use per_item::{NodeReport, PerItem, Verdict};
pub use report::{Progress, Report};
pub use running::{Pipeline, Running, Watch};
pub use sink::{Collect, Forward, Sink, forward};
pub use source::{PullResult, Source};
