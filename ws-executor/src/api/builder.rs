//! How an executor is configured and started.

use std::error::Error;
use std::fmt;
use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use ws_core::driver::Visitor;
use ws_core::{Driver, Park, ThreadParker, Unpark};

use crate::api::executor::Executor;
use crate::api::handle::Handle;
use crate::base::coop;
use crate::base::panics::{Contained, Payload, contain, drop_payload, ignore_panic};
use crate::base::stack;
use crate::base::tuning::SPARES;
use crate::scheduler::driver::{DriverHandoff, SharedDriver, VisitorHost};
use crate::scheduler::monitor::Monitor;
use crate::scheduler::monitor::look::Stall;
use crate::scheduler::monitor::spare;
use crate::scheduler::monitor::spares::Spares;
use crate::scheduler::monitor::thread::{self, StallHook};
use crate::scheduler::shared::{Settings, Shared};
use crate::scheduler::threads::{ThreadConfig, Threads, WorkerParts};
use crate::scheduler::worker::hosted::{HostedParker, HostedWorker, WakerSlot};
use crate::scheduler::worker::{AnyParker, Queues};

/// The most workers. More than any machine has processors; each costs a thread, and
/// every idle worker looks at all others.
const MAX_WORKERS: usize = 4096;

/// Configures and starts an [`Executor`].
///
/// [`build`](Self::build) checks the settings; nothing is checked before.
///
/// ```
/// use ws_executor::Executor;
///
/// let executor = Executor::builder()
///     .workers(2)
///     .thread_name(|worker| format!("mine-{worker}"))
///     .build()?;
/// let name = executor.spawn(async { std::thread::current().name().map(str::to_owned) });
/// assert!(executor.block_on(name).unwrap().starts_with("mine-"));
/// # Ok::<_, ws_executor::BuildError>(())
/// ```
#[must_use = "a builder does nothing until `build` is called"]
pub struct Builder {
    workers: Option<usize>,
    thread_name: Arc<dyn Fn(usize) -> String + Send + Sync>,
    parker: Arc<dyn Fn(usize) -> AnyParker + Send + Sync>,
    driver: Option<Box<dyn Driver>>,
    handoff: DriverHandoff,
    visitors: Option<VisitorHost>,
    lifo_slot: bool,
    budget: u32,
    seed: u64,
    spares: usize,
    on_stall: Option<StallHook>,
    config: ThreadConfig,
}

impl Executor {
    /// Returns a builder, which sets the number of workers and everything else.
    ///
    /// ```
    /// let executor = ws_executor::Executor::builder().workers(1).build()?;
    /// assert_eq!(executor.workers(), 1);
    /// # Ok::<_, ws_executor::BuildError>(())
    /// ```
    pub fn builder() -> Builder {
        Builder::new()
    }
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            workers: None,
            thread_name: Arc::new(|worker| format!("ws-worker-{worker}")),
            parker: Arc::new(|_| Box::new(Erased::new(ThreadParker::new()))),
            driver: None,
            handoff: DriverHandoff::default(),
            visitors: None,
            lifo_slot: true,
            budget: coop::DEFAULT,
            seed: 0,
            spares: SPARES,
            on_stall: None,
            config: ThreadConfig::default(),
        }
    }

    /// Sets the number of workers: 1 to 4,096. The default is the number of processors that
    /// are available.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets the name of each worker's thread, by the worker's number, counted from 0.
    pub fn thread_name(mut self, name: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        self.thread_name = Arc::new(name);
        self
    }

    /// Sets the size of each worker's stack, in bytes. The default is that of the standard
    /// library. A [`block_on`](Executor::block_on) inside a task needs more stack than an
    /// `await`.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.config.stack_size = Some(bytes);
        self
    }

    /// Sets a hook that runs on each worker's thread before anything else, with the worker's
    /// number. If the hook panics, [`build`](Self::build) gives an error.
    ///
    /// The hook also runs on [spare threads](Self::spares), with the number after the last
    /// worker's. If it panics there, no further spare thread is started.
    pub fn on_thread_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.config.on_start = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that runs on each worker's thread after everything else, with the worker's
    /// number. The hook also runs on [spare threads](Self::spares).
    pub fn on_thread_stop(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.config.on_stop = Some(Arc::new(hook));
        self
    }

    /// Sets what each worker sleeps in, by the worker's number. The default is a
    /// [`ThreadParker`]. With a [`host`](Self::host), workers sleep in the host, and this is
    /// not used.
    pub fn parker<P>(mut self, parker: impl Fn(usize) -> P + Send + Sync + 'static) -> Self
    where
        P: Park + 'static,
    {
        self.parker = Arc::new(move |worker| Box::new(Erased::new(parker(worker))));
        self
    }

    /// Sets a reactor that an idle worker sleeps in; see [`ws_core::driver`].
    pub fn driver(mut self, driver: impl Driver) -> Self {
        self.driver = Some(Box::new(driver));
        self
    }

    /// Sets what happens to the driver when its worker leaves it to run tasks.
    pub fn driver_handoff(mut self, handoff: DriverHandoff) -> Self {
        self.handoff = handoff;
        self
    }

    /// Makes each worker a future, and runs that by `host` on the worker's thread: for reactors
    /// that are best driven by their own `block_on`.
    ///
    /// `host` must poll the worker until it is ready, and soon after each wake. Until that poll
    /// the worker counts as searching, and other workers that are asleep may not be notified of
    /// new tasks. While `host` does something else, the tasks that are queued on its worker may
    /// wait.
    ///
    /// `host` is also called on [spare threads](Self::spares); see [`HostedWorker::is_spare`].
    ///
    /// ```
    /// let executor = ws_executor::Executor::builder()
    ///     .workers(2)
    ///     .host(|worker| futures::executor::block_on(worker))
    ///     .build()?;
    /// assert_eq!(executor.block_on(executor.spawn(async { 1 })), 1);
    /// # Ok::<_, ws_executor::BuildError>(())
    /// ```
    pub fn host(mut self, host: impl Fn(HostedWorker) + Send + Sync + 'static) -> Self {
        self.config.host = Some(Arc::new(host));
        self
    }

    /// Runs the futures of [`block_on`](Executor::block_on) by `host`, on threads that are not
    /// workers. So these threads wait in the reactor, too.
    ///
    /// `host` must poll the future until it is ready. If it returns earlier, or panics, the
    /// thread waits as it does without a host. An executor with a
    /// [driver](ws_core::Driver::block_on) uses that instead.
    ///
    /// ```
    /// let executor = ws_executor::Executor::builder()
    ///     .workers(2)
    ///     .host_visitors(|future| futures::executor::block_on(future))
    ///     .build()?;
    /// assert_eq!(executor.block_on(async { 1 }), 1);
    /// # Ok::<_, ws_executor::BuildError>(())
    /// ```
    pub fn host_visitors(mut self, host: impl Fn(Visitor<'_>) + Send + Sync + 'static) -> Self {
        self.visitors = Some(Contained::new(Box::new(host)));
        self
    }

    /// Sets whether the task that was woken last runs next, while its data is in the cache. The
    /// default is yes. Without the slot, tasks run in the order in which they were woken.
    pub fn lifo_slot(mut self, on: bool) -> Self {
        self.lifo_slot = on;
        self
    }

    /// Sets how many units of [budget](crate::coop) a task has in each poll: at least 1. The
    /// default is 128.
    pub fn budget(mut self, units: u32) -> Self {
        self.budget = units;
        self
    }

    /// Sets the seed for the choice of victims. The default is the same for every executor.
    /// Where a task runs still depends on the timing of the threads.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets how many spare threads there may be. The default is 8.
    ///
    /// While every worker is kept by a poll that blocks or computes, or is in a
    /// [join](crate::join), a spare thread polls the other tasks, within 20 milliseconds as a
    /// rule. If a task blocks that thread as well, another spare thread takes over. With 0,
    /// tasks wait for a worker. A spare thread is started when it is needed for the first time,
    /// and sleeps while it is not needed.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let executor = ws_executor::Executor::builder().workers(1).spares(1).build()?;
    /// let (send, receive) = mpsc::channel();
    /// // Better: `spawn_blocking`. This keeps the only worker.
    /// let blocked = executor.spawn(async move { receive.recv() });
    /// executor.spawn(async move { send.send("polled by a spare thread") }).detach();
    /// assert!(executor.block_on(blocked).is_ok());
    /// # Ok::<_, ws_executor::BuildError>(())
    /// ```
    pub fn spares(mut self, most: usize) -> Self {
        self.spares = most;
        self
    }

    /// Sets a hook that is called when a poll has taken longer than 100 milliseconds: once for
    /// each such poll, while the poll continues. Joins and computations do not count: they may
    /// take long.
    ///
    /// The hook runs on the monitor's thread. While the hook blocks, the monitor does not look
    /// after tasks whose workers are kept by a poll. A panic of the hook is caught.
    ///
    /// With a hook, the monitor is awake while any worker is.
    /// [`Metrics::stalls`](crate::Metrics::stalls) counts without a hook, too.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    ///
    /// let (send, receive) = mpsc::channel();
    /// let executor = ws_executor::Executor::builder()
    ///     .workers(1)
    ///     .on_stall(move |stall| send.send(stall.clone()).unwrap())
    ///     .build()?;
    /// let task = executor.spawn(async { std::thread::sleep(Duration::from_millis(200)) });
    /// let stall = receive.recv()?;
    /// assert_eq!(stall.worker(), 0);
    /// assert!(stall.lasted() >= Duration::from_millis(100));
    /// executor.block_on(task);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_stall(mut self, hook: impl Fn(&Stall) + Send + Sync + 'static) -> Self {
        self.on_stall = Some(Arc::new(hook));
        self
    }

    /// Starts the executor.
    ///
    /// ```
    /// let error = ws_executor::Executor::builder().workers(0).build().unwrap_err();
    /// assert!(error.is_invalid());
    /// ```
    ///
    /// # Errors
    ///
    /// If a setting is invalid, if a thread cannot be started, or if a hook panics. The threads
    /// that were already started are ended first.
    pub fn build(self) -> Result<Executor, BuildError> {
        let workers = self.check()?;
        let (names, mut parkers, wakers) = self.make_parts(workers)?;
        if names.iter().any(|name| name.contains('\0')) {
            let text = "the name of a thread must not contain a NUL character";
            return Err(BuildError(BuildFailure::Invalid(text.to_owned())));
        }
        let queues: Vec<Queues> = parkers.drain(..).map(Queues::new).collect();
        let remotes = queues.iter().map(Queues::remote).collect();
        let driver = self
            .driver
            .map(|driver| SharedDriver::new(driver, self.handoff));
        let settings = Settings {
            lifo_slot: self.lifo_slot,
            watches_polls: self.on_stall.is_some(),
            hosted: self.config.host.is_some(),
            budget: self.budget,
            seed: self.seed,
            stack_size: self.config.stack_size.unwrap_or_else(stack::default_size),
        };
        let config = self.config.clone();
        let shared = Shared::new(remotes, driver, self.visitors, settings, |shared| {
            let spares = Spares::new(spare::starter(shared.clone(), config), self.spares);
            Monitor::new(thread::starter(shared.clone(), self.on_stall), spares)
        });
        let members = queues
            .into_iter()
            .zip(wakers)
            .enumerate()
            .map(|(index, (queues, waker))| WorkerParts {
                shared: Arc::clone(&shared),
                index,
                queues,
                waker,
                searching: Some(shared.sleep.newborn()),
            });
        let threads = start_all(&shared, members, names, &self.config)?;
        Ok(Executor::from_parts(Handle::new(shared), threads))
    }

    /// Returns the number of workers.
    fn check(&self) -> Result<usize, BuildError> {
        let available = || std::thread::available_parallelism().map_or(1, NonZero::get);
        let workers = self.workers.unwrap_or_else(available);
        if !(1..=MAX_WORKERS).contains(&workers) {
            let text =
                format!("the number of workers must be from 1 to {MAX_WORKERS}, not {workers}");
            return Err(BuildError(BuildFailure::Invalid(text)));
        }
        if self.budget == 0 {
            return Err(BuildError(BuildFailure::Invalid(
                "the budget must be at least 1".to_owned(),
            )));
        }
        if self.driver.is_some() && self.config.host.is_some() {
            let text = "an executor has a driver or a host, not both";
            return Err(BuildError(BuildFailure::Invalid(text.to_owned())));
        }
        Ok(workers)
    }

    /// Calls the user's functions, before there are threads.
    #[expect(
        clippy::type_complexity,
        reason = "three lists, one entry for each worker"
    )]
    fn make_parts(
        &self,
        workers: usize,
    ) -> Result<(Vec<String>, Vec<AnyParker>, Vec<Option<Arc<WakerSlot>>>), BuildError> {
        contain(|| {
            let names = (0..workers)
                .map(|worker| (self.thread_name)(worker))
                .collect();
            if self.config.host.is_none() {
                let parkers = (0..workers).map(|worker| (self.parker)(worker)).collect();
                return (names, parkers, vec![None; workers]);
            }
            let hosted = |_| {
                let (parker, waker) = HostedParker::new();
                (Box::new(parker) as AnyParker, Some(waker))
            };
            let (parkers, wakers) = (0..workers).map(hosted).unzip();
            (names, parkers, wakers)
        })
        .map_err(|payload| {
            let error = BuildError(BuildFailure::Panic(text_of(&payload)));
            drop_payload(payload);
            error
        })
    }
}

/// Starts all threads, or none.
fn start_all(
    shared: &Arc<Shared>,
    members: impl Iterator<Item = WorkerParts>,
    names: Vec<String>,
    config: &ThreadConfig,
) -> Result<Threads, BuildError> {
    let mut threads = Threads::new();
    let mut failure = None;
    for (member, name) in members.zip(names) {
        if failure.is_some() {
            member.abandon();
        } else if let Err((member, error)) = threads.start(name, config.clone(), member) {
            member.abandon();
            failure = Some(BuildError(BuildFailure::Thread(error)));
        }
    }
    // Without a hook there is nothing to wait for.
    let started = if config.on_start.is_some() {
        threads.wait_for_start()
    } else {
        Ok(())
    };
    if let Err(payload) = started {
        failure = failure.or_else(|| Some(BuildError(BuildFailure::Panic(text_of(&payload)))));
        drop_payload(payload);
    }
    match failure {
        None => Ok(threads),
        Some(error) => {
            shared.close();
            threads.join();
            Err(error)
        }
    }
}

/// The text of a panic.
fn text_of(payload: &Payload) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text".to_owned())
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("workers", &self.workers)
            .field("lifo_slot", &self.lifo_slot)
            .field("budget", &self.budget)
            .field("seed", &self.seed)
            .field("driver_handoff", &self.handoff)
            .field("spares", &self.spares)
            .finish_non_exhaustive()
    }
}

/// Hides the type of a parker, and catches its panics, also those of its drop: the thread that
/// parks, unparks, or drops it may hold something that other threads borrow.
struct Erased<P> {
    parker: Contained<P>,
    unparker: Arc<dyn Unpark>,
}

impl<P: Park + 'static> Erased<P> {
    fn new(parker: P) -> Self {
        let unparker = Arc::new(ErasedUnparker(Contained::new(parker.unparker())));
        Self {
            parker: Contained::new(parker),
            unparker,
        }
    }
}

impl<P: Park> Park for Erased<P> {
    type Unparker = Arc<dyn Unpark>;

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::clone(&self.unparker)
    }

    fn park(&self) {
        ignore_panic(|| self.parker.get().park());
    }

    fn park_timeout(&self, timeout: Duration) {
        ignore_panic(|| self.parker.get().park_timeout(timeout));
    }
}

struct ErasedUnparker<U>(Contained<U>);

impl<U: Unpark> Unpark for ErasedUnparker<U> {
    fn unpark(&self) {
        ignore_panic(|| self.0.get().unpark());
    }
}

/// Why an executor could not be built; the error of [`Builder::build`].
#[derive(Debug)]
pub struct BuildError(BuildFailure);

#[derive(Debug)]
enum BuildFailure {
    Invalid(String),
    Thread(io::Error),
    Panic(String),
}

impl BuildError {
    /// Returns whether a setting was out of range, or did not go together with another one.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        matches!(self.0, BuildFailure::Invalid(_))
    }

    /// Returns whether the system refused a thread; the source is its error.
    #[must_use]
    pub fn is_thread(&self) -> bool {
        matches!(self.0, BuildFailure::Thread(_))
    }

    /// Returns whether a hook, or a function that names threads or makes parkers,
    /// panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self.0, BuildFailure::Panic(_))
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            BuildFailure::Invalid(text) => f.write_str(text),
            BuildFailure::Thread(_) => f.write_str("could not start a worker's thread"),
            BuildFailure::Panic(text) => {
                write!(f, "a function given to the builder panicked: {text}")
            }
        }
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            BuildFailure::Thread(error) => Some(error),
            _ => None,
        }
    }
}
