//! Plain calls: a graph on the calling task beside the same code with awaits.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ws_executor::task_graph;

/// What a node does: next to nothing, and not inlined, so that what is measured is the
/// way from one to the next.
#[inline(never)]
pub(crate) async fn step(n: u64) -> u64 {
    black_box(n) + 1
}

/// The same, but pending once.
pub(crate) async fn slow_step(n: u64) -> u64 {
    ws_executor::yield_now().await;
    black_box(n) + 1
}

#[task_graph]
pub(crate) async fn chain(n: u64) -> u64 {
    let a = step(n).await;
    let b = step(a).await;
    let c = step(b).await;
    let d = step(c).await;
    let e = step(d).await;
    let f = step(e).await;
    let g = step(f).await;
    let h = step(g).await;
    let i = step(h).await;
    let j = step(i).await;
    j
}

pub(crate) const CHAIN: usize = 10;

pub(crate) async fn chain_by_hand(n: u64) -> u64 {
    let mut n = n;
    n = step(n).await;
    n = step(n).await;
    n = step(n).await;
    n = step(n).await;
    n = step(n).await;
    n = step(n).await;
    n = step(n).await;
    n = step(n).await;
    n = step(n).await;
    step(n).await
}

/// Two at a time, four times over, with a sum after each.
#[task_graph]
pub(crate) async fn pairs(n: u64) -> u64 {
    let a = slow_step(n).await;
    let b = slow_step(n).await;
    let ab = a + b;
    let c = slow_step(ab).await;
    let d = slow_step(ab).await;
    let cd = c + d;
    let e = slow_step(cd).await;
    let f = slow_step(cd).await;
    e + f
}

/// The nodes that await.
pub(crate) const PAIRS: usize = 6;

pub(crate) async fn pairs_by_hand(n: u64) -> u64 {
    let (a, b) = futures::join!(slow_step(n), slow_step(n));
    let ab = a + b;
    let (c, d) = futures::join!(slow_step(ab), slow_step(ab));
    let cd = c + d;
    let (e, f) = futures::join!(slow_step(cd), slow_step(cd));
    e + f
}

/// Polls to the end, without an executor.
pub(crate) fn drive<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
}
