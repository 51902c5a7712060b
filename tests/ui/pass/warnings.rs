//! What is written without a warning makes none.

#![deny(warnings)]
#![allow(unexpected_cfgs)]

use ws_executor::task_graph;

async fn double(n: u32) -> u32 {
    2 * n
}

#[task_graph]
async fn quiet(n: u32) -> String {
    let order = double(n).await;
    #[cfg(feature = "verbose")]
    println!("{order:?}");
    let hidden = {
        #[cfg(feature = "verbose")]
        println!("{order:?}");
        double(n).await
    };
    let named = format!("{order}", order = n + 1);
    #[allow(unused_variables)]
    let (a, rest) = (double(n).await, 1);
    let text = stringify!(order);
    format!("{order} {hidden} {named} {a} {text}")
}

/// The call of the batch has `more` for itself.
#[task_graph]
async fn batches(n: u32, #[shared] more: &u32) -> u32 {
    if n == 0 {
        skip!();
    }
    #[node(batch(n, max = 4, within = "1ms"))]
    let sum: u32 = n.into_iter().map(|n| n + more).collect();
    sum
}

/// `list` has no use after the nodes that look at it.
#[task_graph]
async fn inside(n: u32) -> usize {
    let other = double(n).await as usize;
    let list = vec![double(n).await];
    let length = async { list.len() }.await;
    let first = async { list[0] }.await;
    length + first as usize + other
}

#[task_graph]
async fn stream(
    line: String,
    #[shared] least: &usize,
    #[shared(exclusive)] log: &mut Vec<usize>,
) -> usize {
    let length = line.len();
    #[cfg(feature = "verbose")]
    log.push(length);
    if length < *least {
        skip!();
    }
    #[node(flat = 2)]
    let part = line.into_bytes();
    let (a, b) = (double(part.into()).await as usize, length);
    #[allow(unused_variables)]
    let (c, rest) = (double(part.into()).await as usize, 1);
    match a {
        7 => skip!(),
        8 => return a,
        _ => {}
    }
    log.push(a);
    a + b + c
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        assert_eq!(inside(1).await, 5);
        assert_eq!(quiet(1).await, "2 2 2 2 order");
        assert_eq!(quiet::on(&handle).run(1).await, "2 2 2 2 order");
    });
    let shared = batches::Shared { more: std::sync::Arc::new(3) };
    let _batches = batches::bind(&handle, shared);
    let shared = stream::Shared {
        least: std::sync::Arc::new(3),
        log: ws_executor::graph::Exclusive::new(Vec::new()),
    };
    let _stream = stream::bind(&handle, shared);
}
