//! Graphs whose shape is data: built node by node, with typed handles.
//!
//! A node is one allocation: its code, and the place of its value. The code holds on to
//! the nodes whose values it uses, and is gone once it ran; so a value lives as long as
//! somebody may use it. Nodes can only use nodes that were added before them, so there
//! are no cycles.
//!
//! # How it runs
//!
//! Nodes are short and do not await, so spawning a task for each would cost more than
//! many of them. A branch keeps what it makes ready in a list of its own, and gives half
//! of it to a new branch only while there are fewer branches than the executor has
//! workers. What is ready from the start is taken in chunks from one shared counter.
//!
//! # Memory ordering
//!
//! | edge | release side | acquire side | what it makes visible |
//! |---|---|---|---|
//! | `dynamic.ready` | counting down `missing` | the count that reaches 0 | the values that the node uses, which their slots publish as well |
//! | `dynamic.left` | counting down `live` | the run's look at `live` | all that branches did |

use std::any::Any;
use std::fmt;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::task::{Poll, Waker};

use ws_core::Spawn;
use ws_core::sync::Mutex;
use ws_core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use super::lock;
use super::slot::{Lent, SharedSlot, Slot};
use crate::task::contain::{contain, ignore_panic};

/// How many nodes a branch runs before it lets other tasks run; not measured.
const TURN: usize = 64;
/// How many of the nodes that are ready from the start a branch takes at once; not
/// measured.
const CHUNK: usize = 32;

/// A graph that is built while the program runs.
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::graph::DynGraph;
///
/// let executor = Executor::new();
/// let mut graph = DynGraph::new();
/// let numbers: Vec<_> = (1..=10).map(|n| graph.source(move || n * n)).collect();
/// let sum = graph.gather(&numbers, |numbers| numbers.iter().copied().sum::<u32>());
/// let text = graph.then(&sum, |sum| format!("the sum is {sum}"));
/// executor.block_on(graph.run(&executor.handle()));
/// assert_eq!(*sum.get(), 385);
/// assert_eq!(text.take(), "the sum is 385");
/// ```
pub struct DynGraph {
    number: u64,
    nodes: Nodes,
    /// Who is waited for by whom.
    edges: Vec<(u32, u32)>,
}

/// Clears the code of what did not run, last first: code holds on to nodes before its
/// own, and letting go of the first of a long chain would recurse through all of it.
#[derive(Default)]
struct Nodes(Vec<Arc<dyn Work>>);

impl Drop for Nodes {
    fn drop(&mut self) {
        while let Some(node) = self.0.pop() {
            ignore_panic(|| node.clear());
        }
    }
}

/// The value that a node of a [`DynGraph`] has after a run.
///
/// See the example at [`DynGraph`].
pub struct Output<T> {
    graph: u64,
    index: u32,
    value: Arc<dyn Value<T>>,
}

trait Work: Send + Sync {
    fn run(&self);
    fn clear(&self);
}

trait Value<T>: Send + Sync {
    fn slot(&self) -> &SharedSlot<T>;
}

struct NodeCell<C, T> {
    code: Slot<C>,
    value: SharedSlot<T>,
}

impl<T, C: FnOnce() -> T + Send> Work for NodeCell<C, T>
where
    T: Send + Sync,
{
    fn run(&self) {
        let code = self.code.take();
        self.value.set(code());
    }

    fn clear(&self) {
        drop(self.code.take_if_full());
    }
}

impl<T: Send + Sync, C: Send> Value<T> for NodeCell<C, T> {
    fn slot(&self) -> &SharedSlot<T> {
        &self.value
    }
}

impl<T> Output<T> {
    /// Borrows the value.
    ///
    /// See the example at [`DynGraph`].
    ///
    /// # Panics
    /// If the graph was not run to its end.
    pub fn get(&self) -> Lent<'_, T> {
        self.value.slot().share()
    }

    /// The value.
    ///
    /// See the example at [`DynGraph`].
    ///
    /// # Panics
    /// If the graph was not run to its end, or a clone of this took the value.
    pub fn take(self) -> T {
        self.value.slot().take()
    }
}

impl<T> Clone for Output<T> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph,
            index: self.index,
            value: self.value.clone(),
        }
    }
}

impl<T> fmt::Debug for Output<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Output({})", self.index)
    }
}

impl Default for DynGraph {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for DynGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DynGraph({} nodes, {} edges)",
            self.nodes.0.len(),
            self.edges.len()
        )
    }
}

impl DynGraph {
    /// A graph without nodes; see the example at [`DynGraph`].
    pub fn new() -> Self {
        // Not of the shim: it orders nothing, and models have no statics.
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        Self {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            nodes: Nodes::default(),
            edges: Vec::new(),
        }
    }

    /// A node that uses no other; see the example at [`DynGraph`].
    ///
    /// # Panics
    /// If there are 2³² nodes.
    pub fn source<T>(&mut self, code: impl FnOnce() -> T + Send + 'static) -> Output<T>
    where
        T: Send + Sync + 'static,
    {
        let index = u32::try_from(self.nodes.0.len()).expect("no more than 2^32 nodes");
        let node = Arc::new(NodeCell {
            code: Slot::full(code),
            value: SharedSlot::new(),
        });
        self.nodes.0.push(node.clone());
        Output {
            graph: self.number,
            index,
            value: node,
        }
    }

    /// A node that uses the value of another one; see the example at [`DynGraph`].
    ///
    /// # Panics
    /// If that is a node of another graph.
    pub fn then<A, T>(
        &mut self,
        a: &Output<A>,
        code: impl FnOnce(&A) -> T + Send + 'static,
    ) -> Output<T>
    where
        A: Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        let from = a.value.clone();
        let node = self.source(move || code(&from.slot().share()));
        self.order(a, &node);
        node
    }

    /// A node that uses the values of two.
    ///
    /// ```
    /// let mut graph = ws_executor::graph::DynGraph::new();
    /// let (two, three) = (graph.source(|| 2), graph.source(|| "three"));
    /// let five = graph.join(&two, &three, |two, three| two + three.len());
    /// let executor = ws_executor::Executor::new();
    /// executor.block_on(graph.run(&executor.handle()));
    /// assert_eq!(five.take(), 7);
    /// ```
    ///
    /// # Panics
    /// If one of them is a node of another graph.
    pub fn join<A, B, T>(
        &mut self,
        a: &Output<A>,
        b: &Output<B>,
        code: impl FnOnce(&A, &B) -> T + Send + 'static,
    ) -> Output<T>
    where
        A: Send + Sync + 'static,
        B: Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        let (left, right) = (a.value.clone(), b.value.clone());
        let node = self.source(move || code(&left.slot().share(), &right.slot().share()));
        self.order(a, &node);
        self.order(b, &node);
        node
    }

    /// A node that uses the values of any number of others; see the example at
    /// [`DynGraph`].
    ///
    /// # Panics
    /// If one of them is a node of another graph.
    pub fn gather<A, T>(
        &mut self,
        all: &[Output<A>],
        code: impl FnOnce(&[&A]) -> T + Send + 'static,
    ) -> Output<T>
    where
        A: Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        let values: Vec<_> = all.iter().map(|output| output.value.clone()).collect();
        let node = self.source(move || {
            let lent: Vec<_> = values.iter().map(|value| value.slot().share()).collect();
            let borrowed: Vec<&A> = lent.iter().map(|lent| &**lent).collect();
            code(&borrowed)
        });
        for output in all {
            self.order(output, &node);
        }
        node
    }

    /// Lets one node wait for another whose value it does not use.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let mut graph = ws_executor::graph::DynGraph::new();
    /// let number = Arc::new(AtomicU32::new(0));
    /// let (write, read) = (number.clone(), number);
    /// let first = graph.source(move || write.store(1, Ordering::Relaxed));
    /// let second = graph.source(move || read.load(Ordering::Relaxed));
    /// graph.order(&first, &second);
    /// let executor = ws_executor::Executor::new();
    /// executor.block_on(graph.run(&executor.handle()));
    /// assert_eq!(second.take(), 1);
    /// ```
    ///
    /// # Panics
    /// If one is a node of another graph, or the first was not added before the second:
    /// so there are no cycles.
    pub fn order<A, B>(&mut self, first: &Output<A>, second: &Output<B>) {
        assert!(
            first.graph == self.number && second.graph == self.number,
            "a node of another graph"
        );
        assert!(
            first.index < second.index,
            "a node waits only for nodes that were added before it"
        );
        self.edges.push((first.index, second.index));
    }

    /// Runs all nodes on `spawner`; their values are in their [`Output`]s then.
    ///
    /// Dropping the future cancels the run: nodes that have not begun do not.
    /// See the example at [`DynGraph`].
    ///
    /// # Panics
    /// With the first panic of a node, after all others have ended; or if the executor was
    /// shut down.
    pub async fn run<S>(self, spawner: &S)
    where
        S: Spawn + Clone + Send + Sync + 'static,
    {
        let run = Cancel(Arc::new(Run::new(self, spawner.clone())));
        let shared = &run.0;
        let own = Member::new(shared);
        let more = (shared.first.len() / CHUNK).min(shared.parallelism.saturating_sub(1));
        for _ in 0..more {
            shared
                .spawner
                .spawn(branch(Member::new(shared), Vec::new()));
        }
        branch(own, Vec::new()).await;
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            let old = lock(&shared.waker).replace(waker);
            drop(old);
            // ORDERING(dynamic.left): acquire side; after the waker was left, so that the
            // last branch finds it or this finds 0.
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
}

/// Cancels what is left of a run when its future is dropped.
struct Cancel<S>(Arc<Run<S>>);

impl<S> Drop for Cancel<S> {
    fn drop(&mut self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }
}

struct Run<S> {
    spawner: S,
    parallelism: usize,
    nodes: Nodes,
    /// What each node still waits for.
    missing: Vec<AtomicU32>,
    /// The successors of node `n` are `next[starts[n]..starts[n + 1]]`.
    next: Vec<u32>,
    starts: Vec<u32>,
    /// What waits for nobody, and how much of it was taken.
    first: Vec<u32>,
    taken: AtomicUsize,
    live: AtomicUsize,
    cancelled: AtomicBool,
    lost: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    waker: Mutex<Option<Waker>>,
}

impl<S: Spawn> Run<S> {
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
            cancelled: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            panic: Mutex::new(None),
            waker: Mutex::new(None),
        }
    }

    /// Runs a node; what that makes ready goes to `ready`.
    fn run_node(&self, node: u32, ready: &mut Vec<u32>) {
        let index = node as usize;
        if let Err(payload) = contain(|| self.nodes.0[index].run()) {
            self.cancelled.store(true, Ordering::Relaxed);
            let mut first = lock(&self.panic);
            let second = if first.is_none() {
                first.replace(payload)
            } else {
                Some(payload)
            };
            drop(first);
            ignore_panic(|| drop(second));
            return;
        }
        let (from, to) = (self.starts[index] as usize, self.starts[index + 1] as usize);
        for &next in &self.next[from..to] {
            // ORDERING(dynamic.ready): both sides; who counts to 0 sees the values of all
            // who counted before.
            if self.missing[next as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
                ready.push(next);
            }
        }
    }

    /// Takes some of what was ready from the start.
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

/// Being a branch: counted while it lives, wherever it is dropped.
struct Member<S> {
    run: Arc<Run<S>>,
    complete: bool,
}

impl<S> Member<S> {
    fn new(run: &Arc<Run<S>>) -> Self {
        // Relaxed: whoever makes a branch is counted, or is the run itself.
        run.live.fetch_add(1, Ordering::Relaxed);
        Self {
            run: run.clone(),
            complete: false,
        }
    }

    fn leave(mut self) {
        self.complete = true;
    }
}

impl<S> Drop for Member<S> {
    fn drop(&mut self) {
        if !self.complete && !self.run.cancelled.swap(true, Ordering::Relaxed) {
            self.run.lost.store(true, Ordering::Relaxed);
        }
        // ORDERING(dynamic.left): release side.
        if self.run.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            let waker = lock(&self.run.waker).take();
            if let Some(waker) = waker {
                ignore_panic(|| waker.wake());
            }
        }
    }
}

/// Runs `ready` and what that makes ready, until there is nothing more.
#[expect(
    clippy::manual_async_fn,
    reason = "a branch spawns branches; their type says that they are `Send`"
)]
fn branch<S>(member: Member<S>, mut ready: Vec<u32>) -> impl Future<Output = ()> + Send + 'static
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
            if run.cancelled.load(Ordering::Relaxed) {
                break;
            }
            // Relaxed: a hint. Too many branches or too few are slower and not wrong.
            if !ready.is_empty() && run.live.load(Ordering::Relaxed) < run.parallelism {
                let half = ready.drain(..ready.len().div_ceil(2)).collect();
                run.spawner.spawn(branch(Member::new(run), half));
            }
            run.run_node(node, &mut ready);
            turn += 1;
            if turn % TURN == 0 {
                crate::yield_now().await;
            }
        }
        member.leave();
    }
}
