//! A node takes away what another one looks at meanwhile.

use ws_executor::task_graph;

async fn length(text: &String) -> usize {
    text.len()
}

async fn send(_: String) -> usize {
    1
}

#[task_graph]
async fn post(text: String) -> usize {
    let length = length(&text).await;
    let sent = send(text).await;
    length + sent
}

fn main() {}
