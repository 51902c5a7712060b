//! A partial run needs a type that a signature can have, and a node that is always run.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> u32 {
    struct Local(u32);
    let list: Vec<_> = vec![side];
    let text: &str = "x";
    let local: Local = Local(side);
    if list.is_empty() {
        return 0;
    }
    let twice: u32 = 2 * side;
    twice + local.0 + text.len() as u32
}

async fn user(handle: ws_executor::Handle) {
    area::on(&handle).until_list(1).await;
    area::on(&handle).until_text(1).await;
    area::on(&handle).until_local(1).await;
    area::on(&handle).until_twice(1).await;
}

fn main() {}
