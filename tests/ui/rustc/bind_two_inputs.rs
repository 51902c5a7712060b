//! A graph with two items cannot be bound.

use ws_executor::{Executor, task_graph};

#[task_graph]
async fn add(a: u32, b: u32) -> u32 {
    let sum = a + b;
    sum
}

fn main() {
    let executor = Executor::new();
    let _bound = add::bind(&executor.handle(), add::Shared {});
}
