//! A value that cannot go to another thread.

use std::rc::Rc;
use ws_executor::task_graph;

#[task_graph]
async fn number(text: String) -> usize {
    let shared = Rc::new(text.len());
    let one = async { *shared + 1 }.await;
    let two = async { *shared + 2 }.await;
    one + two
}

fn main() {}
