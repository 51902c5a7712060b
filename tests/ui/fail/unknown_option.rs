//! There is a list of options.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    #[node(timout = "1s", fallback = 0)]
    let first = load(side).await;
    #[node(colour = "red")]
    let second = side;
    #[node(retry(3, backof = "1s"), rate = "500/s")]
    let third = side;
    first + second + third
}

async fn load(side: u32) -> u32 {
    side
}

fn main() {}
