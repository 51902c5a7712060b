//! A node has a value.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: Option<u32>) -> u32 {
    let first;
    let Some(second) = side else { return 0 };
    first + second
}

fn main() {}
