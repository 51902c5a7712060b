//! Numbers of options are constants.

use ws_executor::task_graph;

const MANY: usize = 8;

#[task_graph]
async fn area(side: usize) -> usize {
    #[node(limit = side)]
    let first = side;
    #[node(limit = MANY, batch(first, max = first + MANY, within = "1ms"))]
    let second = twice(first).await;
    let third = second + 1;
    #[node(limit = 1, queue = 2 * third)]
    let fourth = third + 1;
    fourth
}

async fn twice(sides: Vec<usize>) -> Vec<usize> {
    sides
}

fn main() {}
