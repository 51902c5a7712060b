//! The plan of a run: who waits for whom, and where each node runs.

use crate::graph::Graph;

/// The shape of a run, as the macro writes it down.
#[derive(Debug)]
pub struct Plan<const N: usize> {
    /// What it is the plan of.
    pub graph: &'static Graph,
    /// How many nodes each node waits for.
    pub needs: [u32; N],
    /// Who waits for each node.
    pub next: [&'static [u32]; N],
    /// The nodes that wait for nobody.
    pub first: &'static [u32],
    /// Where each node is to run.
    pub place: [Place; N],
    /// The limits of the nodes that have one.
    pub limits: &'static [usize],
}

/// Where a node that is ready runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the branch that made it ready, if that has nothing else to do.
    Any,
    /// On the branch that made it ready, after what that has to do.
    Inline,
    /// On a branch of its own.
    Spawn,
}
