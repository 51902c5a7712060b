//! A future is passed where its output is needed.

use ws_executor::task_graph;

struct Shop;
struct Order;

async fn load(_: &Shop) -> Order {
    Order
}

async fn reserve(_: &Shop, _: &Order) -> u32 {
    1
}

#[task_graph]
async fn checkout(shop: Shop) -> u32 {
    let order = load(&shop);
    let stock = reserve(&shop, &order).await;
    let again = reserve(&shop, &order).await;
    stock + again
}

fn main() {}
