//! A value that cannot go to another thread, with one user.

use std::rc::Rc;
use ws_executor::task_graph;

#[task_graph]
async fn number(text: String) -> usize {
    let shared = Rc::new(text.len());
    let one = async { *shared + 1 }.await;
    one
}

fn main() {}
