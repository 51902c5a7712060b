//! Runs and nodes as spans of `tracing`.

use std::sync::Arc;
use std::time::Duration;

use tracing::{Level, Span};
use ws_core::sync::Mutex;

use super::observe::{At, Observer};
use super::{Graph, lock};

/// An [`Observer`] that makes a span of `tracing` for each run, and a child span for each node.
/// Needs the feature `tracing`.
///
/// The span of a run is called `graph`. Its parent is the span that is current where the run is
/// awaited, on whatever threads its nodes run. The span of a node is called `node`. It is
/// entered around each poll of the node, so events and spans of the node's code are inside it.
/// If the node runs another graph, the span of that run is its child. Both have the name as the
/// field `otel.name`. A retry is an event; a cancelled node has `cancelled = true`.
///
/// Both have the level INFO and the target `ws_executor::graph`. A span that the subscriber
/// filters out costs one check.
///
/// ```
/// use std::sync::Arc;
/// use ws_executor::graph::Spans;
/// use ws_executor::{Executor, task_graph};
///
/// #[task_graph]
/// async fn area(side: u32) -> u32 {
///     let square = side * side;
///     square + 1
/// }
///
/// let executor = Executor::new();
/// let run = area::on(&executor.handle()).observer(Arc::new(Spans)).run(2);
/// assert_eq!(executor.block_on(run), 5);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans;

impl Observer for Spans {
    fn run(&self, graph: &'static Graph) -> Option<Arc<dyn Observer>> {
        let span = tracing::info_span!(
            target: "ws_executor::graph",
            "graph",
            otel.name = graph.name(),
        );
        let nodes = graph.nodes().iter().map(|_| Mutex::new(None)).collect();
        Some(Arc::new(RunSpans { span, nodes }))
    }
}

/// The spans of one run.
struct RunSpans {
    span: Span,
    /// The spans of nodes that have begun and not ended, by index.
    nodes: Box<[Mutex<Option<Span>>]>,
}

impl RunSpans {
    fn span(&self, at: At) -> Option<Span> {
        lock(&self.nodes[at.node()]).clone()
    }

    fn take(&self, at: At) -> Option<Span> {
        lock(&self.nodes[at.node()]).take()
    }
}

impl Observer for RunSpans {
    /// A graph inside a node begins while the span of that node is entered.
    fn run(&self, graph: &'static Graph) -> Option<Arc<dyn Observer>> {
        Spans.run(graph)
    }

    fn started(&self, at: At) {
        let span = tracing::info_span!(
            target: "ws_executor::graph",
            parent: &self.span,
            "node",
            otel.name = at.name(),
            cancelled = tracing::field::Empty,
        );
        *lock(&self.nodes[at.node()]) = Some(span);
    }

    fn within(&self, at: At, part: &mut dyn FnMut()) {
        match self.span(at) {
            Some(span) => span.in_scope(part),
            None => part(),
        }
    }

    fn retried(&self, at: At) {
        if let Some(span) = self.span(at) {
            tracing::event!(
                target: "ws_executor::graph",
                parent: &span,
                Level::WARN,
                node = at.name(),
                "failed, is tried again"
            );
        }
    }

    fn finished(&self, at: At, _took: Duration) {
        drop(self.take(at));
    }

    fn cancelled(&self, at: At) {
        if let Some(span) = self.take(at) {
            span.record("cancelled", true);
        }
    }
}
