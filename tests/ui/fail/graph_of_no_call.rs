//! `graph` is for calls of graphs.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    #[node(graph)]
    let square = side * side;
    #[node(graph)]
    let boxed = Box::pin(load(square)).await;
    boxed
}

async fn load(side: u32) -> u32 {
    side
}

fn main() {}
