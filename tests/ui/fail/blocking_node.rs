//! A node that blocks neither awaits nor can be stopped.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> Result<u32, std::num::ParseIntError> {
    #[node(blocking)]
    let first = load(side).await;
    #[node(blocking, retry(3))]
    let second: u32 = "1".parse()?;
    Ok(first + second)
}

async fn load(side: u32) -> u32 {
    side
}

fn main() {}
