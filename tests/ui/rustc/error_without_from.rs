//! The error of `?` does not become that of the graph.

use ws_executor::task_graph;

struct Trouble;
struct Lost;

async fn load(_: &str) -> Result<u32, Lost> {
    Ok(1)
}

#[task_graph]
async fn number(text: String) -> Result<u32, Trouble> {
    let one = load(&text).await?;
    let two: u32 = text.parse().map_err(|_| Trouble)?;
    Ok(one + two)
}

fn main() {}
