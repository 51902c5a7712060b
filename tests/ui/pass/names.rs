//! Names that look like others, like constants, or like keywords.

#![allow(non_upper_case_globals, non_snake_case)]

use ws_executor::graph::each;
use ws_executor::task_graph;

static counts: u32 = 3;

macro_rules! sql {
    ($text:literal) => {
        $text
    };
}

async fn double(n: u32) -> u32 {
    2 * n
}

async fn either(n: u32) -> Result<u32, u32> {
    if n > 2 { Ok(n) } else { Err(n) }
}

/// `double` is a function and no slip of `doubled`, nor is `counts` one of `count`.
#[task_graph]
async fn similar(items: Vec<u32>, count: u32) -> (Vec<u32>, u32) {
    let doubled = each(items, 4, double).await;
    let again = each(doubled, 4, double).await;
    let more = double(counts).await;
    let most = double(count).await;
    (again, more + most)
}

/// Neither the names of arguments nor text in braces are slips.
#[task_graph]
async fn text(id: u32) -> String {
    let named = format!("{v} of {}", 3, v = id + 1);
    let query = sql!("select {ids}");
    let list = vec!["{ib}"];
    format!("{named} {query} {} {id}", list[0])
}

#[task_graph]
async fn patterns(n: u32) -> u32 {
    let (Ok(x) | Err(x)) = either(n).await;
    let N = double(n).await;
    let (Q, R) = (double(n).await, 1);
    let inner = {
        let N = 1;
        N + Q
    };
    x + N * Q + R + inner
}

#[task_graph]
async fn keyword(n: u32) -> String {
    let r#type = double(n).await;
    let other = double(n).await;
    format!("{type} {other}")
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        let expected = (vec![4, 8], 14);
        assert_eq!(similar(vec![1, 2], 4).await, expected);
        assert_eq!(similar::on(&handle).run(vec![1, 2], 4).await, expected);
        let expected = "2 of 3 select {ids} {ib} 1";
        assert_eq!(text(1).await, expected);
        assert_eq!(text::on(&handle).run(1).await, expected);
        assert_eq!(patterns(1).await, 9);
        assert_eq!(patterns::on(&handle).run(1).await, 9);
        assert_eq!(keyword(1).await, "2 2");
        assert_eq!(keyword::on(&handle).run(1).await, "2 2");
    });
}
