//! Pipelines: one graph, or one closure, that runs for every item of a stream. The number of
//! items in flight is bounded, and no item is lost.
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
//! A pipeline runs on any [`ws_core::Spawn`].
//!
//! # Guarantees
//!
//! 1. An item is in flight from its pull until it is done, skipped or a dead letter. There are
//!    never more than [`in_flight`](Builder::in_flight) such items, even if a node or a sink
//!    stalls.
//! 2. Each item that is pulled ends in exactly one count of the [`Report`]: done, skipped,
//!    dead-lettered, failed, cancelled. At any moment the counts of the [`Progress`] add up.
//! 3. An item is acknowledged to its [`Source`] once: when the [`Sink`] has completed the push
//!    of its results, when the item was skipped, or when the sink of dead letters has it. An
//!    item that fails for good or is cancelled is not acknowledged. So with a source that gives
//!    such items again, every item is done at least once.
//! 4. An item that waits does not keep other items from running. In an ordered pipeline, the
//!    results of later items wait for it.
//! 5. A panic anywhere is a failure of its item, or an error of its source or sink.
//! 6. When a run is over, for any cause, its futures and items have been dropped.
//!
//! # How a run ends
//!
//! | cause | items in flight | result |
//! |---|---|---|
//! | the source ends | are finished | the report |
//! | [`drain`](Running::drain) | are finished, or cancelled when the time is over | the report |
//! | [`cancel`](Running::cancel), or a drop | are cancelled | the report; after a drop, a [`Watch`] has it |
//! | [`Route::Stop`], an error of a sink | are cancelled | [`RunError`] |
//! | an error of the source | are finished | [`RunError`] |
//! | the executor is shut down | are cancelled | [`RunError`] |
//!
//! # How it works
//!
//! A *lane* is a task that takes items, one after the other, and runs the whole graph for each.
//! There is no channel between nodes, so no channel can fill up, wake a task or copy an item.
//! Lanes take items in chunks. A lane whose item waits gives the rest of its chunk back. So a
//! pipeline that only computes has as many lanes as the executor has workers, and a pipeline
//! whose items wait has up to as many as items may be in flight. Results gather before the sink
//! and are pushed together, one push at a time (modules `lane`, `state`, `outlet`).
//!
//! # What it does not do
//!
//! - A pipeline does not preempt: an item that computes for long delays the other tasks of its
//!   worker, and the few items that its lane has taken.
//! - Exactly-once delivery is up to the sink, for example by keys that overwrite.
//! - `in_flight` counts items, not results: a node that fans out may make any number of results
//!   of one item.

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
