//! Patterns bind several values, each with its own users.

use ws_executor::task_graph;

struct Point {
    x: u32,
    inner: (u32, [u32; 2]),
}

struct Wrapper(String);

#[task_graph]
async fn sum((a, b): (u32, String), Wrapper(name): Wrapper) -> (u32, String) {
    let Point { x, inner: (y, [z, _]) } = point(a).await;
    let (first, second) = (name.len(), b);
    let both @ (left, _) = async { (x, y) }.await;
    let _ = async { z }.await;
    let _guard = Wrapper(String::new());
    (x + y + z + left + both.1 + first as u32, second)
}

async fn point(x: u32) -> Point {
    Point { x, inner: (2 * x, [3 * x, 0]) }
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    let inputs = || ((1, "b".to_owned()), Wrapper("name".to_owned()));
    handle.block_on(async {
        let (pair, wrapper) = inputs();
        assert_eq!(sum(pair, wrapper).await, (13, "b".to_owned()));
        let (pair, wrapper) = inputs();
        assert_eq!(sum::on(&handle).run(pair, wrapper).await, (13, "b".to_owned()));
    });
}
