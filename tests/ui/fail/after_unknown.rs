//! `after` names nodes.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    let first = side;
    #[node(after(frist, side))]
    let second = side + 1;
    first + second
}

fn main() {}
