//! A batch has an answer for each item.

use ws_executor::task_graph;

#[task_graph]
async fn store(item: u32) -> Result<usize, String> {
    #[node(batch(item, max = 5, within = "1s"))]
    let count = insert(item).await?;
    Ok(count)
}

async fn insert(rows: Vec<u32>) -> Result<usize, String> {
    Ok(rows.len())
}

fn main() {}
