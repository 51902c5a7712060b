//! The error of a parallel run goes from thread to thread.

use std::error::Error;

use ws_executor::task_graph;

#[task_graph]
async fn add(text: String) -> Result<u32, Box<dyn Error>> {
    let number: u32 = text.parse()?;
    Ok(number + 1)
}

fn main() {}
