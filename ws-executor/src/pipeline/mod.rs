//! Pipelines: one graph, or one closure, run for every item of a stream, with a bound on
//! how many are in flight and nothing lost.
//!
//! ```
//! use ws_executor::Executor;
//! use ws_executor::pipeline::{self, Collect, Route};
//!
//! async fn parse(line: &'static str) -> Result<u32, std::num::ParseIntError> {
//!     line.parse()
//! }
//!
//! let executor = Executor::new();
//! let (numbers, rejected) = (Collect::new(), Collect::new());
//! let pipeline = pipeline::from_fn(&executor.handle(), parse)
//!     .iter(["1", "2", "x", "4"]) // or `source`: any `Stream`, any `Source`
//!     .in_flight(64) // the one number for memory and concurrency
//!     .ordered(true) // results leave in the order of the source
//!     .on_error(|failure| match failure.error {
//!         Some(_) => Route::DeadLetter,
//!         None => Route::Stop, // `failure.panic`
//!     })
//!     .dead_letter(rejected.clone())
//!     .sink(numbers.clone())
//!     .build()?;
//!
//! let running = pipeline.start(); // or `run`, which is awaited
//! println!("{:?}", running.progress());
//! let report = executor.block_on(running).unwrap();
//! println!("{report}");
//! assert_eq!(numbers.take(), [1, 2, 4]);
//! assert_eq!(rejected.take()[0].item, "x");
//! assert_eq!((report.items, report.done, report.dead_lettered), (4, 3, 1));
//! # Ok::<_, pipeline::BuildError>(())
//! ```
//!
//! It runs on any [`ws_core::Spawn`].
//!
//! # What is promised
//!
//! 1. An item is in flight from when it is pulled until it is done, skipped or a dead
//!    letter. There are never more than [`in_flight`](Builder::in_flight), whatever stalls.
//! 2. Each item that is pulled ends in exactly one count of the [`Report`]: done, skipped,
//!    dead-lettered, failed, cancelled. Counts and [`Progress`] always add up.
//! 3. An item is acknowledged to its [`Source`] once, after the [`Sink`] said that its
//!    results are safe, or it was skipped, or the sink of dead letters has it. What fails
//!    for good or is cancelled is not acknowledged. So with a source that gives such items
//!    again, every item is done at least once.
//! 4. An item that waits keeps no other from running; in an ordered pipeline it keeps those
//!    after it from leaving.
//! 5. A panic, wherever it is, is a failure of its item, or an error of its source or sink.
//! 6. When a run is over, however it ended, its futures and items have been dropped.
//!
//! # How a run ends
//!
//! | cause | items in flight | result |
//! |---|---|---|
//! | the source ends | are finished | the report |
//! | [`drain`](Running::drain) | are finished, or cancelled when the time is over | the report |
//! | [`cancel`](Running::cancel), or a drop | are cancelled | the report, or nobody hears |
//! | [`Route::Stop`], an error of a sink | are cancelled | [`RunError`] |
//! | an error of the source | are finished | [`RunError`] |
//! | the executor is shut down | are cancelled | [`RunError`] |
//!
//! # How it works
//!
//! An item is run by a *lane*, a task that takes one item after the other through the whole
//! graph: there is no channel between nodes, and so nothing to fill up, to wake or to copy
//! through. Lanes take items in chunks, and a lane whose item waits gives the rest of its
//! chunk back, so a pipeline that only computes has as many lanes as the executor has
//! workers, and one that waits has as many as items may be in flight. Results gather before
//! the sink and are pushed together, one push at a time (modules `lane`, `state`,
//! `outlet`).
//!
//! # What it does not do
//!
//! - It does not preempt: an item that computes for long keeps its worker, and the few
//!   items that its lane has taken.
//! - Exactly once is the sink's to give, for example by keys that overwrite.
//! - `in_flight` counts items, not results: a node that fans out makes as many results of
//!   an item as it likes.

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
