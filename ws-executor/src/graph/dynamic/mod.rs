//! Graphs whose shape is data: built node by node, with typed handles.
//!
//! A node is one allocation: its code, and the slot of its value. A node that awaits has a
//! second one, its future. The code of a node refers to the nodes whose values it uses, and is
//! dropped when it has run; so a value lives as long as a node or an [`Output`] may use it. A
//! node can only use nodes that were added before it, so there are no cycles.

mod run;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::slot::{Lent, SharedSlot, Slot};
use crate::base::panics::ignore_panic;

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
///
/// Nodes that compute are closures. Nodes that await are made by the methods whose names end in
/// `_async`: they borrow a value through its [`Output`].
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::graph::DynGraph;
///
/// # async fn fetch(url: &str) -> String { ws_executor::yield_now().await; url.to_uppercase() }
/// let executor = Executor::new();
/// let mut graph = DynGraph::new();
/// let pages: Vec<_> = ["a", "b"]
///     .map(|url| graph.source_async(async move || fetch(url).await))
///     .into();
/// let text = graph.gather(&pages, |pages| format!("{pages:?}"));
/// let longer = graph.then_async(&text, async |text| fetch(&text.get()).await + "!");
/// executor.block_on(graph.run(&executor.handle()));
/// assert_eq!(longer.take(), r#"["A", "B"]!"#);
/// ```
pub struct DynGraph {
    number: u64,
    nodes: Nodes,
    /// Pairs of indices: the second node waits for the first.
    edges: Vec<(u32, u32)>,
}

/// The nodes. The drop clears the code of nodes that did not run, from the last to the first.
/// Code refers to nodes before its own, so dropping the first node of a long chain would
/// otherwise recurse through the chain.
#[derive(Default)]
struct Nodes(Vec<Arc<dyn NodeWork>>);

impl Drop for Nodes {
    fn drop(&mut self) {
        while let Some(node) = self.0.pop() {
            ignore_panic(|| node.clear());
            ignore_panic(|| drop(node)); // Drops its value, if there is no other reference.
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

trait NodeWork: Send + Sync {
    /// Runs the code. For a node that awaits, this makes its future.
    fn run(&self) -> Option<Awaits>;
    fn clear(&self);
}

/// The future of a node that awaits. It writes the node's value into its slot.
type Awaits = Pin<Box<dyn Future<Output = ()> + Send>>;

trait Value<T>: Send + Sync {
    fn slot(&self) -> &SharedSlot<T>;
}

struct NodeCell<C, T> {
    code: Slot<C>,
    value: SharedSlot<T>,
}

impl<T, C: FnOnce() -> T + Send> NodeWork for NodeCell<C, T>
where
    T: Send + Sync,
{
    fn run(&self) -> Option<Awaits> {
        let code = self.code.take();
        self.value.set(code());
        None
    }

    fn clear(&self) {
        drop(self.code.take_if_full());
    }
}

/// The code of a node that awaits.
struct AsyncCell<C>(Slot<C>);

impl<C: FnOnce() -> Awaits + Send> NodeWork for AsyncCell<C> {
    fn run(&self) -> Option<Awaits> {
        let code = self.0.take();
        Some(code())
    }

    fn clear(&self) {
        drop(self.0.take_if_full());
    }
}

impl<T: Send + Sync> Value<T> for SharedSlot<T> {
    fn slot(&self) -> &SharedSlot<T> {
        self
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
    /// If the graph has not been run to its end.
    pub fn get(&self) -> Lent<'_, T> {
        self.value.slot().share()
    }

    /// Takes the value.
    ///
    /// See the example at [`DynGraph`].
    ///
    /// # Panics
    /// If the graph has not been run to its end, or if a clone of this has taken the value.
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
    /// Makes a graph without nodes; see the example at [`DynGraph`].
    pub fn new() -> Self {
        // Not of the shim: it orders nothing, and models cannot use statics.
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            nodes: Nodes::default(),
            edges: Vec::new(),
        }
    }

    /// Adds a node that uses no other; see the example at [`DynGraph`].
    ///
    /// # Panics
    /// If there are 2³² nodes.
    pub fn source<T>(&mut self, code: impl FnOnce() -> T + Send + 'static) -> Output<T>
    where
        T: Send + Sync + 'static,
    {
        let node = Arc::new(NodeCell {
            code: Slot::full(code),
            value: SharedSlot::new(),
        });
        self.add(node.clone(), node)
    }

    /// Adds a node that uses no other, and awaits; see the example at [`DynGraph`].
    ///
    /// # Panics
    /// If there are 2³² nodes.
    pub fn source_async<T, F>(&mut self, code: impl FnOnce() -> F + Send + 'static) -> Output<T>
    where
        T: Send + Sync + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let value = Arc::new(SharedSlot::new());
        let slot = value.clone();
        let code = move || -> Awaits {
            let future = code();
            Box::pin(async move { slot.set(future.await) })
        };
        self.add(Arc::new(AsyncCell(Slot::full(code))), value)
    }

    fn add<T>(&mut self, node: Arc<dyn NodeWork>, value: Arc<dyn Value<T>>) -> Output<T> {
        let index = u32::try_from(self.nodes.0.len()).expect("no more than 2^32 nodes");
        self.nodes.0.push(node);
        Output {
            graph: self.number,
            index,
            value,
        }
    }

    /// Adds a node that uses the value of another node; see the example at [`DynGraph`].
    ///
    /// # Panics
    /// If that node is of another graph.
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

    /// Adds a node that uses the value of another node, and awaits; see the example at
    /// [`DynGraph`].
    ///
    /// # Panics
    /// If that node is of another graph.
    pub fn then_async<A, T, F>(
        &mut self,
        a: &Output<A>,
        code: impl FnOnce(Output<A>) -> F + Send + 'static,
    ) -> Output<T>
    where
        A: Send + Sync + 'static,
        T: Send + Sync + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let from = a.clone();
        let node = self.source_async(move || code(from));
        self.order(a, &node);
        node
    }

    /// Adds a node that uses the values of two nodes.
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
    /// If one of them is of another graph.
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

    /// Adds a node that uses the values of two nodes, and awaits.
    ///
    /// ```
    /// let mut graph = ws_executor::graph::DynGraph::new();
    /// let (two, three) = (graph.source(|| 2), graph.source(|| "three"));
    /// let five = graph.join_async(&two, &three, async |two, three| {
    ///     ws_executor::yield_now().await;
    ///     *two.get() + three.get().len()
    /// });
    /// let executor = ws_executor::Executor::new();
    /// executor.block_on(graph.run(&executor.handle()));
    /// assert_eq!(five.take(), 7);
    /// ```
    ///
    /// # Panics
    /// If one of them is of another graph.
    pub fn join_async<A, B, T, F>(
        &mut self,
        a: &Output<A>,
        b: &Output<B>,
        code: impl FnOnce(Output<A>, Output<B>) -> F + Send + 'static,
    ) -> Output<T>
    where
        A: Send + Sync + 'static,
        B: Send + Sync + 'static,
        T: Send + Sync + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (left, right) = (a.clone(), b.clone());
        let node = self.source_async(move || code(left, right));
        self.order(a, &node);
        self.order(b, &node);
        node
    }

    /// Adds a node that uses the values of any number of nodes; see the example at
    /// [`DynGraph`].
    ///
    /// # Panics
    /// If one of them is of another graph.
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

    /// Adds a node that uses the values of any number of nodes, and awaits.
    ///
    /// ```
    /// let mut graph = ws_executor::graph::DynGraph::new();
    /// let numbers: Vec<_> = (1..=3).map(|n| graph.source(move || n)).collect();
    /// let sum = graph.gather_async(&numbers, async |numbers| {
    ///     ws_executor::yield_now().await;
    ///     numbers.iter().map(|n| *n.get()).sum::<u32>()
    /// });
    /// let executor = ws_executor::Executor::new();
    /// executor.block_on(graph.run(&executor.handle()));
    /// assert_eq!(sum.take(), 6);
    /// ```
    ///
    /// # Panics
    /// If one of them is of another graph.
    pub fn gather_async<A, T, F>(
        &mut self,
        all: &[Output<A>],
        code: impl FnOnce(Vec<Output<A>>) -> F + Send + 'static,
    ) -> Output<T>
    where
        A: Send + Sync + 'static,
        T: Send + Sync + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let values = all.to_vec();
        let node = self.source_async(move || code(values));
        for output in all {
            self.order(output, &node);
        }
        node
    }

    /// Makes one node wait for another whose value it does not use.
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
    /// If one of them is of another graph, or if the first was not added before the second.
    /// This rules out cycles.
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
}
