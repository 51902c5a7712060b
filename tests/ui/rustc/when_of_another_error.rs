//! A node with several `?` has the error of the graph, of which `when` is asked.

use ws_executor::task_graph;

struct Small;

struct Trouble;

impl From<Small> for Trouble {
    fn from(_: Small) -> Self {
        Self
    }
}

impl Small {
    fn is_transient(&self) -> bool {
        true
    }
}

#[task_graph]
async fn twice(number: u32) -> Result<u32, Trouble> {
    #[node(retry(3, when = Small::is_transient))]
    let sum = call(number).await? + call(number).await?;
    Ok(sum)
}

async fn call(number: u32) -> Result<u32, Small> {
    Ok(number)
}

fn main() {}
