//! A node borrows from another one, which is gone before it.

use ws_executor::task_graph;

#[task_graph]
async fn count(text: String) -> usize {
    let lower = text.to_lowercase();
    let words = lower.split(' ').collect::<Vec<_>>();
    words.len()
}

fn main() {}
