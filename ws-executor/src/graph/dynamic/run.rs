//! A run of a `DynGraph`.
//!
//! Most nodes are short, so a task for each would cost more than the nodes themselves. A branch
//! keeps the nodes that it makes ready in a list of its own. It gives half of them to a new
//! branch only while there are fewer branches than the executor has workers. Branches take
//! nodes that are ready from the start in chunks, from one shared counter. A node that awaits
//! becomes a branch, which then runs the nodes that it makes ready.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | what it makes visible |
//! |---|---|---|---|
//! | `dynamic.ready` | counting down `missing` | the count that reaches 0 | the inputs of the node, which their slots publish as well |
//! | `dynamic.left` | counting down `live` | the run's look at `live` | all that branches did |

use std::future::poll_fn;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::{Poll, Waker};

use ws_core::Spawn;
use ws_core::sync::Mutex;
use ws_core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use super::{Awaits, DynGraph, Nodes};
use crate::base::panics::{Payload, contain, ignore_panic};
use crate::graph::cancel::{Cancel, CancelSeat};
use crate::graph::lock;

/// After this many nodes a branch yields to other tasks; not measured.
const TURN: usize = 64;
/// The number of nodes in a chunk of those that are ready from the start; not measured.
const CHUNK: usize = 32;

impl DynGraph {
    /// Runs all nodes on `spawner`. Afterwards their values are in their
    /// [`Output`](super::Output)s.
    ///
    /// Dropping the future cancels the run: nodes that have not begun do not begin, and nodes
    /// that await are dropped. See the example at [`DynGraph`].
    ///
    /// # Panics
    /// With the first panic of a node, after all other nodes have ended; or if the executor was
    /// shut down.
    pub async fn run<S>(self, spawner: &S)
    where
        S: Spawn + Clone + Send + Sync + 'static,
    {
        run(self, spawner.clone()).await;
    }
}

/// Runs all nodes; see [`DynGraph::run`].
async fn run<S>(graph: DynGraph, spawner: S)
where
    S: Spawn + Send + Sync + 'static,
{
    let run = DynRunOwner(Arc::new(DynRun::new(graph, spawner)));
    let shared = &run.0;
    let own = BranchMember::new(shared);
    let more = (shared.first.len() / CHUNK).min(shared.parallelism.saturating_sub(1));
    for _ in 0..more {
        shared
            .spawner
            .spawn(branch(BranchMember::new(shared), Vec::new()));
    }
    branch(own, Vec::new()).await;
    poll_fn(|cx| {
        let waker = cx.waker().clone();
        let old = lock(&shared.waker).replace(waker);
        drop(old);
        // ORDERING(dynamic.left): acquire side; after the waker was left. So the last branch
        // finds the waker, or this load reads 0.
        if shared.live.load(Ordering::Acquire) == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    let panic = lock(&shared.panic).take();
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
    assert!(
        !shared.lost.load(Ordering::Relaxed),
        "the executor dropped a branch of the graph: it was shut down"
    );
}

/// Cancels the rest of a run when its future is dropped.
struct DynRunOwner<S>(Arc<DynRun<S>>);

impl<S> Drop for DynRunOwner<S> {
    fn drop(&mut self) {
        self.0.cancel.cancel();
    }
}

struct DynRun<S> {
    spawner: S,
    parallelism: usize,
    nodes: Nodes,
    /// The number of nodes that each node still waits for.
    missing: Vec<AtomicU32>,
    /// The successors of node `n` are `next[starts[n]..starts[n + 1]]`.
    next: Vec<u32>,
    starts: Vec<u32>,
    /// The nodes that wait for no other, and how many of them were taken.
    first: Vec<u32>,
    taken: AtomicUsize,
    live: AtomicUsize,
    cancel: Cancel,
    lost: AtomicBool,
    panic: Mutex<Option<Payload>>,
    waker: Mutex<Option<Waker>>,
}

impl<S: Spawn> DynRun<S> {
    fn new(graph: DynGraph, spawner: S) -> Self {
        let DynGraph { nodes, edges, .. } = graph;
        let count = nodes.0.len();
        let mut needs = vec![0; count];
        let mut starts = vec![0; count + 1];
        for &(from, to) in &edges {
            needs[to as usize] += 1;
            starts[from as usize + 1] += 1;
        }
        for node in 0..count {
            starts[node + 1] += starts[node];
        }
        let mut next = vec![0; edges.len()];
        let mut filled = starts.clone();
        for (from, to) in edges {
            next[filled[from as usize] as usize] = to;
            filled[from as usize] += 1;
        }
        let first = (0_u32..).zip(&needs).filter(|(_, needs)| **needs == 0);
        Self {
            parallelism: spawner.parallelism(),
            spawner,
            first: first.map(|(node, _)| node).collect(),
            missing: needs.into_iter().map(AtomicU32::new).collect(),
            nodes,
            next,
            starts,
            taken: AtomicUsize::new(0),
            live: AtomicUsize::new(0),
            cancel: Cancel::new(),
            lost: AtomicBool::new(false),
            panic: Mutex::new(None),
            waker: Mutex::new(None),
        }
    }

    /// Runs a node, and adds the nodes that it makes ready to `ready`. If the node awaits,
    /// returns its future.
    fn run_node(&self, node: u32, ready: &mut Vec<u32>) -> Option<Awaits> {
        match contain(|| self.nodes.0[node as usize].run()) {
            Ok(None) => self.done(node, ready),
            Ok(Some(awaits)) => return Some(awaits),
            Err(payload) => self.panicked(payload),
        }
        None
    }

    /// Counts down the missing inputs of the successors of `node`.
    fn done(&self, node: u32, ready: &mut Vec<u32>) {
        let index = node as usize;
        let (from, to) = (self.starts[index] as usize, self.starts[index + 1] as usize);
        for &next in &self.next[from..to] {
            // ORDERING(dynamic.ready): both sides; the branch that counts to 0 sees the values
            // of all branches that counted before.
            if self.missing[next as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                ready.push(next);
            }
        }
    }

    /// Ends the run with the first panic of a node.
    #[cold]
    fn panicked(&self, payload: Payload) {
        self.cancel.cancel();
        let mut first = lock(&self.panic);
        let second = if first.is_none() {
            first.replace(payload)
        } else {
            Some(payload)
        };
        drop(first);
        ignore_panic(|| drop(second));
    }

    /// Takes a chunk of the nodes that were ready from the start.
    fn take_first(&self, ready: &mut Vec<u32>) {
        if self.taken.load(Ordering::Relaxed) < self.first.len() {
            let from = self
                .taken
                .fetch_add(CHUNK, Ordering::Relaxed)
                .min(self.first.len());
            let to = (from + CHUNK).min(self.first.len());
            ready.extend(&self.first[from..to]);
        }
    }
}

/// A counted branch. Dropping it, in any place, counts the branch out.
struct BranchMember<S> {
    run: Arc<DynRun<S>>,
    /// The index of its waker, if it awaits.
    seat: CancelSeat,
    complete: bool,
}

impl<S> BranchMember<S> {
    fn new(run: &Arc<DynRun<S>>) -> Self {
        // Relaxed: the caller is a counted branch, or the run itself.
        run.live.fetch_add(1, Ordering::Relaxed);
        Self {
            run: run.clone(),
            seat: None,
            complete: false,
        }
    }

    fn leave(mut self) {
        self.complete = true;
    }
}

impl<S> Drop for BranchMember<S> {
    fn drop(&mut self) {
        if !self.complete && !self.run.cancel.is_cancelled() {
            self.run.lost.store(true, Ordering::Relaxed);
            self.run.cancel.cancel();
        }
        self.run.cancel.stand_up(self.seat);
        // ORDERING(dynamic.left): release side.
        if self.run.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            let waker = lock(&self.run.waker).take();
            if let Some(waker) = waker {
                ignore_panic(|| waker.wake());
            }
        }
    }
}

/// Runs `ready` and the nodes that it makes ready, until none is left.
#[expect(
    clippy::manual_async_fn,
    reason = "a branch spawns branches; their type says that they are `Send`"
)]
fn branch<S>(
    member: BranchMember<S>,
    mut ready: Vec<u32>,
) -> impl Future<Output = ()> + Send + 'static
where
    S: Spawn + Send + Sync + 'static,
{
    async move {
        let run = &member.run;
        let mut turn = 0;
        loop {
            if ready.is_empty() {
                run.take_first(&mut ready);
            }
            let Some(node) = ready.pop() else { break };
            if run.cancel.is_cancelled() {
                break;
            }
            // Relaxed: a hint. A wrong number of branches is slower, but correct.
            if !ready.is_empty() && run.live.load(Ordering::Relaxed) < run.parallelism {
                let half = ready.drain(..ready.len().div_ceil(2)).collect();
                run.spawner.spawn(branch(BranchMember::new(run), half));
            }
            if let Some(awaits) = run.run_node(node, &mut ready) {
                run.spawner
                    .spawn(awaiting_branch(BranchMember::new(run), node, awaits));
            }
            turn += 1;
            if turn % TURN == 0 {
                crate::yield_now().await;
            }
        }
        member.leave();
    }
}

/// Runs a node that awaits, and the nodes that it makes ready.
fn awaiting_branch<S>(
    member: BranchMember<S>,
    node: u32,
    awaits: Awaits,
) -> impl Future<Output = ()> + Send + 'static
where
    S: Spawn + Send + Sync + 'static,
{
    // Dropped in this order before the first poll: the future must be gone before the branch
    // counts itself out.
    let own = (awaits, member);
    async move {
        let (awaits, mut member) = own;
        let run = &*member.run;
        let mut ready = Vec::new();
        match run.cancel.unless(&mut member.seat, None, awaits).await {
            Ok(Some(())) => run.done(node, &mut ready),
            Ok(None) => {}
            Err(payload) => run.panicked(payload),
        }
        branch(member, ready).await;
    }
}
