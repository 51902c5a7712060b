//! The arguments of a call are in the wrong order.

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
    let order = load(&shop).await;
    let stock = reserve(&order, &shop).await;
    let again = reserve(&shop, &order).await;
    stock + again
}

fn main() {}
