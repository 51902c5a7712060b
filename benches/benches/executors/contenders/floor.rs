//! The floor: async-task alone, with a queue that belongs to the thread.
//!
//! No worker threads, no waking, no stealing, no shutdown: what a spawn and a
//! yield cost whoever builds on async-task. It runs the cases that need one
//! thread only.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use async_task::{Runnable, Task};

use crate::contender::{Contender, Kind, Spawn};

thread_local! {
    static QUEUE: RefCell<VecDeque<Runnable>> = const { RefCell::new(VecDeque::new()) };
}

#[derive(Clone)]
pub(crate) struct Floor;

/// A function, not a closure with captures: async-task then needs no reference
/// count around a call of it.
fn push(runnable: Runnable) {
    QUEUE.with_borrow_mut(|queue| queue.push_back(runnable));
}

fn pop() -> Option<Runnable> {
    QUEUE.with_borrow_mut(VecDeque::pop_front)
}

impl Spawn for Floor {
    type Join<T: Send + 'static> = Task<T>;

    fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (runnable, task) = async_task::spawn(future, push);
        runnable.schedule();
        task
    }

    fn detach<F>(&self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawn(future).detach();
    }
}

impl Contender for Floor {
    const KIND: Kind = Kind::Floor;

    type Inside = Floor;

    fn new(_workers: usize) -> Self {
        Floor
    }

    fn workers(&self) -> usize {
        0
    }

    fn inside(&self) -> Floor {
        Floor
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
                return output;
            }
            let mut runnable = pop().expect("nobody else makes tasks ready");
            loop {
                runnable.run();
                match pop() {
                    Some(next) => runnable = next,
                    None => break,
                }
            }
        }
    }

    fn yield_now() -> impl Future<Output = ()> + Send + 'static {
        futures_lite::future::yield_now()
    }
}
