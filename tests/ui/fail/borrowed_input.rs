//! Inputs are owned.

use ws_executor::task_graph;

struct Name<'a>(&'a str);

#[task_graph]
async fn greet(shop: &Vec<String>, name: Name<'_>) -> usize {
    let size = shop.len();
    size + name.0.len()
}

fn main() {}
