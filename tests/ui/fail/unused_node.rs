//! A node is there for somebody.

use ws_executor::task_graph;

#[task_graph]
async fn page(text: String) -> usize {
    let width = text.len();
    let height: usize = text.len();
    let (a, b) = (1, 2);
    text.len()
}

fn main() {}
