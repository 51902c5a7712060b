//! Two nodes that are not ordered do not change one thing.

use ws_executor::task_graph;

#[task_graph]
async fn count(#[shared] total: &mut u32, by: u32) -> u32 {
    let once = add(total, by).await;
    let twice = add(total, by).await;
    once + twice
}

async fn add(total: &mut u32, by: u32) -> u32 {
    *total += by;
    *total
}

fn main() {}
