//! A queue is between two nodes.

use ws_executor::task_graph;

#[task_graph]
async fn crowd(item: u32) -> u32 {
    #[node(queue = 2, limit = 1)]
    let first = item + 1;
    #[node(queue = 2)]
    let second = first + 1;
    #[node(queue = 2, limit = 1)]
    let third = first + 1;
    #[node(queue = 2, rate = "1/s")]
    let both = second + third;
    both
}

#[task_graph]
async fn batched(item: u32) -> u32 {
    #[node(batch(item, max = 2, within = "1s"))]
    let first = item;
    #[node(queue = 2, limit = 1)]
    let second = first + 1;
    second
}

fn main() {}
