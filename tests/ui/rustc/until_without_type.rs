//! A partial run needs a written type.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    let area = side * side;
    let twice: u32 = 2 * area;
    twice
}

async fn user(handle: ws_executor::Handle) {
    area::on(&handle).until_twice(1).await;
    area::on(&handle).until_area(1).await;
}

fn main() {}
