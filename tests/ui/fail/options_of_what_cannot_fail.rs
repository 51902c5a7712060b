//! Options need something to act on.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    #[node(retry(3))]
    let first = load(side).await;
    #[node(fallback = 0)]
    let second = load(side).await;
    #[node(timeout = "1s")]
    let third = load(side).await;
    first + second + third
}

async fn load(side: u32) -> u32 {
    side
}

fn main() {}
