//! What does not parse has rustc's error, and no word about an `async fn` that it is.

use ws_executor::task_graph;

#[task_graph]
pub async fn area(side: u32) -> u32 {
    let area = side * side
    area
}

fn main() {}
