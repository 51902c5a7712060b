//! The attribute has few arguments.

use ws_executor::task_graph;

#[task_graph(locl)]
async fn area(side: u32) -> u32 {
    let area = side * side;
    area
}

fn main() {}
