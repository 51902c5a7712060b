//! The options of nodes do what they say.

mod graph_support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use futures::executor::block_on;
use graph_support::{Log, Meeting};
use tests::exec::{executor, until};
use tests::watchdog;
use ws_core::Spawn;
use ws_executor::graph::{Exclusive, Sleep, TimedOut, Timer};
use ws_executor::{Handle, task_graph};

/// Time that passes at once, and is written down.
#[derive(Clone, Default)]
struct Instantly(Arc<Mutex<Vec<Duration>>>);

impl Timer for Instantly {
    fn sleep(&self, duration: Duration) -> Sleep {
        self.0.lock().unwrap().push(duration);
        Box::pin(async {})
    }
}

impl Instantly {
    fn take(&self) -> Vec<u128> {
        std::mem::take(&mut *self.0.lock().unwrap())
            .iter()
            .map(Duration::as_millis)
            .collect()
    }
}

#[derive(Debug, PartialEq)]
enum Trouble {
    Busy,
    Broken,
    Late,
}

impl Trouble {
    fn is_transient(&self) -> bool {
        matches!(self, Self::Busy)
    }
}

impl From<TimedOut> for Trouble {
    fn from(_: TimedOut) -> Self {
        Self::Late
    }
}

/// Fails as often as it is told.
#[derive(Default)]
struct Service {
    busy: AtomicUsize,
    broken: bool,
    hangs: bool,
    calls: AtomicUsize,
}

impl Service {
    fn busy(times: usize) -> Arc<Self> {
        Arc::new(Self {
            busy: AtomicUsize::new(times),
            ..Self::default()
        })
    }

    async fn call(&self) -> Result<u32, Trouble> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.hangs {
            std::future::pending::<()>().await;
        }
        if self.broken {
            return Err(Trouble::Broken);
        }
        let left = self
            .busy
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        if left.is_ok() {
            Err(Trouble::Busy)
        } else {
            Ok(7)
        }
    }
}

#[task_graph]
async fn retries(service: Arc<Service>) -> Result<u32, Trouble> {
    #[node(retry(4, backoff = "50ms..300ms", when = Trouble::is_transient))]
    let answer = service.call().await?;
    Ok(answer)
}

#[task_graph]
async fn gives_up(service: Arc<Service>) -> Result<u32, Trouble> {
    #[node(retry(1), timeout = "800ms")]
    let answer = service.call().await?;
    Ok(answer)
}

#[task_graph]
async fn falls_back(service: Arc<Service>, other: u32) -> u32 {
    #[node(timeout = Duration::from_millis(300), fallback = other)]
    let first = service.call().await.unwrap_or(1);
    first
}

#[task_graph]
async fn falls_back_on_error(service: Arc<Service>) -> Result<u32, Trouble> {
    #[node(fallback = 1)]
    let first = service.call().await?;
    #[node(retry(2), fallback = 2)]
    let second = {
        let one = service.call().await?;
        let two = service.call().await?;
        one + two
    };
    Ok(10 * first + second)
}

#[derive(Debug, PartialEq)]
struct Refused(u32);

impl From<Refused> for Trouble {
    fn from(_: Refused) -> Self {
        Self::Broken
    }
}

impl Service {
    async fn text(&self) -> Result<String, Refused> {
        match self.call().await {
            Ok(number) => Ok(number.to_string()),
            Err(_) => Err(Refused(1)),
        }
    }
}

/// The only `?` is not the last thing that happens, and the closure's type is not written.
#[task_graph]
async fn retries_inside(service: Arc<Service>) -> Result<usize, Trouble> {
    #[node(retry(4, when = |refused| refused.0 == 1))]
    let length = service.text().await?.len();
    Ok(length)
}

#[test]
fn when_has_the_error_of_the_question_wherever_it_is() {
    let executor = executor(2);
    for plain in [true, false] {
        let service = Service::busy(4);
        let run = retries_inside::on(&executor.handle());
        let result = if plain {
            block_on(retries_inside(service.clone()))
        } else {
            block_on(run.run(service.clone()))
        };
        assert_eq!(result, Ok(1));
        assert_eq!(service.calls.load(Ordering::Relaxed), 5);
    }
}

/// Whoever calls it says how often, how fast, how long, and after what.
#[task_graph]
async fn told(
    service: Arc<Service>,
    times: u32,
    pause: Duration,
    enough: Duration,
) -> Result<u32, Trouble> {
    let final_one = Trouble::Broken;
    #[node(retry(times, backoff = pause, when = |error| *error != final_one), timeout = enough)]
    let answer = service.call().await?;
    let twice = times * 2;
    Ok(answer + twice)
}

#[test]
fn options_use_values_like_any_expression() {
    let executor = executor(2);
    let time = Instantly::default();
    let run = |service: &Arc<Service>, times| {
        let (pause, enough) = (Duration::from_millis(3), Duration::from_millis(70));
        let on = told::on(&executor.handle()).timer(time.clone());
        block_on(on.run(service.clone(), times, pause, enough))
    };
    assert_eq!(run(&Service::busy(2), 2), Ok(11));
    assert_eq!(time.take(), [3, 3]);
    assert_eq!(run(&Service::busy(2), 1), Err(Trouble::Busy));
    time.take();
    let broken = Arc::new(Service {
        broken: true,
        ..Service::default()
    });
    assert_eq!(run(&broken, 9), Err(Trouble::Broken));
    assert_eq!(time.take(), []);
    let hangs = Arc::new(Service {
        hangs: true,
        ..Service::default()
    });
    assert_eq!(run(&hangs, 0), Err(Trouble::Late));
    assert_eq!(time.take(), [70]);
    let none = Duration::ZERO;
    let plain = told(Service::busy(1), 1, none, Duration::from_secs(60));
    assert_eq!(block_on(plain), Ok(9));
}

/// One attempt may use up what it has; the next one could not.
#[task_graph]
async fn consumes(
    text: String,
    other: String,
    #[shared(exclusive)] list: &mut Vec<u32>,
) -> Result<usize, Trouble> {
    #[node(timeout = "1h")]
    let first = length(text).await?;
    #[node(fallback = 100)]
    let second = length(other).await?;
    #[node(timeout = "1h")]
    let third = grow(list, first).await?;
    #[node(retry(3), fallback = list.len())]
    let fourth = grow(list, third).await?;
    Ok(second + fourth)
}

async fn length(text: String) -> Result<usize, Trouble> {
    if text.is_empty() {
        Err(Trouble::Broken)
    } else {
        Ok(text.len())
    }
}

/// Grows at every attempt, and succeeds from three on.
async fn grow(list: &mut Vec<u32>, _: usize) -> Result<usize, Trouble> {
    list.push(1);
    if list.len() == 1 || list.len() > 2 {
        Ok(list.len())
    } else {
        Err(Trouble::Busy)
    }
}

#[test]
fn a_node_that_is_tried_once_owns_its_inputs() {
    let executor = executor(2);
    let mut list = Vec::new();
    let plain = consumes("one".into(), String::new(), &mut list);
    assert_eq!(block_on(plain), Ok(103));
    assert_eq!(list.len(), 3);
    let list = Exclusive::new(Vec::new());
    let run = consumes::on(&executor.handle()).run("one".into(), "two".into(), list.clone());
    assert_eq!(block_on(run), Ok(6));
    assert_eq!(list.try_into_inner().unwrap().len(), 3);
}

#[test]
fn retry_tries_again_with_growing_pauses() {
    let executor = executor(2);
    let time = Instantly::default();
    let run = |service: &Arc<Service>| {
        block_on(
            retries::on(&executor.handle())
                .timer(time.clone())
                .run(service.clone()),
        )
    };
    assert_eq!(run(&Service::busy(0)), Ok(7));
    assert_eq!(time.take(), []);
    let service = Service::busy(4);
    assert_eq!(run(&service), Ok(7));
    assert_eq!(service.calls.load(Ordering::Relaxed), 5);
    assert_eq!(time.take(), [50, 100, 200, 300]);
    let service = Service::busy(9);
    assert_eq!(run(&service), Err(Trouble::Busy));
    assert_eq!(service.calls.load(Ordering::Relaxed), 5);
    time.take();
    // An error that `when` does not want is final.
    let service = Arc::new(Service {
        broken: true,
        ..Service::default()
    });
    assert_eq!(run(&service), Err(Trouble::Broken));
    assert_eq!(
        (service.calls.load(Ordering::Relaxed), time.take()),
        (1, vec![])
    );
    // The plain function does the same, in real time.
    assert_eq!(block_on(retries(Service::busy(1))), Ok(7));
}

#[test]
fn a_timeout_is_for_each_attempt() {
    let executor = executor(2);
    let time = Instantly::default();
    let service = Arc::new(Service {
        hangs: true,
        ..Service::default()
    });
    let run = gives_up::on(&executor.handle())
        .timer(time.clone())
        .run(service.clone());
    assert_eq!(block_on(run), Err(Trouble::Late));
    assert_eq!(service.calls.load(Ordering::Relaxed), 2);
    assert_eq!(time.take(), [800, 800]);
}

#[test]
fn a_fallback_takes_the_place_of_what_failed() {
    let executor = executor(2);
    let handle = executor.handle();
    let hangs = Arc::new(Service {
        hangs: true,
        ..Service::default()
    });
    let run = falls_back::on(&handle)
        .timer(Instantly::default())
        .run(hangs.clone(), 5);
    assert_eq!(block_on(run), 5);
    assert_eq!(block_on(falls_back(hangs, 6)), 6);
    assert_eq!(block_on(falls_back(Service::busy(0), 6)), 7);

    assert_eq!(block_on(falls_back_on_error(Service::busy(0))), Ok(84));
    let broken = || {
        Arc::new(Service {
            broken: true,
            ..Service::default()
        })
    };
    assert_eq!(block_on(falls_back_on_error(broken())), Ok(12));
    assert_eq!(
        block_on(falls_back_on_error::on(&handle).run(broken())),
        Ok(12)
    );
}

#[task_graph]
async fn ordered(log: Log, meeting: Meeting) -> usize {
    #[node(after(second))]
    let first = note(&log, "first").await;
    let second = note(&log, "second").await;
    #[node(after(first, second), name = "the last one")]
    let _third = note(&log, "third").await;
    let _other = meeting.come().await;
    first + second
}

async fn note(log: &Log, event: &'static str) -> usize {
    log.add(event);
    event.len()
}

#[test]
fn after_orders_what_shares_no_value() {
    watchdog::guard("after_orders_what_shares_no_value", || {
        let executor = executor(2);
        let log = Log::default();
        for _ in 0..50 {
            assert_eq!(block_on(ordered(log.clone(), Meeting::of(1))), 11);
            assert_eq!(log.take(), ["second", "first", "third"]);
            let run = ordered::on(&executor.handle()).run(log.clone(), Meeting::of(1));
            assert_eq!(block_on(run), 11);
            assert_eq!(log.take(), ["second", "first", "third"]);
        }
    });
}

/// How many are inside, and how many were at most.
#[derive(Default)]
struct Inside {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Inside {
    async fn visit(&self) -> Result<u32, Trouble> {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        for _ in 0..5 {
            ws_executor::yield_now().await;
        }
        self.now.fetch_sub(1, Ordering::Relaxed);
        Ok(1)
    }
}

const MANY: usize = 3;

#[task_graph]
async fn limited(inside: Arc<Inside>, other: Arc<Inside>) -> Result<u32, Trouble> {
    #[node(limit = 1, retry(3))]
    let one = inside.visit().await?;
    #[node(limit = MANY)]
    let three = other.visit().await?;
    Ok(one + three)
}

#[test]
fn a_limit_holds_across_the_runs_of_one_bound_graph() {
    watchdog::guard("a_limit_holds_across_the_runs_of_one_bound_graph", || {
        let executor = executor(2);
        let (one, three) = (Arc::new(Inside::default()), Arc::new(Inside::default()));
        let bound = limited::on(&executor.handle());
        let runs = (0..20).map(|_| executor.spawn(bound.clone().run(one.clone(), three.clone())));
        for run in runs.collect::<Vec<_>>() {
            assert_eq!(block_on(run), Ok(2));
        }
        assert_eq!(one.most.load(Ordering::Relaxed), 1);
        assert!((1..=3).contains(&three.most.load(Ordering::Relaxed)));
        // Runs that are dropped while they wait give their turn to the next.
        let hanging: Vec<_> = (0..5)
            .map(|_| {
                let mut run = Box::pin(bound.clone().run(one.clone(), three.clone()));
                assert!(block_on(async { futures::poll!(&mut run) }).is_pending());
                run
            })
            .collect();
        drop(hanging);
        assert_eq!(block_on(bound.run(one, three)), Ok(2));
    });
}

/// A retry that sleeps lets others in.
#[test]
fn a_sleeping_retry_holds_no_permit() {
    #[task_graph]
    async fn sleeps(service: Arc<Service>) -> Result<u32, Trouble> {
        #[node(limit = 1, retry(1, backoff = "1ms"))]
        let answer = service.call().await?;
        Ok(answer)
    }

    /// Sleeps until the other run is done.
    struct UntilDone(Arc<AtomicUsize>);
    impl Timer for UntilDone {
        fn sleep(&self, _: Duration) -> Sleep {
            let done = self.0.clone();
            Box::pin(async move {
                while done.load(Ordering::Relaxed) == 0 {
                    ws_executor::yield_now().await;
                }
            })
        }
    }

    watchdog::guard("a_sleeping_retry_holds_no_permit", || {
        let executor = executor(2);
        let done = Arc::new(AtomicUsize::new(0));
        let bound = sleeps::on(&executor.handle()).timer(UntilDone(done.clone()));
        let service = Service::busy(1);
        let sleeping = executor.spawn(bound.clone().run(service.clone()));
        until(|| service.calls.load(Ordering::Relaxed) == 1);
        assert_eq!(block_on(bound.run(Service::busy(0))), Ok(7));
        done.store(1, Ordering::Relaxed);
        assert_eq!(block_on(sleeping), Ok(7));
    });
}

#[task_graph]
async fn blocks(text: Arc<str>, fail: bool) -> Result<(ThreadId, usize), std::num::ParseIntError> {
    #[node(blocking)]
    let id = thread::current().id();
    #[node(blocking)]
    let number: usize = if fail { "x".parse()? } else { text.len() };
    Ok((id, number))
}

#[test]
fn blocking_nodes_run_on_other_threads() {
    watchdog::guard("blocking_nodes_run_on_other_threads", || {
        let executor = executor(1);
        let handle = executor.handle();
        let worker = block_on(executor.spawn(async { thread::current().id() }));
        let (id, number) = block_on(blocks::on(&handle).run("four".into(), false)).unwrap();
        assert!(id != worker && id != thread::current().id());
        assert_eq!(number, 4);
        assert!(block_on(blocks::on(&handle).run("four".into(), true)).is_err());
        // On the calling task there is no other thread.
        assert_eq!(
            block_on(blocks("four".into(), false)),
            Ok((thread::current().id(), 4))
        );
    });
}

#[task_graph]
async fn inner(meeting: Meeting, base: u32) -> Result<u32, Trouble> {
    let left = async {
        meeting.come().await;
        base
    }
    .await;
    let right = async {
        meeting.come().await;
        base + 1
    }
    .await;
    if left == 0 {
        return Err(Trouble::Broken);
    }
    Ok(left + right)
}

#[task_graph]
async fn outer(meeting: Meeting, base: u32) -> Result<u32, Trouble> {
    let twice = 2 * base;
    #[node(graph)]
    let sum = inner(meeting, twice).await?;
    #[node(graph, retry(1))]
    let again = inner(Meeting::of(2), twice).await?;
    Ok(sum + again)
}

#[test]
fn a_graph_inside_of_a_graph_runs_in_parallel_too() {
    watchdog::guard("a_graph_inside_of_a_graph_runs_in_parallel_too", || {
        let executor = executor(2);
        let handle = executor.handle();
        assert_eq!(block_on(outer(Meeting::of(2), 1)), Ok(10));
        assert_eq!(block_on(outer::on(&handle).run(Meeting::of(2), 1)), Ok(10));
        assert_eq!(
            block_on(outer::on(&handle).run(Meeting::of(2), 0)),
            Err(Trouble::Broken)
        );
    });
}

#[task_graph]
async fn one_at_a_time(#[shared(exclusive)] list: &mut Vec<u32>, #[shared] log: &Log) -> usize {
    let first = push(list, 1).await;
    let other = async {
        log.add("other");
        1
    }
    .await;
    let second = push(list, 2).await;
    let third = list.len();
    list.push(3);
    first + second + third + other
}

async fn push(list: &mut Vec<u32>, item: u32) -> usize {
    list.push(item);
    ws_executor::yield_now().await;
    list.len()
}

#[test]
fn users_of_an_exclusive_input_run_one_after_the_other() {
    watchdog::guard(
        "users_of_an_exclusive_input_run_one_after_the_other",
        || {
            let mut list = Vec::new();
            assert_eq!(block_on(one_at_a_time(&mut list, &Log::default())), 6);
            assert_eq!(list, [1, 2, 3]);

            let executor = executor(2);
            let list = Exclusive::new(Vec::new());
            let log = Arc::new(Log::default());
            let runs: Vec<_> = (0..10)
                .map(|_| {
                    executor
                        .spawn(one_at_a_time::on(&executor.handle()).run(list.clone(), log.clone()))
                })
                .collect();
            for run in runs {
                block_on(run);
            }
            let mut all = list.try_into_inner().unwrap();
            all.sort_unstable();
            assert_eq!(all, [vec![1; 10], vec![2; 10], vec![3; 10]].concat());
        },
    );
}

/// Counts what is spawned.
#[derive(Clone)]
struct Counted(Handle, Arc<AtomicUsize>);

impl Spawn for Counted {
    fn spawn<F: Future<Output = ()> + Send + 'static>(&self, future: F) {
        self.1.fetch_add(1, Ordering::Relaxed);
        Spawn::spawn(&self.0, future);
    }

    fn parallelism(&self) -> usize {
        2
    }
}

#[task_graph]
async fn forth(#[shared(exclusive)] one: &mut u32, #[shared(exclusive)] two: &mut u32) -> u32 {
    let sum = add(one, two).await;
    sum
}

#[task_graph]
async fn back(#[shared(exclusive)] two: &mut u32, #[shared(exclusive)] one: &mut u32) -> u32 {
    let sum = add(one, two).await;
    sum
}

async fn add(one: &mut u32, two: &mut u32) -> u32 {
    *one += 1;
    ws_executor::yield_now().await; // Others come meanwhile.
    *two += 1;
    *one + *two
}

#[test]
fn nodes_that_use_two_exclusive_inputs_do_not_wait_for_each_other() {
    watchdog::guard("two exclusive inputs in two orders", || {
        let executor = executor(2);
        let (one, two) = (Exclusive::new(0), Exclusive::new(0));
        let runs = (0..200).map(|round| {
            let (one, two) = (one.clone(), two.clone());
            // Both graphs, and both values in both places.
            let handle = executor.handle();
            async move {
                match round % 4 {
                    0 => forth::on(&handle).run(one, two).await,
                    1 => back::on(&handle).run(two, one).await,
                    2 => forth::on(&handle).run(two, one).await,
                    _ => back::on(&handle).run(one, two).await,
                }
            }
        });
        let sums = block_on(futures::future::join_all(runs));
        assert_eq!(sums.into_iter().max(), Some(400));
    });
}

#[test]
fn a_node_that_would_wait_for_itself_panics() {
    watchdog::guard("one exclusive value twice", || {
        let executor = executor(2);
        let one = Exclusive::new(0);
        let run = forth::on(&executor.handle()).run(one.clone(), one);
        let run = std::panic::AssertUnwindSafe(run);
        let panic = block_on(futures::FutureExt::catch_unwind(run)).unwrap_err();
        let text = panic.downcast_ref::<&str>().unwrap();
        assert!(text.contains("two of its inputs are the same"), "{text}");
    });
}

#[task_graph]
async fn fan(start: u32) -> u32 {
    let root = start + 1;
    let a = root + 1;
    let b = root + 2;
    let c = root + 3;
    a + b + c
}

#[task_graph]
async fn fan_inline(start: u32) -> u32 {
    let root = start + 1;
    #[node(inline)]
    let a = root + 1;
    #[node(inline)]
    let b = root + 2;
    let c = root + 3;
    a + b + c
}

#[task_graph]
async fn chain(start: u32) -> u32 {
    let a = start + 1;
    #[node(spawn)]
    let b = a + 1;
    let c = b + 1;
    c
}

#[test]
fn the_first_successor_runs_inline_and_the_others_are_spawned() {
    watchdog::guard(
        "the_first_successor_runs_inline_and_the_others_are_spawned",
        || {
            let executor = executor(2);
            let on = Counted(executor.handle(), Arc::default());
            let spawned = || on.1.swap(0, Ordering::Relaxed);
            assert_eq!((block_on(fan::on(&on).run(0)), spawned()), (9, 2));
            assert_eq!((block_on(fan_inline::on(&on).run(0)), spawned()), (9, 0));
            assert_eq!((block_on(chain::on(&on).run(0)), spawned()), (3, 1));
        },
    );
}
