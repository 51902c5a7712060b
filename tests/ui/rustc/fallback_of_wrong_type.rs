//! The fallback is not what the node makes.

use ws_executor::task_graph;

async fn send(_: &str) -> std::io::Result<u32> {
    Ok(1)
}

#[task_graph]
async fn post(text: String) -> std::io::Result<u32> {
    #[node(fallback = "none")]
    let sent = send(&text).await?;
    Ok(sent)
}

fn main() {}
