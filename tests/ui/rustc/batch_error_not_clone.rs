//! An error of a batch is that of each of its items.

use ws_executor::task_graph;

#[derive(Debug)]
struct Trouble;

#[task_graph]
async fn store(item: u32) -> Result<u32, Trouble> {
    #[node(batch(item, max = 5, within = "1s"))]
    let id = insert(item).await?;
    Ok(id)
}

async fn insert(rows: Vec<u32>) -> Result<Vec<u32>, Trouble> {
    Ok(rows)
}

fn main() {}
