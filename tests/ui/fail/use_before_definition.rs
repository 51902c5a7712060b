//! Names are used below their definition.

use ws_executor::task_graph;

#[task_graph]
async fn page(text: String) -> usize {
    let width = height + 1;
    let height = text.len();
    width + height
}

fn main() {}
