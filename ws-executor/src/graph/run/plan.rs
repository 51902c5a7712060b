//! The plan of a run: which nodes wait for each other, and where each node runs.

use crate::graph::Graph;

/// The plan of a run, as the macro writes it.
#[derive(Debug)]
pub struct Plan<const N: usize> {
    /// The graph of this plan.
    pub graph: &'static Graph,
    /// How many nodes each node waits for.
    pub needs: [u32; N],
    /// The nodes that wait for each node.
    pub next: [&'static [u32]; N],
    /// The nodes that wait for no other.
    pub first: &'static [u32],
    /// Where each node runs.
    pub place: [Place; N],
    /// The limits of the nodes that have one.
    pub limits: &'static [usize],
}

/// Where a node that is ready runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the branch that made it ready; on a branch of its own if that one has another node.
    Any,
    /// On the branch that made it ready, after the other nodes of that branch.
    Inline,
    /// On a branch of its own.
    Spawn,
}
