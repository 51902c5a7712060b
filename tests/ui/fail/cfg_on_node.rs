//! A node is always there.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    #[cfg(unix)]
    let first = side;
    first
}

fn main() {}
