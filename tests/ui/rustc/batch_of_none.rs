//! A number that is 0 is found when the graph is compiled, also if it has a name.

use ws_executor::task_graph;

const MAX: usize = 0;

#[task_graph]
async fn store(item: u32) -> u32 {
    #[node(batch(item, max = MAX, within = "1s"))]
    let id = insert(item);
    id
}

fn insert(rows: Vec<u32>) -> Vec<u32> {
    rows
}

fn main() {}
