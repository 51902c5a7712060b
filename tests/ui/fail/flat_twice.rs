//! A graph fans out once.

use ws_executor::task_graph;

#[task_graph]
async fn parts(item: Vec<Vec<u32>>) -> u32 {
    #[node(flat)]
    let list = item;
    #[node(flat = 4)]
    let number = list;
    #[node(key = number)]
    let next = number + 1;
    next
}

fn main() {}
