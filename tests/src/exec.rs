//! An executor under test, and what many tests do with it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;

use ws_executor::{Executor, Task};

/// Starts an executor with so many workers, and no spare threads: what is queued behind
/// workers that a test blocks stays there.
///
/// # Panics
///
/// If it cannot be built.
pub fn executor(workers: usize) -> Executor {
    let builder = Executor::builder().workers(workers).spares(0);
    builder.build().expect("the executor starts")
}

/// Checks that every worker of `executor` runs tasks: there is a task that is pinned to each,
/// so that no spare thread runs it, and they block until all of them run at the same time.
///
/// # Panics
///
/// If the executor forgot how many workers it has. If one does not run, it hangs.
pub fn assert_alive(executor: &Executor) {
    let workers = executor.workers();
    assert_eq!(executor.metrics().workers().len(), workers);
    let meeting = Arc::new(Barrier::new(workers));
    let start = |number| {
        let meeting = Arc::clone(&meeting);
        executor.handle().spawn_pinned(number, move || async move {
            meeting.wait();
            number
        })
    };
    let tasks: Vec<_> = (0..workers).map(start).collect();
    for (number, task) in tasks.into_iter().enumerate() {
        assert_eq!(executor.block_on(task), number);
    }
}

/// Runs `code` on a worker of `executor`, in a task, and returns what it does; a panic in
/// it goes on here.
pub fn on_worker<R: Send>(executor: &Executor, code: impl FnOnce() -> R + Send) -> R {
    executor.scope(|scope| {
        let task = scope.spawn(async { code() });
        executor.block_on(task)
    })
}

/// What the panic of `code` carries.
///
/// # Panics
///
/// If `code` does not.
pub fn payload_of<R>(code: impl FnOnce() -> R) -> Box<dyn Any + Send> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(_) => panic!("a panic was expected"),
        Err(payload) => payload,
    }
}

/// Returns when `condition` holds, which is to happen soon.
pub fn until(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

/// A gate that threads wait at until it is opened, for ever.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everyone pass.
    ///
    /// # Panics
    ///
    /// If a thread panicked inside the gate.
    pub fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    /// Blocks until the gate is open.
    ///
    /// # Panics
    ///
    /// If a thread panicked inside the gate.
    pub fn wait(&self) {
        let mut open = self.0.0.lock().unwrap();
        while !*open {
            open = self.0.1.wait(open).unwrap();
        }
    }
}

/// All workers of an executor, blocked in a poll; dropping this lets them go on.
#[derive(Debug)]
pub struct Hold {
    gate: Gate,
    tasks: Vec<Task<()>>,
}

/// Blocks all workers; returns when they are.
pub fn hold(executor: &Executor) -> Hold {
    let (gate, workers) = (Gate::new(), executor.workers());
    let inside = Arc::new(Barrier::new(workers + 1));
    let tasks = executor.spawn_many((0..workers).map(|_| {
        let (gate, inside) = (gate.clone(), Arc::clone(&inside));
        async move {
            inside.wait();
            gate.wait();
        }
    }));
    inside.wait();
    Hold { gate, tasks }
}

impl Hold {
    /// Lets the workers go on as soon as the executor of `handle` is closed: a
    /// shutdown, which the caller is about to begin, waits for them.
    pub fn until_closed(self, handle: ws_executor::Handle) {
        thread::spawn(move || {
            until(|| handle.is_shut_down());
            drop(self);
        });
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.gate.open();
        self.tasks.drain(..).for_each(Task::detach);
    }
}
