//! The threads of an executor: how they start, and how another thread waits for their end.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use ws_core::sync::{Mutex, thread};

use crate::base::panics::{Payload, contain, drop_payload, ignore_panic};
use crate::scheduler::progress::ThreadProgress;
use crate::scheduler::shared::Shared;
use crate::scheduler::sleep::Searching;
use crate::scheduler::until::Never;
use crate::scheduler::worker::hosted::{HostedWorker, WakerSlot};
use crate::scheduler::worker::{Queues, Worker, current};

/// A hook that gets the worker's number.
pub(crate) type Hook = Arc<dyn Fn(usize) + Send + Sync>;

/// Runs a worker that is a future.
pub(crate) type Host = Arc<dyn Fn(HostedWorker) + Send + Sync>;

/// The settings of a thread.
#[derive(Clone, Default)]
pub(crate) struct ThreadConfig {
    pub(crate) on_start: Option<Hook>,
    pub(crate) on_stop: Option<Hook>,
    pub(crate) host: Option<Host>,
    pub(crate) stack_size: Option<usize>,
}

/// Threads that have been started.
pub(crate) struct Threads {
    handles: Vec<thread::JoinHandle<()>>,
    progress: Arc<ThreadProgress>,
}

impl Threads {
    pub(crate) fn new() -> Self {
        Self {
            handles: Vec::new(),
            progress: Arc::default(),
        }
    }

    /// Starts the thread of one worker.
    pub(crate) fn start(
        &mut self,
        name: String,
        config: ThreadConfig,
        member: WorkerParts,
    ) -> Result<(), (WorkerParts, io::Error)> {
        // The member stays reachable if the system refuses the thread, so that it can be ended.
        let handover = Arc::new(Mutex::new(Some(member)));
        let mut builder = thread::Builder::new().name(name);
        if let Some(size) = config.stack_size {
            builder = builder.stack_size(size);
        }
        let life = {
            let (handover, progress) = (Arc::clone(&handover), Arc::clone(&self.progress));
            move || {
                let member = handover.lock().expect("never poisoned").take();
                if let Some(member) = member {
                    member.run_thread(&config, &progress);
                }
            }
        };
        match builder.spawn(life) {
            Ok(handle) => {
                self.handles.push(handle);
                Ok(())
            }
            Err(error) => {
                let member = handover.lock().expect("never poisoned").take();
                Err((member.expect("no thread took it"), error))
            }
        }
    }

    /// Waits until all threads have run their start hooks. An error is the panic of a hook.
    pub(crate) fn wait_for_start(&self) -> Result<(), Payload> {
        self.progress.wait_for_start(self.handles.len())
    }

    /// Whether all threads have said that they end.
    pub(crate) fn have_ended(&self) -> bool {
        self.progress.have_ended(self.handles.len())
    }

    /// Whether the calling thread is one of them, also while it runs its host's code.
    pub(crate) fn is_current(&self) -> bool {
        let me = thread::current().id();
        self.handles.iter().any(|handle| handle.thread().id() == me)
    }

    /// Waits for all threads.
    pub(crate) fn join(self) {
        for handle in self.handles {
            // A thread contains all panics of user code.
            if let Err(payload) = handle.join() {
                drop_payload(payload);
            }
        }
    }
}

/// A worker whose thread has not begun to run it.
pub(crate) struct WorkerParts {
    pub(crate) shared: Arc<Shared>,
    pub(crate) index: usize,
    pub(crate) queues: Queues,
    /// Where a hosted worker's waker goes.
    pub(crate) waker: Option<Arc<WakerSlot>>,
    /// The worker counts as searching before it begins.
    pub(crate) searching: Option<Searching>,
}

impl WorkerParts {
    /// From now on the worker does not count as searching.
    fn stop_searching(&mut self) {
        if let Some(searching) = self.searching.take() {
            self.shared.stop_searching(searching);
        }
    }

    /// Ends a worker that never had a thread.
    pub(crate) fn abandon(mut self) {
        self.stop_searching();
        drop(self.queues);
        // This thread is not in the context of the driver. There are no futures yet that could
        // wait for it.
        self.shared.drop_last(ws_core::sync::thread::yield_now);
        self.shared.worker_ended();
    }

    /// The main function of a worker's thread.
    fn run_thread(self, config: &ThreadConfig, progress: &ThreadProgress) {
        let (shared, index) = (Arc::clone(&self.shared), self.index);
        let started = contain(|| config.on_start.iter().for_each(|hook| hook(index)));
        let ok = started.is_ok();
        progress.report_start(started);
        if ok {
            self.work(config);
        } else {
            self.abandon();
        }
        ignore_panic(|| config.on_stop.iter().for_each(|hook| hook(index)));
        shared.report_end(progress);
    }

    fn work(self, config: &ThreadConfig) {
        let shared = Arc::clone(&self.shared);
        let mut this = self;
        if shared.driver.is_some() {
            // `Driver::enter` is the user's code, and may take long. A push must not rely on a
            // worker that has not begun.
            this.stop_searching();
        }
        let mut member = Some(this);
        let mut life = || {
            if let Some(member) = member.take() {
                match &config.host {
                    None => member.work_blocking(),
                    Some(host) => member.work_hosted(host),
                }
            }
        };
        match &shared.driver {
            None => life(),
            Some(driver) => driver.enter(&mut life),
        }
        // The driver has not called `life`, or has panicked instead.
        if let Some(member) = member {
            member.work_blocking();
        }
    }

    fn work_blocking(self) {
        let shared = Arc::clone(&self.shared);
        let worker = Worker::new(self.shared, self.index, self.queues);
        {
            let _entered = current::enter(&worker);
            worker.run_from(self.searching, &Never);
            worker.end();
        }
        drop(worker);
        shared.worker_ended();
    }

    fn work_hosted(mut self, host: &Host) {
        let waker = self
            .waker
            .take()
            .expect("a hosted worker has a place for its waker");
        self.stop_searching();
        let worker = Rc::new(Worker::new(self.shared, self.index, self.queues));
        // Also between the polls: a task that the host's reactor wakes belongs to this worker.
        let _entered = current::enter(&worker);
        let hosted = HostedWorker::new(Rc::clone(&worker), waker);
        ignore_panic(|| host(hosted));
    }
}
