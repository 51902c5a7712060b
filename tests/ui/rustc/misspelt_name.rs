//! A slip of the finger, where what is meant has other users.

use ws_executor::task_graph;

async fn double(n: u32) -> u32 {
    2 * n
}

#[task_graph]
async fn sum(number: u32) -> String {
    let first = double(number).await;
    let second = double(nubmer).await;
    let third = double(second).await;
    let title = format!("{frist}");
    format!("{title} {first} {third}")
}

fn main() {}
