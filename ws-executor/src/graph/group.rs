//! Nodes that run at the same time on one task: what a plain call of a graph uses.
//!
//! The futures of the nodes are locals of the caller's future. Each poll visits them in the
//! order of the graph, and polls the nodes that have their inputs and are not done. If that
//! makes a later node ready, the same poll reaches it. Nothing is allocated, and nothing need
//! be `'static` or `Send`. As with `join!`, a wake polls every pending node.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Which of `N` nodes are done.
#[derive(Debug)]
pub struct Group<const N: usize> {
    done: [bool; N],
    left: usize,
}

impl<const N: usize> Group<N> {
    /// A group in which no node is done.
    #[expect(clippy::new_without_default, reason = "made by the expansion alone")]
    pub fn new() -> Self {
        Self {
            done: [false; N],
            left: N,
        }
    }

    /// Polls `node`, unless it is done or one of `needs` is not. Returns its output once.
    #[inline]
    pub fn poll<F: Future>(
        &mut self,
        node: usize,
        needs: &[usize],
        future: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Option<F::Output> {
        if self.done[node] || !needs.iter().all(|&need| self.done[need]) {
            return None;
        }
        match future.poll(cx) {
            Poll::Ready(output) => {
                self.done[node] = true;
                self.left -= 1;
                Some(output)
            }
            Poll::Pending => None,
        }
    }

    /// Whether all nodes are done.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.left == 0
    }
}
