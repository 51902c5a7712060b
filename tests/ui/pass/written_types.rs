//! A written type that only the body can complete or name is as good as any other.

#![deny(warnings)]

use std::borrow::Cow;

use ws_executor::graph::testing::value;
use ws_executor::task_graph;

#[derive(Debug)]
pub struct Bad;

async fn add(n: u32) -> u32 {
    n + 1
}

#[task_graph]
async fn all(n: u32) -> Result<String, Bad> {
    use std::collections::BTreeMap as Map;
    #[derive(Clone)]
    struct Local(u32);
    const SIZE: usize = 1;
    let list: Vec<_> = (0..n).collect();
    let sure: Result<_, Bad> = Ok(add(n).await);
    let text: &str = "text";
    let cow: Cow<'_, str> = Cow::Borrowed("cow");
    let short: Cow<str> = Cow::Borrowed("!");
    let local: Local = Local(add(n).await);
    let locals: Vec<Local> = vec![local.clone()];
    let map: Map<u32, u32> = Map::new();
    let array: [u32; SIZE] = [n];
    let call: fn(&u32) -> u32 = |n| *n;
    let boxed: Box<dyn Fn(&u32) -> u32 + Send + Sync> = Box::new(|n| *n);
    let _guard: Vec<u32> = Vec::new();
    let sum: u32 = list.iter().sum();
    let called = call(&n) + boxed(&n) + array[0] + map.len() as u32;
    Ok(format!("{text} {cow}{short} {} {} {sum} {} {called}", sure?, local.0, locals.len()))
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        let expected = "text cow! 4 4 3 1 9";
        assert_eq!(all(3).await.unwrap(), expected);
        assert_eq!(all::on(&handle).run(3).await.unwrap(), expected);
        assert_eq!(all::on(&handle).until_sum(3).await.unwrap(), 3);
        assert_eq!(all::on(&handle).until_call(3).await.unwrap()(&1), 1);
        assert_eq!(all::on(&handle).until_boxed(3).await.unwrap()(&1), 1);
        let report = all::test(&handle).sum(value(7)).run(3).await;
        assert_eq!(report.result.unwrap(), "text cow! 4 4 7 1 9");
    });
}
