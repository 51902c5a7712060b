//! Macros see what was written: as text, as a name, and as a value.

#![deny(warnings)]

use std::fmt::Debug;

use ws_executor::task_graph;

macro_rules! field {
    ($name:ident) => {
        format!("{}={}", stringify!($name), $name)
    };
}

macro_rules! ensure {
    ($condition:expr) => {
        if !$condition {
            return Err(stringify!($condition).to_string());
        }
    };
}

macro_rules! params {
    ($($value:expr),*) => {
        &[$(&$value as &dyn Debug),*]
    };
}

fn execute(params: &[&dyn Debug]) -> String {
    format!("{params:?}")
}

#[derive(Debug, PartialEq)]
struct Order {
    id: u32,
    name: String,
}

async fn double(n: u32) -> u32 {
    2 * n
}

async fn fails(n: u32) -> Result<u32, ()> {
    if n > 100 { Err(()) } else { Ok(n) }
}

/// `count`, `order` and `width` are shared by all of these.
#[task_graph]
async fn shown(count: u32, order: Order, width: usize) -> Result<Vec<String>, String> {
    let text = format!("{}={}", stringify!(count), count);
    let name = field!(count);
    let row = execute(params![count, order.name, count + 1]);
    let wide = format!("{:>width$}", count);
    let seen = dbg!(count) + dbg!(&order).id;
    tracing::info!(count, order.id, ?order, name = %order.name, "{count} {order:?}");
    assert!(order == Order { id: 1, name: String::from("x") });
    assert_eq!(order, Order { id: 1, name: String::from("x") });
    ensure!(count < 100);
    Ok(vec![text, name, row, wide, seen.to_string(), order.name])
}

/// What the pattern binds is no use of a node.
#[task_graph]
async fn matched(opt: Option<u32>, name: String, other: Option<String>) -> (bool, bool, String) {
    let v = double(3).await;
    let big = matches!(opt, Some(v) if v > 3);
    let same = opt.is_some() && v == 6;
    let long = matches!(&other, Some(name) if name.len() > 3);
    let eaten = { String::from(name) };
    (big && same, long, eaten)
}

/// These `?` are not the graph's.
#[task_graph]
async fn questions(n: u32) -> u32 {
    let order = n + 1;
    tracing::info!(?order, "got it");
    let (a, b) = futures::join!(async { Ok::<u32, ()>(fails(n).await? + 1) }, double(n));
    println!("{:?}", (|| -> Option<u32> { Some(n.checked_sub(1)? + order) })());
    a.unwrap_or(0) + b
}

#[task_graph]
async fn asserts(x: u32, text: String) -> u32 {
    assert!(!text.is_empty() && x > 100);
    let length = text.len();
    x + length as u32
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        let order = || Order { id: 1, name: "x".into() };
        let expected: Vec<String> = ["count=3", "count=3", r#"[3, "x", 4]"#, "    3", "4", "x"]
            .map(String::from)
            .to_vec();
        assert_eq!(shown(3, order(), 5).await.as_ref(), Ok(&expected));
        assert_eq!(shown::on(&handle).run(3, order(), 5).await, Ok(expected));
        let wrong = shown::on(&handle).run(300, order(), 5).await;
        assert_eq!(wrong, Err("count < 100".to_string()));

        let expected = (true, false, "name".to_string());
        let inputs = || (Some(4), "name".to_string(), None);
        let (opt, name, other) = inputs();
        assert_eq!(matched(opt, name, other).await, expected);
        let (opt, name, other) = inputs();
        assert_eq!(matched::on(&handle).run(opt, name, other).await, expected);

        assert_eq!(questions(3).await, 10);
        assert_eq!(questions::on(&handle).run(3).await, 10);
    });
    let run = std::panic::AssertUnwindSafe(|| executor.block_on(asserts(3, "text".into())));
    std::panic::set_hook(Box::new(|_| {}));
    let message = std::panic::catch_unwind(run).unwrap_err();
    let message = message.downcast_ref::<&str>();
    assert_eq!(message, Some(&"assertion failed: !text.is_empty() && x > 100"));
}
