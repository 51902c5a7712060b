//! A graph is an `async fn`.

use ws_executor::task_graph;

#[task_graph]
fn area(side: u32) -> u32 {
    let area = side * side;
    area
}

fn main() {}
