//! Every mistake in a function is reported in one run, and none twice.

use ws_executor::task_graph;

#[task_graph]
async fn area(side: &u32) -> u32 {
    let mut first = *side;
    let second = frist + 1;
    #[node(timout = "1s")]
    let third = second;
    let forth = third;
    third
}

/// Uses of a graph with errors are no errors.
async fn user(executor: ws_executor::Handle) -> u32 {
    let graph = area::on(&executor);
    area(&1).await + graph.run(&1).await
}

fn main() {}
