//! What the tests of graphs share: executors of four kinds, and ways to meet and to log.

#![allow(dead_code, reason = "each test uses a part")]

use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

use futures::executor::ThreadPool;
use ws_core::Spawn;
use ws_core::spawn::FromFutures;

/// Tokio, as any executor is plugged in.
#[derive(Clone)]
pub(crate) struct Tokio(pub(crate) tokio::runtime::Handle);

impl Spawn for Tokio {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.0.spawn(future);
    }

    fn parallelism(&self) -> usize {
        2
    }
}

/// async-executor.
#[derive(Clone)]
pub(crate) struct Smol(pub(crate) Arc<async_executor::Executor<'static>>);

impl Spawn for Smol {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.0.spawn(future).detach();
    }

    fn parallelism(&self) -> usize {
        2
    }
}

/// What a test does with an executor.
pub(crate) trait Program {
    fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S);
}

/// Runs a program on executors of four kinds, two threads each.
pub(crate) fn on_every_executor(program: &impl Program) {
    let own = tests::exec::executor(2);
    program.run("ws-executor", &own.handle());
    tests::exec::assert_alive(&own);

    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    program.run("tokio", &Tokio(tokio.handle().clone()));

    let smol = Smol(Arc::default());
    let (stop, stopped) = async_channel::bounded::<()>(1);
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (smol, stopped) = (smol.clone(), stopped.clone());
            thread::spawn(move || {
                let _closed = futures::executor::block_on(smol.0.run(stopped.recv()));
            })
        })
        .collect();
    program.run("async-executor", &smol);
    drop(stop);
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());

    let pool = ThreadPool::builder().pool_size(2).create().unwrap();
    program.run(
        "ThreadPool",
        &FromFutures::with_parallelism(pool, NonZeroUsize::new(2).unwrap()),
    );
}

/// A place where futures wait until so many have come: shows that they run at the same
/// time, because one after the other they would wait for ever.
#[derive(Clone)]
pub(crate) struct Meeting(Arc<Mutex<(usize, Vec<Waker>)>>);

impl Meeting {
    pub(crate) fn of(expected: usize) -> Self {
        Self(Arc::new(Mutex::new((expected, Vec::new()))))
    }

    /// Comes, and waits for the others.
    pub(crate) async fn come(&self) {
        let mut come = false;
        poll_fn(|cx| {
            let mut meeting = self.0.lock().unwrap();
            if !come {
                come = true;
                meeting.0 = meeting
                    .0
                    .checked_sub(1)
                    .expect("nobody is expected any more");
            }
            if meeting.0 > 0 {
                meeting.1.push(cx.waker().clone());
                return Poll::Pending;
            }
            let all = std::mem::take(&mut meeting.1);
            drop(meeting);
            all.into_iter().for_each(Waker::wake);
            Poll::Ready(())
        })
        .await;
    }
}

/// What happened, in order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    pub(crate) fn add(&self, event: &'static str) {
        self.0.lock().unwrap().push(event);
    }

    pub(crate) fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// Whether the first event is before the second one.
    pub(crate) fn is_before(events: &[&str], first: &str, second: &str) -> bool {
        let at = |event| {
            events
                .iter()
                .position(|&other| other == event)
                .unwrap_or_else(|| panic!("no {event} in {events:?}"))
        };
        at(first) < at(second)
    }
}
