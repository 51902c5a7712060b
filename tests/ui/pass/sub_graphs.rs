//! A graph is called by any path that its function has.

use ws_executor::task_graph;

extern crate self as shop;

#[task_graph]
pub async fn price(n: u32) -> u32 {
    let price: u32 = 2 * n;
    price
}

pub mod parts {
    #[ws_executor::task_graph]
    pub async fn same<T: Clone>(n: T) -> T {
        let same = n;
        same
    }
}

mod user {
    use super::price as cost;
    use ws_executor::task_graph;

    #[task_graph]
    pub async fn total(n: u32) -> u32 {
        #[node(graph)]
        let named = shop::price(n).await;
        #[node(graph)]
        let renamed = cost(n).await;
        #[node(graph)]
        let above = super::price(n).await;
        #[node(graph)]
        let typed = crate::parts::same::<u32>(n).await;
        named + renamed + above + typed
    }
}

fn main() {
    #[task_graph]
    async fn inside(n: u32) -> u32 {
        #[node(graph)]
        let price = shop::price(n).await;
        price
    }

    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        assert_eq!(user::total(1).await, 7);
        assert_eq!(user::total::on(&handle).run(1).await, 7);
        assert_eq!(inside::on(&handle).run(1).await, 2);
    });
    assert!(user::total::GRAPH.mermaid().contains("price"));
}
