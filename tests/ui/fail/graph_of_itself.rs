//! A graph does not call itself.

use ws_executor::task_graph;

#[task_graph]
async fn down(n: u32) -> u32 {
    #[node(graph)]
    let rest = down(n).await;
    rest
}

fn main() {}
