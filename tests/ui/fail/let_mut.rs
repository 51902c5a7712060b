//! Values do not change.

use ws_executor::task_graph;

#[task_graph]
async fn words(mut text: String) -> usize {
    let mut words: Vec<&str> = text.split(' ').collect();
    let (first, mut rest) = (1, 2);
    words.len() + first + rest
}

fn main() {}
