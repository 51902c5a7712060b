//! A batch gathers a value of its own, and has nothing else of one item.

use ws_executor::task_graph;

#[task_graph]
async fn store(item: (u32, u32), #[shared] db: &u32) -> u32 {
    let (row, other) = item;
    #[node(batch(rwo, max = 2, within = "1s"))]
    let unknown = insert(db, row);
    #[node(batch(db, max = 2, within = "1s"))]
    let shared = insert(db, vec![1]);
    #[node(batch(other, max = 2, within = "1s"))]
    let lent = insert(db, other);
    #[node(batch(unknown, max = 2, within = "1s"))]
    let foreign = insert(db, pairs(unknown, shared, lent));
    foreign + other
}

fn insert(_: &u32, rows: Vec<u32>) -> Vec<u32> {
    rows
}

fn pairs(rows: Vec<u32>, _: u32, _: u32) -> Vec<u32> {
    rows
}

fn main() {}
