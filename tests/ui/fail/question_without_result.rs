//! `?` needs a result.

use ws_executor::task_graph;

#[task_graph]
async fn parse(text: String) {
    let number: u32 = text.parse()?;
    println!("{number}");
}

#[task_graph]
async fn parse_one(text: String) -> u32 {
    let number: u32 = text.parse()?;
    number
}

fn main() {}
