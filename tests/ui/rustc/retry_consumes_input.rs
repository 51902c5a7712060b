//! An attempt uses up what the next one would need.

use ws_executor::task_graph;

async fn send(_: String) -> std::io::Result<u32> {
    Ok(1)
}

#[task_graph]
async fn post(text: String) -> std::io::Result<u32> {
    #[node(retry(3))]
    let sent = send(text).await?;
    Ok(sent)
}

fn main() {}
