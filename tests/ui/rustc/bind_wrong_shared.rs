//! What is bound is what the graph says is shared.

use std::sync::Arc;
use ws_executor::{Executor, task_graph};

#[task_graph]
async fn add(a: u32, #[shared] b: &u32) -> u32 {
    let sum = a + b;
    sum
}

fn main() {
    let executor = Executor::new();
    let b = Arc::new("two");
    let _bound = add::bind(&executor.handle(), add::Shared { b });
}
