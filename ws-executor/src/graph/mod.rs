//! Task graphs: an ordinary `async fn` whose independent statements run at the same time.
//!
//! ```
//! use std::sync::Arc;
//! use ws_executor::{Executor, task_graph};
//!
//! #[task_graph]
//! async fn report(text: Arc<str>) -> Result<String, std::num::ParseIntError> {
//!     let numbers = parse(&text).await?;
//!     let sum: i64 = add(&numbers).await; // these two
//!     let largest = maximum(&numbers).await; // run at the same time
//!     Ok(format!("{} numbers, sum {sum}, largest {largest}", numbers.len()))
//! }
//!
//! # async fn parse(text: &str) -> Result<Vec<i64>, std::num::ParseIntError> {
//! #     text.split(' ').map(str::parse).collect()
//! # }
//! # async fn add(numbers: &[i64]) -> i64 { numbers.iter().sum() }
//! # async fn maximum(numbers: &[i64]) -> i64 { *numbers.iter().max().unwrap() }
//! let executor = Executor::new();
//! executor.block_on(async {
//!     // On the calling task, under any runtime:
//!     let plain = report("3 1 2".into()).await;
//!     assert_eq!(plain.as_deref(), Ok("3 numbers, sum 6, largest 3"));
//!     // In parallel, on any `ws_core::Spawn`:
//!     let parallel = report::on(&executor.handle()).run("3 1 2".into()).await;
//!     assert_eq!(parallel, plain);
//!     // Only as far as one node, whose type is written:
//!     let sum = report::on(&executor.handle()).until_sum("3 1 2".into()).await;
//!     assert_eq!(sum, Ok(6));
//! });
//! ```
//!
//! # The language
//!
//! 1. A `let` at the top of the body is a **node**. Any expression may be one: a call, a
//!    block, a `match`, a macro. Using its name in another one is an **edge**. Nodes whose
//!    inputs are ready run at the same time. A node that nobody uses is an error, unless
//!    its name begins with `_`.
//! 2. Any other statement is a **fence**: it waits for all above it and precedes all below
//!    it. So does the result. Only fences `return`.
//! 3. A value moves into its only user, or into the one that is ordered after all others.
//!    The other users share it: its name stands for the value behind a reference, so
//!    `&order`, `order.id` and `order.total()` mean what they always do, and moving out of
//!    it is rustc's error. A name is bound once; a node is not `mut`. In a run by `on` a
//!    value is dropped when its last user ends, in a plain call at the end of the function:
//!    a guard or a temporary directory that others rely on without its name is used once
//!    more, in a fence or in the result.
//! 4. `?` ends the run with that error, converted as usual. The other nodes are cancelled:
//!    their futures are dropped before the run returns. That a graph can fail is seen by
//!    the name of its return type, `Result` or `Option`; one by another name is said to be
//!    one, `#[task_graph(fallible)]`, or there is no pipeline of it.
//! 5. A `let` with a written type, `let sum: i64 = …`, is public: `until_sum` runs what it
//!    needs and returns it, unless a `return` above it may keep it from being computed. A
//!    type that only the body can complete or name is not public: `Vec<_>`, `&str`, a
//!    `struct` of the body.
//! 6. An input `#[shared] db: &Db` is borrowed by every node that uses it. A parallel run
//!    takes it as an `Arc<Db>`. The users of `#[shared(exclusive)] db: &mut Db` run one
//!    after the other, in the order of the source; a parallel run takes an
//!    [`Exclusive<Db>`](Exclusive), which several runs may share. A node that uses several
//!    of them waits for all, in one order for all graphs, so that no two wait for each
//!    other. In a pipeline, an item that waits at a gate of a node has not locked it. All
//!    other inputs are owned.
//! 7. Options are written `#[node(…)]` before the `let`; they are in the table below. A
//!    name in `retry`, `timeout`, `fallback` or `key` is used by the node like any other.
//! 8. Generics, `where` clauses, visibility, documentation and attributes are kept. A
//!    parallel run needs values that are `Send`, and `Sync` if they are shared; type
//!    parameters are `Send + Sync + 'static` there. `#[task_graph(local)]` has no parallel
//!    run: its values may be anything, and its inputs may be borrowed.
//! 9. A graph is a free function, not one of an `impl`, and a module of the same name: no
//!    other module or import of that name can stand beside it, and a `use` takes both.
//!
//! | argument | meaning |
//! |---|---|
//! | `local` | no parallel run, see 8 |
//! | `fallible` | the return type is a `Result` or an `Option` by another name, such as an alias. `fallible = false`: it is not, although it has that name |
//! | `crate = path` | where this crate is, if it is a dependency by another name, or re-exported: `#[task_graph(crate = my_framework::executor)]` |
//!
//! | option | meaning |
//! |---|---|
//! | `retry(3)` | after a failure, tries up to three times more |
//! | `retry(3, backoff = "50ms..2s")` | … with a pause of 50 ms that doubles up to 2 s |
//! | `retry(3, when = StockError::is_transient)` | … if this says so of the error of the node's `?`; if it has several, or one inside of a macro, of the error of the graph |
//! | `timeout = "800ms"` | an attempt that takes longer is dropped and has failed; it is retried whatever `when` says, and ends the run with [`TimedOut`] |
//! | `fallback = value` | the value after the last failure, instead of the end of the run |
//! | `after(a, b)` | waits for these nodes as well |
//! | `limit = 8` | at most so many runs of one bound graph, that is of one `on(…)` and its clones, or so many items of one pipeline, are in it at a time; a pause between attempts is outside. A constant, like `queue` and `max`. A plain call is not bound, and has no limits |
//! | `blocking` | runs on a thread for code that blocks, which is not cancelled: the run waits for it. In a plain call it runs where it is |
//! | `graph` | calls another graph, by any path of its function, whose nodes run in parallel as well |
//! | `inline`, `spawn` | runs on the branch that made it ready; runs on a task of its own |
//! | `name = "text"` | what it is called in messages and pictures |
//!
//! # Names in macros
//!
//! The macros of the standard library that take expressions (`format!` and its kind,
//! `assert!` and its kind, `vec!`, `matches!`), `join!` and `try_join!` are read like any
//! other code, and `{order}` in a format string is a use of `order`.
//!
//! Nobody knows what another macro does with its input. It gets it as it was written, and
//! every identifier in it that is the name of a value above counts as a use, but for
//! fields, methods, parts of paths, and `name` in `name = value`; so does `{order}` in a
//! string. If that value is shared, its name stands for a copy of it there, if it is
//! `Copy`, or else for a reference to it: `info!(order.id, %total)`, `json!({ "id": id })`
//! and `ensure!(total > 0)` mean what they always do, and where a macro needs the value
//! itself, make it outside: `let name = order.name.clone();`. Whether it is `Copy` is
//! decided there, so its type is known by then.
//!
//! A `?` in a macro whose input is not expressions may be anything, and is left to rustc.
//!
//! # Over a stream
//!
//! A graph with one input that is not `#[shared]` is also a pipeline over items of that
//! type. `bind` takes the shared inputs once, an empty `Shared {}` if there are none, and
//! makes a [`pipeline::Builder`](crate::pipeline::Builder):
//!
//! ```
//! use std::sync::Arc;
//! use ws_executor::pipeline::{Collect, Route};
//! use ws_executor::{Executor, task_graph};
//!
//! #[task_graph]
//! async fn ingest(line: String, #[shared] db: &Db) -> Result<usize, Trouble> {
//!     if line.is_empty() {
//!         skip!(); // filters the item out
//!     }
//!     #[node(limit = 8)]
//!     let event = parse(line)?;
//!     #[node(batch(event, max = 100, within = "20ms"), limit = 2)]
//!     let row: usize = db.insert(event).await?; // a `Vec` of events, for an answer each
//!     Ok(row)
//! }
//!
//! # struct Db;
//! #[derive(Clone, Debug)]
//! enum Trouble {
//!     Parse,
//!     Db,
//! }
//!
//! impl Db {
//!     async fn insert(&self, events: Vec<u32>) -> Result<Vec<usize>, Trouble> {
//!         Ok(events.into_iter().map(|event| event as usize).collect())
//!     }
//! }
//! # fn parse(line: String) -> Result<u32, Trouble> {
//! #     line.parse().map_err(|_| Trouble::Parse)
//! # }
//!
//! let executor = Executor::new();
//! let rows = Collect::new();
//! let pipeline = ingest::bind(&executor.handle(), ingest::Shared { db: Arc::new(Db) })
//!     .iter(["1", "", "x", "3"].map(str::to_owned))
//!     .in_flight(256) // at least the items of all batches that may be under way
//!     .on_error(|failure| match failure.error {
//!         Some(Trouble::Parse) => Route::Skip,
//!         Some(Trouble::Db) | None => Route::Stop,
//!     })
//!     .sink(rows.clone())
//!     .build()
//!     .unwrap();
//! let report = executor.block_on(pipeline.run()).unwrap();
//! assert_eq!((report.done, report.skipped), (2, 2));
//! assert!(rows.take().contains(&3));
//! ```
//!
//! One task runs all nodes of an item; those that are ready run at the same time there.
//! `Ok` and `Some` are results, `Err` is a failure with the name of its node, `None` and
//! `skip!()` filter the item out. `skip!()` stands anywhere but in closures and async
//! blocks; a macro of your own by that name is called by a path. These options are *gates*, for a pipeline alone:
//!
//! | option | meaning |
//! |---|---|
//! | `rate = "500/s"` | calls begin at least 2 ms apart, attempts included; what is not used is not saved up. The times are `s`, `m` or `min`, `h` |
//! | `batch(x, max = 500, within = "200ms")` | called once with the `x` of many items, as a `Vec`: when there are 500, when the first has waited so long, or when all items wait for company and no more come. Returns a `Vec` with one answer for each, in order, or a `Result` of one. Another number is a panic, and an error is that of all of these items, so it is `Clone`. `retry`, `timeout`, `limit` and `rate` are for the call. Of the items it has `x` alone; whatever else it uses is `#[shared]` |
//! | `key = event.user` | items with the same key, which is `Hash`, are in it one at a time and in the order of the source. An item waits there until all before it have come, or have ended |
//! | `queue = 16` | so many items wait before it; the next one waits in the node before, which has no `batch`, and keeps its place in the `limit` of that |
//! | `flat`, `flat = 8` | its value is an iterator, and what stands below runs for every element: one at a time, or eight. Like a fence, it waits for all above. An item has all of these results, or the first error; `skip!()` leaves an element out |
//!
//! A window by count or by time is a batch: its node folds the `Vec`, and gives the result
//! to each item of the window, or to one of them.
//!
//! A plain call, and a run by `on`, ignores `rate`, `queue` and `key`, and calls a batch
//! with one item. A graph with `flat` or `skip!()` can have no result or many: only a
//! pipeline can run it, so it is no function any more, and has only `bind` and `GRAPH`. In
//! a pipeline a node with `blocking` owns its inputs, other than those that are shared, and
//! is not waited for when its item is cancelled.
//!
//! # More
//!
//! [`each()`](fn@each) and [`try_each`] do the same for every item of a list inside of a node, with
//! a bound on how many at a time.
//!
//! A [`DynGraph`] is built while the program runs, for graphs whose shape is data.
//!
//! `report::GRAPH` is the shape of the graph, with [`mermaid`](Graph::mermaid),
//! [`dot`](Graph::dot) and [`svg`](Graph::svg); the picture is also in the function's
//! documentation.
//!
//! `report::test(&handle)` runs it under test, with made-up outcomes and virtual time
//! ([`testing`]); `report::on(&handle).observer(…)` tells an [`Observer`] what happens,
//! of which [`Stats`] is one, and `Spans`, with the feature `tracing`, another.
//!
//! A duration is a string with a unit (`ns`, `us`, `ms`, `s`, `m` or `min`, `h`), or any
//! expression of type `Duration`.
//!
//! # How a run ends
//!
//! A panic in a node is raised again where the run is awaited, after the other nodes were
//! cancelled; the executor is unharmed. Dropping a run cancels it. A run with a
//! `deadline` ends with [`TimedOut`]; a deadline of zero has passed before any node runs.
//! An executor that is shut down while it has a part of a run makes the run panic, as
//! awaiting one of its tasks would.
//!
//! # What it does not do
//!
//! - A plain call takes no part in limits, and nobody observes it; its blocking nodes
//!   run where they are.
//! - The value of a node cannot borrow from that of another one, except in a local graph
//!   where nothing runs at the same time.
//! - A value that is shared is captured by reference, also if it is `Copy`. What goes to a
//!   task or a thread of its own is copied before: `{ let id = id; spawn(async move { … }) }`.
//! - A `return` inside of a macro is that of the node's code alone: `return Err(…)` ends the
//!   run all the same, but `return Ok(…)` is written outside of macros.
//! - The body is compiled once for each way to run it, with the items in it. A `static`, or
//!   an `impl` for a type that is not defined there as well, goes above the function.
//! - A graph that is called with the option `graph` has no `#[shared]` inputs, and no
//!   limits in common with other runs.
//! - A pipeline has no `deadline`, no observer and no `test` of its own: a node has its
//!   `timeout`, and the [`Report`](crate::pipeline::Report) has the counts of each node.
//! - It does not work in a crate with `#![no_implicit_prelude]`.
//!
//! # How it works
//!
//! The macro emits the function itself, whose nodes are polled by the calling task, and
//! beside it a module of the same name with everything else. Where only one node can run
//! at a time the function is the code as written. A parallel run is one allocation with a
//! slot for each value and a counter of missing inputs for each node; a task runs nodes
//! one after the other, goes on with the first that it made ready, and spawns the others
//! (modules `run`, `group`, `slot`). A pipeline runs the code of the plain call for each
//! item, with gates before its nodes (module `item`). Time comes from a [`Timer`], by default a thread that
//! is started by the first node that waits.

mod attempt;
mod bound;
mod cancel;
mod describe;
mod dynamic;
mod each;
mod group;
mod item;
mod limit;
mod observe;
mod outcome;
mod run;
mod script;
mod seen;
mod slot;
#[cfg(feature = "tracing")]
mod spans;
pub mod testing;
mod timer;
mod virtual_time;

pub use describe::{Graph, Node, NodeKind};
pub use dynamic::{DynGraph, Output};
pub use each::{each, try_each};
pub use limit::{Exclusive, Locked};
pub use observe::{At, NodeStats, Observer, Stats};
pub use slot::Lent;
#[cfg(feature = "tracing")]
pub use spans::Spans;
pub use timer::{Sleep, ThreadTimer, TimedOut, Timer};

use ws_core::sync::{Mutex, MutexGuard};

/// What the expansion of `#[task_graph]` calls. Not covered by semantic versioning.
#[doc(hidden)]
pub mod rt {
    pub use super::attempt::{AttemptFailure, Pass, Retry, Site, attempts, once};
    pub use super::bound::Bound;
    pub use super::group::Group;
    pub use super::item::{
        BatchCause, BatchOutcome, Ends, Gates, Items, NodeGates, NodeGuard, Plain, Program,
        Returned, Run, States, answers, cause, element, ended, flat, flat_all, many, one, single,
        sure_element, verdict,
    };
    pub use super::limit::{Acquire, Limit, Permit, enter, turn, turns};
    pub use super::outcome::{
        Bounded, DeadlineFor, Early, Flow, Late, Outcome, Question, Unbounded, early, end, exit,
        go, late, never_late, no_result, no_value, own_question, question, unknown_step,
    };
    pub use super::run::{Ctx, Ended, Place, Plan, Returns, start};
    pub use super::seen::{Behind, Seen};
    pub use super::slot::{Back, Lent, Moves, Parallel, SharedSlot, Shares, Slot};
    pub use super::testing::{FromScript, Own, Script, Scripted, TestRun};
    pub use super::virtual_time::Tracking;
    pub use super::{Exclusive, Graph, ThreadTimer, TimedOut, Timer};
    pub use crate::pipeline::Verdict;
    pub use std::sync::Arc;
    pub use std::sync::atomic::AtomicU8;
    pub use ws_core::Spawn;
}

/// Locks; no user code runs under a lock here, so none is ever poisoned by it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
