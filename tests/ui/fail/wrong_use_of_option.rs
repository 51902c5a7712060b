//! Every option is written in one way.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> Result<u32, std::io::Error> {
    #[node(retry = 3, timeout("1s"), fallback(3), inline = true, name = big)]
    let first = load(side).await?;
    #[node(inline, spawn)]
    let second = load(side).await?;
    #[node(timeout = "1s", timeout = "2s")]
    #[node(timeout = "3s")]
    let third = load(side).await?;
    #[node = "name"]
    let fourth = load(side).await?;
    #[node(limit = 0)]
    let fifth = load(side).await?;
    Ok(first + second + third + fourth + fifth)
}

async fn load(side: u32) -> std::io::Result<u32> {
    Ok(side)
}

fn main() {}
