//! Some options do not go together.

use ws_executor::task_graph;

#[task_graph]
async fn store(item: u32) -> Result<u32, ()> {
    let one = item + 1;
    #[node(batch(one, max = 2, within = "1s"), fallback = 0)]
    let two = insert(one)?;
    #[node(batch(two, max = 2, within = "1s"), flat)]
    let three = insert(two)?;
    #[node(key = three, queue = 2, limit = 1)]
    let four = three + 1;
    #[node(blocking)]
    let five = if four == 1 { skip!() } else { four };
    Ok(five)
}

fn insert(rows: Vec<u32>) -> Result<Vec<u32>, ()> {
    Ok(rows)
}

fn main() {}
