//! `graph` is for calls of graphs.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    #[node(graph)]
    let square = side * side;
    square
}

fn main() {}
