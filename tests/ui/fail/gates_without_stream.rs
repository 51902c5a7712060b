//! Gates are for a graph that can be bound to a stream.

use ws_executor::task_graph;

#[task_graph]
async fn two(a: u32, b: u32) -> u32 {
    #[node(rate = "5/s")]
    let sum = a + b;
    sum
}

#[task_graph]
async fn none(#[shared] a: &u32) -> u32 {
    #[node(key = a)]
    let sum = a + 1;
    sum
}

#[task_graph]
async fn unnamed(a: impl Into<u32>) -> u32 {
    let sum = a.into() + 1;
    if sum == 1 {
        skip!();
    }
    sum
}

#[task_graph(local)]
async fn here(a: u32) -> u32 {
    #[node(flat, limit = 2)]
    let part = [a, a];
    if part == 1 {
        skip!();
    }
    part
}

fn main() {}
