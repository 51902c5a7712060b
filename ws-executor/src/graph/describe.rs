//! The shape of a graph as data, and as text for drawing tools.

use std::fmt::Write;

/// The shape of a `#[task_graph]`: `checkout::GRAPH` for a graph `checkout`.
///
/// ```
/// use ws_executor::task_graph;
///
/// #[task_graph]
/// async fn area(side: u32) -> u32 {
///     let square = side * side;
///     let twice = 2 * square;
///     let half = square / 2;
///     twice + half
/// }
///
/// let graph = &area::GRAPH;
/// assert_eq!(graph.name(), "area");
/// assert_eq!(graph.nodes()[0].name(), "square");
/// assert_eq!(graph.edges(), [(0, 1), (0, 2), (1, 3), (2, 3)]);
/// assert!(graph.mermaid().contains("n0 --> n1"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Graph {
    name: &'static str,
    nodes: &'static [Node],
    edges: &'static [(u32, u32)],
    svg: &'static str,
}

/// A node of a [`Graph`]: a `let`, a fence, or the result.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    name: &'static str,
    kind: NodeKind,
    graph: Option<&'static Graph>,
}

/// The kind of a [`Node`].
///
/// ```
/// use ws_executor::graph::NodeKind;
/// use ws_executor::task_graph;
///
/// #[task_graph]
/// async fn report(text: String) -> usize {
///     let size = text.len();
///     println!("{size}");
///     size
/// }
///
/// let kinds: Vec<_> = report::GRAPH.nodes().iter().map(|node| node.kind()).collect();
/// assert_eq!(kinds, [NodeKind::Let, NodeKind::Fence, NodeKind::Output]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeKind {
    /// A `let`.
    Let,
    /// A statement that waits for all statements above it.
    Fence,
    /// The result.
    Output,
}

impl Node {
    /// For the macro alone.
    #[doc(hidden)]
    pub const fn new(name: &'static str, kind: NodeKind, graph: Option<&'static Graph>) -> Self {
        Self { name, kind, graph }
    }

    /// The name of the `let`, or that of the option `name`.
    ///
    /// See the example at [`Graph`].
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The kind of the node; see the example at [`NodeKind`].
    pub const fn kind(&self) -> NodeKind {
        self.kind
    }

    /// The graph that the node calls with the option `graph`.
    ///
    /// ```
    /// use ws_executor::task_graph;
    ///
    /// # fn main() { outside::check() }
    /// # mod outside {
    /// # use ws_executor::task_graph;
    /// #[task_graph]
    /// async fn inner() -> u32 {
    ///     1
    /// }
    ///
    /// #[task_graph]
    /// async fn outer() -> u32 {
    ///     #[node(graph)]
    ///     let one = inner().await;
    ///     one
    /// }
    ///
    /// # pub fn check() {
    /// let called = outer::GRAPH.nodes()[0].graph().unwrap();
    /// assert_eq!(called.name(), "inner");
    /// # }
    /// # }
    /// ```
    pub const fn graph(&self) -> Option<&'static Graph> {
        self.graph
    }
}

impl Graph {
    /// For the macro alone.
    #[doc(hidden)]
    pub const fn new(
        name: &'static str,
        nodes: &'static [Node],
        edges: &'static [(u32, u32)],
        svg: &'static str,
    ) -> Self {
        Self {
            name,
            nodes,
            edges,
            svg,
        }
    }

    /// The name of the function.
    ///
    /// See the example at [`Graph`].
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The nodes, in the order of the source; the result is the last one.
    ///
    /// See the example at [`Graph`].
    pub const fn nodes(&self) -> &'static [Node] {
        self.nodes
    }

    /// The edges: pairs of indices, where the second node waits for the first. Edges that
    /// follow from other edges are left out.
    ///
    /// See the example at [`Graph`].
    pub const fn edges(&self) -> &'static [(u32, u32)] {
        self.edges
    }

    /// An SVG picture; the function's documentation shows it, too.
    ///
    /// A graph inside this one is a box with two frames.
    ///
    /// ```
    /// #[ws_executor::task_graph]
    /// async fn one() -> u32 {
    ///     1
    /// }
    ///
    /// assert!(one::GRAPH.svg().starts_with("<svg"));
    /// ```
    pub const fn svg(&self) -> &'static str {
        self.svg
    }

    /// A [Mermaid](https://mermaid.js.org) flow chart.
    ///
    /// A graph inside this one is a cluster. See the example at [`Graph`].
    pub fn mermaid(&self) -> String {
        let mut text = "flowchart TD\n".to_owned();
        self.write_mermaid(&mut text, "n", 1);
        text
    }

    fn write_mermaid(&self, text: &mut String, prefix: &str, depth: usize) {
        let indent = "    ".repeat(depth);
        for (index, node) in self.nodes.iter().enumerate() {
            let name = node.name.replace('"', "#quot;");
            // Writing to a string does not fail.
            let _ = match (node.graph, node.kind) {
                (Some(graph), _) => {
                    let _ = writeln!(
                        text,
                        "{indent}subgraph {prefix}{index}[\"{name}: {}\"]",
                        graph.name
                    );
                    graph.write_mermaid(text, &format!("{prefix}{index}_"), depth + 1);
                    writeln!(text, "{indent}end")
                }
                (None, NodeKind::Let) => writeln!(text, "{indent}{prefix}{index}[\"{name}\"]"),
                (None, NodeKind::Fence) => {
                    writeln!(text, "{indent}{prefix}{index}{{{{\"{name}\"}}}}")
                }
                (None, NodeKind::Output) => writeln!(text, "{indent}{prefix}{index}([\"{name}\"])"),
            };
        }
        for (from, to) in self.edges {
            let _ = writeln!(text, "{indent}{prefix}{from} --> {prefix}{to}");
        }
    }

    /// A [Graphviz](https://graphviz.org) graph.
    ///
    /// A graph inside this one is a cluster.
    ///
    /// ```
    /// #[ws_executor::task_graph]
    /// async fn two() -> u32 {
    ///     let one = 1;
    ///     one + 1
    /// }
    ///
    /// assert!(two::GRAPH.dot().starts_with("digraph \"two\" {"));
    /// assert!(two::GRAPH.dot().contains("n0 -> n1"));
    /// ```
    pub fn dot(&self) -> String {
        let mut text = format!("digraph {:?} {{\n    node [shape=box];\n", self.name);
        self.write_dot(&mut text, "n", 1);
        text.push_str("}\n");
        text
    }

    fn write_dot(&self, text: &mut String, prefix: &str, depth: usize) {
        let indent = "    ".repeat(depth);
        for (index, node) in self.nodes.iter().enumerate() {
            let _ = match (node.graph, node.kind) {
                (Some(graph), _) => {
                    let label = format!("{}: {}", node.name, graph.name);
                    let _ = writeln!(
                        text,
                        "{indent}subgraph cluster_{prefix}{index} {{\n{indent}    label={label:?};"
                    );
                    graph.write_dot(text, &format!("{prefix}{index}_"), depth + 1);
                    writeln!(text, "{indent}}}")
                }
                (None, NodeKind::Let) => {
                    writeln!(text, "{indent}{prefix}{index} [label={:?}];", node.name)
                }
                (None, NodeKind::Fence) => writeln!(
                    text,
                    "{indent}{prefix}{index} [label={:?}, shape=hexagon];",
                    node.name
                ),
                (None, NodeKind::Output) => writeln!(
                    text,
                    "{indent}{prefix}{index} [label={:?}, style=rounded];",
                    node.name
                ),
            };
        }
        for &(from, to) in self.edges {
            for from in self.last_of(from, prefix) {
                for to in self.first_of(to, prefix) {
                    let _ = writeln!(text, "{indent}{from} -> {to};");
                }
            }
        }
    }

    /// The identifiers where edges to a node end: in a cluster, the nodes that wait for no
    /// other.
    fn first_of(&self, node: u32, prefix: &str) -> Vec<String> {
        let id = format!("{prefix}{node}");
        let Some(graph) = self.nodes.get(node as usize).and_then(|node| node.graph) else {
            return vec![id];
        };
        (0..)
            .zip(graph.nodes)
            .map(|(index, _)| index)
            .filter(|index| graph.edges.iter().all(|(_, to)| to != index))
            .flat_map(|index| graph.first_of(index, &format!("{id}_")))
            .collect()
    }

    /// The identifiers where edges from a node begin: in a cluster, its result.
    fn last_of(&self, node: u32, prefix: &str) -> Vec<String> {
        let id = format!("{prefix}{node}");
        let Some(graph) = self.nodes.get(node as usize).and_then(|node| node.graph) else {
            return vec![id];
        };
        let last = u32::try_from(graph.nodes.len().saturating_sub(1)).unwrap_or(u32::MAX);
        graph.last_of(last, &format!("{id}_"))
    }
}
