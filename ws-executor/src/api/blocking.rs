//! Threads for code that blocks.
//!
//! One pool for the whole process, apart from all workers. It is not that of the `blocking`
//! crate, for two reasons. The handle of that crate is another type, which could not be a
//! [`Task`]. And this pool promises what happens when the system refuses a thread:
//!
//! - A thread is started when there is work and no idle thread, up to
//!   [`MAX_THREADS`]; beyond that, work waits in a queue, first in, first out.
//! - A thread that had nothing to do for [`KEEP_ALIVE`] ends.
//! - If the system refuses a thread, the work waits for one of those that exist. If there is
//!   none, the task is cancelled: no thread would ever run it. Then the caller drops its own
//!   code. It never drops that of other callers, which may take a lock that this caller has.
//!   For this a thread is started under the pool's lock. Otherwise two callers could each count
//!   on the thread of the other, and the second one that is refused would have to drop the code
//!   of both.
//!
//! Work that has not begun is cancelled by dropping its task; work that has begun runs
//! to its end. Threads of the pool do not keep the process from exiting.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use async_task::{Builder, Runnable};

use super::task::Task;
use crate::base::panics::ignore_panic;
use crate::scheduler::context;
use crate::scheduler::shared::Shared;
use crate::task::future::TaskFuture;
use crate::task::metadata::Metadata;

/// The most threads: as many as in tokio's pool, and nearly as many as in that of the
/// `blocking` crate.
const MAX_THREADS: usize = 512;

/// How long an idle thread waits for more work; as in tokio's pool.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

static POOL: Pool = Pool {
    state: Mutex::new(PoolState {
        queue: VecDeque::new(),
        threads: 0,
        idle: 0,
    }),
    work: Condvar::new(),
};

/// Runs `code` on a thread of the pool; inside, `shared` is the current executor.
pub(crate) fn spawn<F, T>(shared: Option<Arc<Shared>>, code: F) -> Task<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let once = Once(Some(move || context::within(shared, code)));
    let builder = Builder::new().metadata(Metadata::detached());
    let schedule = |runnable| POOL.push(runnable);
    // SAFETY: the future is `Send` and borrows nothing; `schedule` is `Send` and `Sync` and
    // borrows nothing.
    let (runnable, task) =
        unsafe { builder.spawn_unchecked(|metadata| TaskFuture::new(metadata, once), schedule) };
    runnable.schedule();
    Task::new(task)
}

/// A future that is ready when it is polled.
struct Once<F>(Option<F>);

// The closure is not pinned.
impl<F> Unpin for Once<F> {}

impl<F: FnOnce() -> T, T> Future for Once<F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        let code = self.0.take().expect("polled once");
        Poll::Ready(code())
    }
}

struct Pool {
    state: Mutex<PoolState>,
    work: Condvar,
}

struct PoolState {
    queue: VecDeque<Runnable<Metadata<Shared>>>,
    threads: usize,
    /// Threads that wait for work.
    idle: usize,
}

impl Pool {
    fn push(&'static self, runnable: Runnable<Metadata<Shared>>) {
        let mut state = self.lock();
        state.queue.push_back(runnable);
        // An idle thread that was notified counts as idle until it has taken its piece.
        if state.queue.len() <= state.idle {
            drop(state);
            self.work.notify_one();
        } else if state.threads < MAX_THREADS {
            // Under the lock, as in tokio's pool: every thread that is counted does exist.
            if self.start_thread().is_ok() {
                state.threads += 1;
            } else if state.threads == 0 {
                // The last thread has left an empty queue: this is the caller's own piece.
                let refused = state.queue.pop_back();
                drop(state);
                // Cancels it.
                drop(refused);
            }
        }
    }

    fn start_thread(&'static self) -> io::Result<()> {
        let builder = thread::Builder::new().name("ws-blocking".to_owned());
        builder.spawn(|| self.run()).map(drop)
    }

    /// The main function of a thread.
    fn run(&self) {
        let mut state = self.lock();
        loop {
            while let Some(runnable) = state.queue.pop_front() {
                drop(state);
                // Its own panics are contained; those of foreign wakers end here.
                ignore_panic(|| {
                    runnable.run();
                });
                state = self.lock();
            }
            state.idle += 1;
            let (after, timeout) = match self.work.wait_timeout(state, KEEP_ALIVE) {
                Ok(woken) => woken,
                Err(poisoned) => poisoned.into_inner(),
            };
            state = after;
            state.idle -= 1;
            if timeout.timed_out() && state.queue.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        // No user code runs under the lock, so it is not poisoned.
        self.state
            .lock()
            .expect("the pool's lock is never poisoned")
    }
}
