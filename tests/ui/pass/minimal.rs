//! The smallest graphs.

use ws_executor::task_graph;

#[task_graph]
async fn nothing() {}

#[task_graph]
async fn one() -> u32 {
    1
}

#[task_graph]
pub(crate) async fn no_tail(word: String) {
    drop(word);
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        nothing().await;
        nothing::on(&handle).run().await;
        assert_eq!(one().await + one::on(&handle).run().await, 2);
        no_tail("a".into()).await;
        no_tail::on(&handle).run("b".into()).await;
    });
}
