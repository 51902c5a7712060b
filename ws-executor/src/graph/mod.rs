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
//! 1. A `let` at the top of the body is a **node**. Its expression may be a call, a block, a
//!    `match`, a macro. A use of the node's name in another statement is an **edge**. Nodes
//!    whose inputs are ready run at the same time. A node without a user is an error, unless
//!    its name begins with `_`.
//! 2. Any other statement is a **fence**: it waits for all statements above it, and all
//!    statements below wait for it. The result is a fence, too. Only a fence may `return`.
//! 3. A value moves into its only user. If it has several users, it moves into a user that is
//!    ordered after all others. The other users share the value: its name stands for the value
//!    behind a reference. So `&order`, `order.id` and `order.total()` mean what they always do,
//!    and rustc rejects a move out of the value. A name is bound once, and a node is not `mut`.
//!    A run by `on` drops a value when its last user ends; a plain call drops it at the end of
//!    the function. A guard or a temporary directory must therefore be named once more, in a
//!    fence or in the result, if other nodes rely on it without its name.
//! 4. `?` ends the run with that error, converted as usual. The other nodes are cancelled:
//!    their futures are dropped before the run returns. A graph can fail if its return type is
//!    written `Result<…>` or `Option<…>`. For a type alias, write `#[task_graph(fallible)]`;
//!    otherwise the graph cannot be used as a pipeline.
//! 5. A `let` with a written type, `let sum: i64 = …`, is public: `until_sum` runs the nodes
//!    that it needs and returns its value. There is no `until_sum` if a `return` above may keep
//!    the value from being computed. A type that only the body can complete or name is not
//!    public: `Vec<_>`, `&str`, a `struct` of the body.
//! 6. An input `#[shared] db: &Db` is borrowed by every node that uses it. A parallel run takes
//!    it as an `Arc<Db>`. The users of `#[shared(exclusive)] db: &mut Db` run one after the
//!    other, in the order of the source. A parallel run takes this input as an
//!    [`Exclusive<Db>`](Exclusive), which several runs may share. A node that uses several of
//!    them locks them in one order, which is the same for all graphs: so two nodes cannot
//!    deadlock. In a pipeline, an item that waits at a gate of a node has not locked anything
//!    yet. All other inputs are owned.
//! 7. Options are written `#[node(…)]` before the `let`; they are in the table below. A name in
//!    `retry`, `timeout`, `fallback` or `key` is a use by the node, like any other.
//! 8. Generics, `where` clauses, visibility, documentation and attributes are kept. The values
//!    of a parallel run must be `Send`, and `Sync` if they are shared. Its type parameters are
//!    `Send + Sync + 'static`. `#[task_graph(local)]` has no parallel run: its values may be of
//!    any type, and its inputs may be borrowed.
//! 9. A graph is a free function, not one of an `impl`, and also a module of the same name. No
//!    other module or import may have that name in the same scope. A `use` imports both.
//!
//! | argument | meaning |
//! |---|---|
//! | `local` | no parallel run, see 8 |
//! | `fallible` | the return type is an alias of a `Result` or an `Option`. `fallible = false`: the return type is neither, although its name is `Result` or `Option` |
//! | `crate = path` | the path of this crate, if the dependency is renamed or re-exported: `#[task_graph(crate = my_framework::executor)]` |
//!
//! | option | meaning |
//! |---|---|
//! | `retry(3)` | after a failure, up to three more attempts |
//! | `retry(3, backoff = "50ms..2s")` | … with a pause of 50 ms that doubles up to 2 s |
//! | `retry(3, when = StockError::is_transient)` | … if this returns true for the error of the node's `?`. If the node has several `?`, or one in a macro, it gets the error of the graph |
//! | `timeout = "800ms"` | an attempt that takes longer is dropped and counts as a failure. It is retried whatever `when` says. A timeout of the last attempt ends the run with [`TimedOut`] |
//! | `fallback = value` | the value after the last failure; without it, that failure ends the run |
//! | `after(a, b)` | waits for these nodes as well |
//! | `limit = 8` | at most 8 runs of one bound graph are in the node at a time, or 8 items of one pipeline. One bound graph is one `on(…)` with its clones. A run is not in the node during a pause between attempts. The number must be a constant, as for `queue` and `max`. A plain call is not bound, and has no limits |
//! | `blocking` | runs on a thread for blocking code. The node is not cancelled: the run waits for it. In a plain call it runs on the calling thread |
//! | `graph` | calls another graph, by any path of its function. Its nodes run in parallel, too |
//! | `inline`, `spawn` | `inline`: runs on the branch that made it ready. `spawn`: runs on a task of its own |
//! | `name = "text"` | the name in messages and pictures |
//!
//! # Names in macros
//!
//! Some macros are read like any other code: those of the standard library that take
//! expressions (`format!` and its kind, `assert!` and its kind, `vec!`, `matches!`), `join!`
//! and `try_join!`. There, `{order}` in a format string is a use of `order`.
//!
//! The input of any other macro is passed on unchanged. Each identifier in it that names a
//! value above counts as a use, and so does `{order}` in a string. Fields, methods, path
//! segments and the left side of `name = value` do not count.
//!
//! If the value is shared, its name in such a macro stands for a copy if the value is `Copy`,
//! and else for a reference. So `info!(order.id, %total)`, `json!({ "id": id })` and
//! `ensure!(total > 0)` mean what they always do. If a macro needs the value itself, make it
//! outside: `let name = order.name.clone();`. The compiler must know the type of the value at
//! that point, to decide whether it is `Copy`.
//!
//! A `?` in a macro whose input is not expressions may mean anything, and is left to rustc.
//!
//! # Over a stream
//!
//! A graph with one input that is not `#[shared]` is also a pipeline over items of that type.
//! `bind` takes the shared inputs once, as an empty `Shared {}` if there are none. It makes a
//! [`pipeline::Builder`](crate::pipeline::Builder):
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
//! One task runs all nodes of an item, and polls those that are ready at the same time. `Ok`
//! and `Some` are results, `Err` is a failure with the name of its node, `None` and `skip!()`
//! filter the item out. `skip!()` may stand anywhere except in closures and async blocks. If a
//! macro of your own has that name, call it by a path.
//!
//! The following options are *gates*. They are for a pipeline alone:
//!
//! | option | meaning |
//! |---|---|
//! | `rate = "500/s"` | calls, including retries, begin at least 2 ms apart. No bursts: an idle second does not allow 500 calls at once. The units are `s`, `m` or `min`, `h` |
//! | `batch(x, max = 500, within = "200ms")` | one call gets the `x` of many items as a `Vec`. The call begins when 500 items wait, when the first has waited for 200 ms, or when no further item can arrive. It returns a `Vec` with one answer for each item, in order, or a `Result` of such a `Vec`; another number of answers panics. An error goes to every item of the batch, so its type must be `Clone`. `retry`, `timeout`, `limit` and `rate` apply to the call. The node may use `x` of its items alone; its other inputs must be `#[shared]` |
//! | `key = event.user` | items with the same key are in the node one at a time, in the order of the source. A key is `Hash`. An item waits until all items before it have reached the node, or have ended |
//! | `queue = 16` | at most 16 items wait before the node. The next item waits inside the node before, where it still counts for its `limit`. That node must not have `batch` |
//! | `flat`, `flat = 8` | the value is an iterator. The statements below run for each of its elements: one at a time, or eight. Like a fence, the node waits for all statements above. The item has the results of all elements, or the first error. `skip!()` leaves an element out |
//!
//! A window by count or by time is a batch: its node folds the `Vec`, and returns the result
//! for each item of the window, or for one of them.
//!
//! A plain call and a run by `on` ignore `rate`, `queue` and `key`, and call a batch with one
//! item. A graph with `flat` or `skip!()` can have no result or many, so only a pipeline can
//! run it: it is not a function, and its module has only `bind` and `GRAPH`. In a pipeline, a
//! node with `blocking` owns its inputs, except the shared ones. If its item is cancelled, the
//! pipeline does not wait for the node.
//!
//! # More
//!
//! [`each()`](fn@each) and [`try_each`] do the same work for every item of a list, inside a
//! node and with a bound on how many run at a time.
//!
//! A [`DynGraph`] is built while the program runs, for graphs whose shape is data.
//!
//! `report::GRAPH` is the shape of the graph, with [`mermaid`](Graph::mermaid),
//! [`dot`](Graph::dot) and [`svg`](Graph::svg); the picture is also in the function's
//! documentation.
//!
//! `report::test(&handle)` runs the graph under test, with made-up outcomes and virtual time
//! ([`testing`]). `report::on(&handle).observer(…)` tells an [`Observer`] what happens.
//! [`Stats`] is an observer, and so is `Spans`, with the feature `tracing`.
//!
//! A duration is a string with a unit (`ns`, `us`, `ms`, `s`, `m` or `min`, `h`), or any
//! expression of type `Duration`.
//!
//! # How a run ends
//!
//! A panic in a node is raised again where the run is awaited, after the other nodes were
//! cancelled; the executor is unharmed. Dropping a run cancels it. A run that exceeds its
//! `deadline` ends with [`TimedOut`]; a deadline of zero has passed before any node runs. If
//! the executor is shut down while it has a task of the run, the run panics, as awaiting that
//! task would.
//!
//! # What it does not do
//!
//! - A plain call has no limits and no observer; its blocking nodes run on the calling thread.
//! - The value of a node cannot borrow from the value of another node, except in a local graph
//!   where no nodes run at the same time.
//! - A shared value is captured by reference, even if it is `Copy`. Code that spawns a task or
//!   a thread must copy it before: `{ let id = id; spawn(async move { … }) }`.
//! - A `return` inside a macro returns from the node's code alone. `return Err(…)` still ends
//!   the run, but `return Ok(…)` must be written outside macros.
//! - The body is compiled once for each way to run it, with the items in it. A `static` must
//!   stand above the function, and so must an `impl` if neither its type nor its trait is
//!   defined in the body.
//! - A graph that is called with the option `graph` has no `#[shared]` inputs, and does not
//!   share limits with other runs.
//! - A pipeline has no `deadline`, no observer and no `test` of its own: a node has its
//!   `timeout`, and the [`Report`](crate::pipeline::Report) has the counts of each node.
//! - The macro does not work in a crate with `#![no_implicit_prelude]`.
//!
//! # How it works
//!
//! The macro emits the function itself, whose nodes are polled by the calling task, and a
//! module of the same name with everything else. If only one node can run at a time, the
//! function is the code as written.
//!
//! A parallel run is one allocation: a slot for each value, and a counter of missing inputs for
//! each node. A task runs nodes one after the other. Of the nodes that it made ready it runs
//! the first itself and spawns the others (modules `run`, `group`, `slot`).
//!
//! A pipeline runs the code of the plain call for each item, with gates before its nodes
//! (module `item`). Time comes from a [`Timer`]: by default a thread, which the first node that
//! waits starts.

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
