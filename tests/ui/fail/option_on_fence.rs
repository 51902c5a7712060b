//! Options are for nodes.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    let first = load(side).await;
    #[node(timeout = "1s")]
    load(first).await;
    first
}

async fn load(side: u32) -> u32 {
    side
}

fn main() {}
