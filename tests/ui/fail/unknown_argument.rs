//! The attribute has few arguments.

use ws_executor::task_graph;

#[task_graph(locl)]
async fn area(side: u32) -> u32 {
    let area = side * side;
    area
}

#[task_graph(threads = 4)]
async fn twice(side: u32) -> u32 {
    let twice = 2 * side;
    twice
}

fn main() {}
