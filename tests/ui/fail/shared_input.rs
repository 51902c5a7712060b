//! A shared input is a reference to something owned.

use ws_executor::task_graph;

#[task_graph]
async fn count(#[shared] words: Vec<String>, #[shared] name: &&str) -> usize {
    let size = words.len();
    size + name.len()
}

fn main() {}
