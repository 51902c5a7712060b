//! A mistake in a graph is no mistake of those who use it.

use ws_executor::graph::testing::value;
use ws_executor::task_graph;

#[task_graph]
async fn area(side: u32) -> Result<u32, std::io::Error> {
    let area: u32 = side * side;
    let area: u32 = area * side;
    #[node(retri(3))]
    let twice: u32 = load(area).await?;
    Ok(twice)
}

async fn load(side: u32) -> Result<u32, std::io::Error> {
    Ok(side)
}

async fn user(handle: ws_executor::Handle) -> Result<(), std::io::Error> {
    let area: u32 = area::on(&handle).until_area(1).await?;
    let _: u32 = area::on(&handle).run(area).await?;
    let _: u32 = area::test(&handle).area(value(3)).run(1).await.result?;
    area::bind(&handle, area::Shared {});
    println!("{}", area::GRAPH.mermaid());
    Ok(())
}

fn main() {}
