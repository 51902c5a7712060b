//! A node borrows from another one that a third one looks at, too.

use ws_executor::task_graph;

#[task_graph]
async fn sum(number: u32) -> usize {
    let pair = (number, [1, 2]);
    let first = pair.0 as usize;
    let second = &pair.1[..];
    first + second.len()
}

fn main() {}
