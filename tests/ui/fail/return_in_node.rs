//! Only fences return.

use ws_executor::task_graph;

#[task_graph]
async fn page(input: Option<String>) -> usize {
    let text = match input {
        Some(text) => text,
        None => return 0,
    };
    let size = text.len();
    size
}

fn main() {}
