//! The error of the graph cannot say that a node was late.

use ws_executor::task_graph;

async fn send(_: &str) -> std::io::Result<u32> {
    Ok(1)
}

#[task_graph]
async fn post(text: String) -> std::io::Result<u32> {
    #[node(timeout = "1s")]
    let sent = send(&text).await?;
    Ok(sent)
}

async fn user(handle: ws_executor::Handle) {
    let _ = post::on(&handle).deadline(std::time::Duration::MAX).run(String::new()).await;
}

fn main() {}
