//! The result borrows nothing and has a name.

use ws_executor::task_graph;

#[task_graph]
async fn longest(#[shared] word: &str) -> (&str, impl Send) {
    let size = word.len();
    (word, size)
}

fn main() {}
