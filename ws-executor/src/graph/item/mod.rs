//! Graphs that run for every item of a stream: what `bind` makes.
//!
//! One task runs the whole graph of an item, as a plain call does: nodes that are ready run at
//! the same time, nothing is spawned, and nothing is allocated for an item. [`Gates`] add what
//! a plain call does not have. The items of one pipeline share them:
//!
//! | gate | bounds |
//! |---|---|
//! | [`Limit`] | how many items are in a node |
//! | [`rate`] | how many calls begin in a time |
//! | [`key`] | the order of items |
//! | [`batch`] | how many items are in one call |
//!
//! [`stats`] counts what happened in each node. The expansion implements [`Program`] for the
//! `Shared` of the graph; [`Items`] is the part that is the same for every graph.
//!
//! [`Limit`]: super::limit::Limit

mod answers;
mod batch;
mod ends;
mod flat;
mod gates;
mod key;
mod node_state;
mod rate;
mod run;
mod stats;

pub use answers::{BatchCause, BatchOutcome, answers, cause, ended, single};
pub use ends::{Ends, Plain, Returned, many, one, verdict};
pub use flat::{element, flat, flat_all, sure_element};
pub use gates::{Gates, NodeGates};
pub(super) use rate::Rate;
pub use run::{NodeGuard, Run, States};

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::Arc;

use self::run::Polled;
use super::{Graph, Timer};
use crate::base::panics::ignore_panic;
use crate::pipeline::{NodeReport, PerItem, Verdict};

/// What the expansion knows of a bound graph: its types, its gates, its code.
///
/// It is implemented for the `Shared` of the graph, whose fields are the shared inputs as a
/// parallel run takes them. `I` is the input that is not shared, `O` the output, and `E` the
/// error. They are parameters and not associated types, so that a graph may be more public than
/// its types.
#[diagnostic::on_unimplemented(
    message = "the graph cannot be bound with `{Self}`",
    label = "these are not its `#[shared]` inputs",
    note = "a `#[shared] x: &T` is given as an `Arc<T>`, a `#[shared(exclusive)] x: &mut T` as an `Exclusive<T>`"
)]
pub trait Program<I, O, E>: Clone + Send + Sync + 'static {
    /// The states of all nodes of an item.
    type States: States;

    /// The shape of the graph.
    fn graph() -> &'static Graph;

    /// The gates of each step.
    fn gates() -> Vec<NodeGates>;

    /// Runs the nodes for one item.
    fn run<'a>(
        &'a self,
        gates: &'a Arc<Gates>,
        run: &'a Run<'a>,
        item: I,
    ) -> impl Future<Output = Verdict<O, E>> + Send;
}

/// A graph with its shared inputs and gates, ready for items.
pub struct Items<P, I, O, E> {
    program: P,
    gates: Arc<Gates>,
    types: PhantomData<fn(I) -> (O, E)>,
}

impl<P: Program<I, O, E>, I, O, E> Items<P, I, O, E> {
    /// Binds a graph.
    pub fn new(program: P) -> Self {
        Self {
            program,
            gates: Arc::new(Gates::new(P::graph(), P::gates())),
            types: PhantomData,
        }
    }
}

impl<P, I, O, E> fmt::Debug for Items<P, I, O, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("graph", &self.gates.graph().name())
            .finish_non_exhaustive()
    }
}

/// The number of an item. Dropping it tells the gates that the item has ended:
/// [`Gates::passed`].
struct HeldNumber<'a> {
    gates: &'a Gates,
    number: u64,
}

impl Drop for HeldNumber<'_> {
    fn drop(&mut self) {
        self.gates.passed(self.number);
    }
}

impl<P, I, O, E> PerItem for Items<P, I, O, E>
where
    P: Program<I, O, E>,
    I: Send + 'static,
    O: Send + 'static,
    E: Send + 'static,
{
    type Item = I;
    type Output = O;
    type Error = E;

    fn run(&self, number: u64, item: I) -> impl Future<Output = Verdict<O, E>> + Send {
        // Made before the first poll, so that it also covers an item that is dropped unpolled.
        let numbered = HeldNumber {
            gates: &self.gates,
            number,
        };
        async move {
            let numbered = numbered;
            let states = P::States::new();
            let run = Run::new(&self.gates, numbered.number, states.all());
            // Dropped before `run`, which counts how each node ended.
            let mut future = pin!(Some(self.program.run(&self.gates, &run, item)));
            match poll_fn(|cx| run.poll(future.as_mut(), cx)).await {
                Polled::Done(verdict) => verdict,
                Polled::Skipped => Verdict::Skipped,
                Polled::Panicked(payload) => {
                    // A second panic, by a value that is dropped, goes to the hook.
                    ignore_panic(|| future.set(None));
                    Verdict::Panicked(payload, run.failed())
                }
            }
        }
    }

    fn pass_over(&self, number: u64) {
        self.gates.passed(number);
    }

    fn set_timer(&mut self, timer: Arc<dyn Timer>) {
        Arc::get_mut(&mut self.gates)
            .expect("set before the first item")
            .set_timer(timer);
    }

    fn flush(&self, waiting: usize) {
        self.gates.flush(waiting);
    }

    fn least_in_flight(&self) -> usize {
        self.gates.least_in_flight()
    }

    fn nodes(&self) -> Vec<NodeReport> {
        self.gates.report()
    }
}
