//! The shape of a graph as data and as text for drawing tools.

use ws_executor::graph::NodeKind;
use ws_executor::task_graph;

#[task_graph]
async fn inner(n: u32) -> u32 {
    let a = n + 1;
    let b = n + 2;
    a + b
}

/// A graph with all kinds of steps.
#[task_graph]
async fn outer(n: u32) -> u32 {
    let first = n;
    #[node(graph, name = "the \"inner\" <one>")]
    let sum = inner(first).await;
    let other = first + 1;
    #[node(after(other))]
    let _last = first;
    println!("{sum}");
    other + sum
}

#[task_graph]
async fn nothing() {}

#[task_graph(local)]
async fn local() -> u32 {
    let one = 1;
    one
}

#[test]
fn nodes_and_edges_are_those_of_the_source() {
    let graph = &outer::GRAPH;
    let names: Vec<_> = graph.nodes().iter().map(|node| node.name()).collect();
    assert_eq!(
        names,
        [
            "first",
            "the \"inner\" <one>",
            "other",
            "_last",
            "fence",
            "result"
        ]
    );
    // What follows from other edges is not there: `first` before the fence, for one.
    assert_eq!(
        graph.edges(),
        [(0, 1), (0, 2), (2, 3), (1, 4), (3, 4), (4, 5)]
    );
    assert_eq!(graph.nodes()[4].kind(), NodeKind::Fence);
    assert_eq!(
        graph.nodes()[1].graph().map(|graph| graph.name()),
        Some("inner")
    );
    assert_eq!(nothing::GRAPH.nodes().len(), 1);
    assert_eq!(local::GRAPH.edges(), [(0, 1)]);
}

#[test]
fn mermaid_draws_graphs_inside_of_graphs_as_clusters() {
    let expected = r#"flowchart TD
    n0["first"]
    subgraph n1["the #quot;inner#quot; <one>: inner"]
        n1_0["a"]
        n1_1["b"]
        n1_2(["result"])
        n1_0 --> n1_2
        n1_1 --> n1_2
    end
    n2["other"]
    n3["_last"]
    n4{{"fence"}}
    n5(["result"])
    n0 --> n1
    n0 --> n2
    n2 --> n3
    n1 --> n4
    n3 --> n4
    n4 --> n5
"#;
    assert_eq!(outer::GRAPH.mermaid(), expected);
}

#[test]
fn dot_draws_graphs_inside_of_graphs_as_clusters() {
    let expected = r#"digraph "outer" {
    node [shape=box];
    n0 [label="first"];
    subgraph cluster_n1 {
        label="the \"inner\" <one>: inner";
        n1_0 [label="a"];
        n1_1 [label="b"];
        n1_2 [label="result", style=rounded];
        n1_0 -> n1_2;
        n1_1 -> n1_2;
    }
    n2 [label="other"];
    n3 [label="_last"];
    n4 [label="fence", shape=hexagon];
    n5 [label="result", style=rounded];
    n0 -> n1_0;
    n0 -> n1_1;
    n0 -> n2;
    n2 -> n3;
    n1_2 -> n4;
    n3 -> n4;
    n4 -> n5;
}
"#;
    assert_eq!(outer::GRAPH.dot(), expected);
}

/// Every step has its box and its text, every edge its line, and all is inside.
#[test]
fn the_picture_shows_every_step() {
    let svg = outer::GRAPH.svg();
    assert_eq!(svg.matches("<text").count(), 6);
    assert_eq!(svg.matches("<rect").count(), 7, "one has two frames");
    assert_eq!(
        svg.matches("stroke-opacity").count(),
        outer::GRAPH.edges().len()
    );
    assert!(svg.contains("the \"inner\" &lt;one&gt;") && !svg.contains('\n'));
    let number = |text: &str| text.split('"').next().unwrap().parse::<usize>().unwrap();
    let (width, height) = (
        number(&svg[svg.find("width=\"").unwrap() + 7..]),
        number(&svg[svg.find("height=\"").unwrap() + 8..]),
    );
    for rect in svg.split("<rect ").skip(1) {
        let at = |name: &str| number(rect.split(name).nth(1).unwrap());
        assert!(at("x=\"") + at("width=\"") < width && at("y=\"") + at("height=\"") < height);
    }
}
