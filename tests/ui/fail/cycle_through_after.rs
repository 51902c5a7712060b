//! Nobody waits for itself.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    #[node(after(last))]
    let first = side;
    let middle = first + 1;
    let last = middle + 1;
    last
}

#[task_graph]
async fn myself(side: u32) -> u32 {
    #[node(after(it))]
    let it = side;
    it
}

fn main() {}
