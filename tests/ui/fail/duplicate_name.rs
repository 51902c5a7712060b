//! A name stands for one node.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    let area = side * side;
    let area = area + 1;
    let side = 2;
    area * side
}

fn main() {}
