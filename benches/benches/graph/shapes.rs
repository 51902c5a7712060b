//! `DynGraph` beside tasks that are spawned by hand, at four shapes: nanoseconds for each
//! node, building and running together, as a program pays for both.
//!
//! By hand every node is a task. In the chain each spawns the next, in the tree each
//! spawns its children, in the wavefront a task is spawned by whoever counts its last
//! input down, and in the parallel one all are spawned by one task. The last task to end
//! tells the one that waits, in the same way for all.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use ws_executor::Handle;
use ws_executor::graph::{DynGraph, Output};

/// What a node does: next to nothing.
pub(crate) fn tick(n: u64) -> u64 {
    black_box(n) + 1
}

/// The shapes, each with its number of nodes.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Chain(usize),
    Tree(usize),
    Wavefront(usize),
    Parallel(usize),
}

impl Shape {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chain(_) => "linear chain",
            Self::Tree(_) => "binary tree",
            Self::Wavefront(_) => "wavefront",
            Self::Parallel(_) => "embarrassingly parallel",
        }
    }

    pub(crate) fn nodes(self) -> usize {
        match self {
            Self::Chain(nodes) | Self::Tree(nodes) | Self::Parallel(nodes) => nodes,
            Self::Wavefront(side) => side * side,
        }
    }

    /// The graph of this shape.
    fn graph(self) -> DynGraph {
        let mut graph = DynGraph::new();
        match self {
            Self::Chain(nodes) => {
                let mut last = graph.source(|| tick(0));
                for _ in 1..nodes {
                    last = graph.then(&last, |n| tick(*n));
                }
            }
            Self::Tree(nodes) => {
                let mut outputs: Vec<Output<u64>> = vec![graph.source(|| tick(0))];
                for node in 1..nodes {
                    let child = graph.then(&outputs[(node - 1) / 2], |n| tick(*n));
                    outputs.push(child);
                }
            }
            Self::Wavefront(side) => {
                let mut above: Vec<Output<u64>> = Vec::new();
                for row in 0..side {
                    let mut own: Vec<Output<u64>> = Vec::with_capacity(side);
                    for column in 0..side {
                        let node = match (row, column) {
                            (0, 0) => graph.source(|| tick(0)),
                            (0, _) => graph.then(&own[column - 1], |n| tick(*n)),
                            (_, 0) => graph.then(&above[0], |n| tick(*n)),
                            _ => graph.join(&above[column], &own[column - 1], |a, b| tick(a ^ b)),
                        };
                        own.push(node);
                    }
                    above = own;
                }
            }
            Self::Parallel(nodes) => {
                for node in 0..nodes {
                    drop(graph.source(move || tick(node as u64)));
                }
            }
        }
        graph
    }

    pub(crate) fn run_graph(self, handle: &Handle) {
        let (graph, on) = (self.graph(), handle.clone());
        handle.block_on(handle.spawn(async move { graph.run(&on).await }));
    }

    /// The same shape, a task for each node.
    pub(crate) fn run_by_hand(self, handle: &Handle) {
        let (done, waits) = async_channel::bounded(1);
        let left = AtomicUsize::new(self.nodes());
        let inputs = match self {
            Self::Wavefront(side) => (0..side * side)
                .map(|node| AtomicU8::new(u8::from(node >= side) + u8::from(node % side > 0)))
                .collect(),
            _ => Vec::new(),
        };
        let by_hand = Arc::new(ByHand {
            shape: self,
            handle: handle.clone(),
            left,
            inputs,
            done,
        });
        handle.block_on(async {
            match self {
                Self::Parallel(nodes) => {
                    let all = by_hand.clone();
                    handle
                        .spawn(async move {
                            for node in 0..nodes {
                                all.spawn(node);
                            }
                        })
                        .detach();
                }
                _ => by_hand.spawn(0),
            }
            waits.recv().await.expect("the last task says so");
        });
    }
}

struct ByHand {
    shape: Shape,
    handle: Handle,
    left: AtomicUsize,
    inputs: Vec<AtomicU8>,
    done: async_channel::Sender<()>,
}

impl ByHand {
    fn spawn(self: &Arc<Self>, node: usize) {
        let own = self.clone();
        self.handle.spawn(async move { own.run(node) }).detach();
    }

    fn run(self: &Arc<Self>, node: usize) {
        black_box(tick(node as u64));
        let nodes = self.shape.nodes();
        match self.shape {
            Shape::Chain(_) if node + 1 < nodes => self.spawn(node + 1),
            Shape::Tree(_) => {
                (2 * node + 1..=2 * node + 2)
                    .filter(|child| *child < nodes)
                    .for_each(|child| self.spawn(child));
            }
            Shape::Wavefront(side) => {
                let right = (node % side + 1 < side).then_some(node + 1);
                let below = (node + side < nodes).then_some(node + side);
                for next in right.into_iter().chain(below) {
                    if self.inputs[next].fetch_sub(1, Ordering::AcqRel) == 1 {
                        self.spawn(next);
                    }
                }
            }
            Shape::Chain(_) | Shape::Parallel(_) => {}
        }
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.try_send(()).expect("sent once");
        }
    }
}
