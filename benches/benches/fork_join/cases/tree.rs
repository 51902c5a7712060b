//! The sum over a binary tree, with a join at every node, as chili's own benchmark has
//! it. A leaf's join is of two empty closures, so there are as many joins as nodes.

use crate::case::Case;
use crate::pool::Pool;

pub(crate) struct Tree<const DEPTH: u32, const REPEATS: usize>;

pub(crate) struct Node {
    value: u64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

impl Node {
    /// A full tree with that many levels.
    fn full(depth: u32) -> Self {
        let child = || (depth > 1).then(|| Box::new(Self::full(depth - 1)));
        Self {
            value: 1,
            left: child(),
            right: child(),
        }
    }
}

impl<const DEPTH: u32, const REPEATS: usize> Case for Tree<DEPTH, REPEATS> {
    const REPEATS: usize = REPEATS;

    type Input = Node;

    fn name() -> String {
        format!("tree sum, {} nodes", 2_u64.pow(DEPTH) - 1)
    }

    fn input() -> Node {
        Node::full(DEPTH)
    }

    fn run<P: Pool>(scope: &mut P::Scope<'_>, tree: &mut Node) -> u64 {
        sum::<P>(scope, tree)
    }
}

fn sum<P: Pool>(scope: &mut P::Scope<'_>, node: &Node) -> u64 {
    let (left, right) = P::join(
        scope,
        |scope| node.left.as_deref().map_or(0, |node| sum::<P>(scope, node)),
        |scope| {
            node.right
                .as_deref()
                .map_or(0, |node| sum::<P>(scope, node))
        },
    );
    node.value + left + right
}
