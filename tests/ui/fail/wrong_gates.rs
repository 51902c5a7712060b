//! Every gate is written in one way, and lets something through.

use ws_executor::task_graph;

#[task_graph]
async fn rates(item: u32) -> u32 {
    #[node(rate = "500")]
    let a = item + 1;
    #[node(rate = 500)]
    let b = a + 1;
    #[node(rate = "0/s")]
    let c = b + 1;
    #[node(rate("5/s"))]
    let d = c + 1;
    #[node(rate = "5/day", limit = 0)]
    let e = d + 1;
    #[node(rat = "5/s")]
    let f = e + 1;
    f
}

#[task_graph]
async fn batches(item: u32) -> u32 {
    #[node(batch(item, max = 5))]
    let a = twice(item);
    #[node(batch(a, max = 0, within = "1s"))]
    let b = twice(a);
    #[node(batch(b, mx = 5, within = "1s"))]
    let c = twice(b);
    #[node(batch(c, max = 5, within = 5))]
    let d = twice(c);
    #[node(batch = d)]
    let e = twice(d);
    #[node(queue = 0, flat = 0)]
    let f = twice(vec![e]);
    #[node(key(f), queue, flat(2))]
    let g = f;
    g
}

fn twice(rows: Vec<u32>) -> Vec<u32> {
    rows
}

fn main() {}
