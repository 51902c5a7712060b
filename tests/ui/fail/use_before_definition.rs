//! Names are used below their definition.

use ws_executor::task_graph;

#[task_graph]
async fn page(text: String) -> usize {
    let width = height + 1;
    let height = text.len();
    width + height
}

#[task_graph]
async fn patient(text: String) -> Result<usize, std::num::ParseIntError> {
    #[node(retry(times))]
    let number = text.parse::<usize>()?;
    let times = number as u32;
    Ok(times as usize)
}

fn main() {}
