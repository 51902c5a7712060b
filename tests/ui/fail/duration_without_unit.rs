//! A duration has a unit.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> Result<u32, std::io::Error> {
    #[node(timeout = 800, fallback = 0)]
    let first = load(side).await?;
    #[node(timeout = "800", fallback = 0)]
    let second = load(side).await?;
    #[node(retry(3, backoff = "50..2s"))]
    let third = load(side).await?;
    #[node(retry(3, backoff = "2s..50ms"))]
    let fourth = load(side).await?;
    Ok(first + second + third + fourth)
}

async fn load(side: u32) -> std::io::Result<u32> {
    Ok(side)
}

fn main() {}
