//! Gates beside each other, and beside what they let pass: nobody waits for one who waits
//! for him, nobody waits for company that cannot come, and no limit is exceeded.

mod graph_support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use futures::executor::block_on;
use graph_support::Meeting;
use tests::exec::{executor, until};
use tests::watchdog::guard;
use ws_executor::graph::Exclusive;
use ws_executor::{pipeline, task_graph, yield_now};

/// The sizes of the batches.
type Calls = Mutex<Vec<usize>>;

fn note(calls: &Calls, numbers: Vec<u64>) -> Vec<u64> {
    calls.lock().unwrap().push(numbers.len());
    numbers
}

#[task_graph]
async fn window(number: u64, #[shared] calls: &Calls) -> u64 {
    #[node(batch(number, max = 10, within = "1h"))]
    let seen = note(calls, number);
    seen
}

/// Runs ten items that wait for nothing but each other, often; returns how often they were
/// one batch.
fn whole_batches(workers: usize) -> usize {
    let executor = executor(workers);
    let whole = |_: &usize| {
        let calls = Arc::new(Calls::default());
        let shared = window::Shared {
            calls: Arc::clone(&calls),
        };
        let pipeline = window::bind(&executor.handle(), shared).iter(0..10);
        block_on(pipeline.in_flight(64).build().unwrap().run()).unwrap();
        *calls.lock().unwrap() == [10]
    };
    (0..50).filter(whole).count()
}

/// The items that a lane gives back when it waits are company, too.
#[test]
fn a_batch_waits_for_items_that_nobody_runs_yet() {
    guard("backlog", || {
        for workers in [1, 2] {
            let whole = whole_batches(workers);
            assert!(whole > 25, "{whole} of 50 on {workers} workers");
        }
    });
}

#[task_graph]
async fn stored(row: u64, #[shared(exclusive)] db: &mut Vec<u64>) -> u64 {
    #[node(batch(row, max = 4, within = "10ms"))]
    let id = insert(db, row).await;
    id
}

async fn insert(db: &mut Vec<u64>, rows: Vec<u64>) -> Vec<u64> {
    db.extend(&rows);
    yield_now().await;
    rows
}

/// Who gathers does not hold what the call needs.
#[test]
fn a_batch_may_use_an_exclusive_value() {
    guard("batch", || {
        let executor = executor(2);
        for items in [1, 100] {
            let shared = stored::Shared {
                db: Exclusive::new(Vec::new()),
            };
            let pipeline = stored::bind(&executor.handle(), shared).iter(0..items);
            let report = block_on(pipeline.build().unwrap().run()).unwrap();
            assert_eq!(report.done, items);
        }
    });
}

#[task_graph]
async fn keyed(number: u64, #[shared(exclusive)] db: &mut Vec<u64>) -> u64 {
    let slow = delayed(number).await;
    #[node(key = slow % 2)]
    let id = push(db, slow).await;
    id
}

async fn delayed(number: u64) -> u64 {
    // The first of each pair is the later.
    if number % 2 == 0 {
        for _ in 0..20 {
            yield_now().await;
        }
    }
    number
}

async fn push(db: &mut Vec<u64>, number: u64) -> u64 {
    db.push(number);
    yield_now().await;
    number
}

#[test]
fn who_waits_for_its_turn_holds_no_exclusive_value() {
    guard("key", || {
        let executor = executor(2);
        let shared = keyed::Shared {
            db: Exclusive::new(Vec::new()),
        };
        let pipeline = keyed::bind(&executor.handle(), shared).iter(0..100);
        let report = block_on(pipeline.build().unwrap().run()).unwrap();
        assert_eq!(report.done, 100);
    });
}

#[task_graph]
async fn queued(number: u64, #[shared(exclusive)] db: &mut Vec<u64>) -> u64 {
    #[node(limit = 4)]
    let first = push(db, number).await;
    #[node(limit = 1, queue = 1)]
    let second = push(db, first).await;
    second
}

#[test]
fn who_waits_for_a_place_in_a_queue_holds_no_exclusive_value() {
    guard("queue", || {
        let executor = executor(2);
        let shared = queued::Shared {
            db: Exclusive::new(Vec::new()),
        };
        let pipeline = queued::bind(&executor.handle(), shared).iter(0..100);
        let report = block_on(pipeline.build().unwrap().run()).unwrap();
        assert_eq!(report.done, 100);
    });
}

/// How many are inside, and were at most.
#[derive(Default)]
struct Room {
    inside: AtomicUsize,
    most: AtomicUsize,
    began: AtomicBool,
}

#[task_graph]
async fn writes(fail: bool, #[shared] room: &Room) -> Result<u32, ()> {
    #[node(blocking, limit = 1)]
    let written: u32 = write(room);
    let checked: u32 = check(room, fail).await?;
    Ok(written + checked)
}

fn write(room: &Room) -> u32 {
    let now = room.inside.fetch_add(1, Ordering::SeqCst) + 1;
    room.most.fetch_max(now, Ordering::SeqCst);
    room.began.store(true, Ordering::SeqCst);
    thread::sleep(Duration::from_millis(200));
    room.inside.fetch_sub(1, Ordering::SeqCst);
    1
}

async fn check(room: &Room, fail: bool) -> Result<u32, ()> {
    while fail && !room.began.load(Ordering::SeqCst) {
        yield_now().await;
    }
    if fail { Err(()) } else { Ok(1) }
}

/// A thread that is not stopped by the end of its run keeps its permit.
#[test]
fn blocking_code_of_a_run_that_is_over_counts() {
    guard("blocking", || {
        let executor = executor(2);
        let room = Arc::new(Room::default());
        let bound = writes::on(&executor.handle());
        let failing = executor.spawn(bound.clone().run(true, Arc::clone(&room)));
        until(|| room.began.load(Ordering::SeqCst));
        let second = executor.spawn(bound.clone().run(false, Arc::clone(&room)));
        assert!(block_on(failing).is_err());
        block_on(second).unwrap();
        assert_eq!(room.most.load(Ordering::SeqCst), 1);
    });
}

#[task_graph]
async fn item_writes(number: u64, #[shared] room: &Room) -> Result<u64, ()> {
    #[node(blocking, limit = 1)]
    let written = write(room);
    let checked = check_item(room, number).await?;
    Ok(u64::from(written) + checked)
}

async fn check_item(room: &Room, number: u64) -> Result<u64, ()> {
    while !room.began.load(Ordering::SeqCst) {
        yield_now().await;
    }
    if number == 0 { Err(()) } else { Ok(number) }
}

#[test]
fn blocking_code_of_an_item_that_is_over_counts() {
    guard("blocking", || {
        let executor = executor(2);
        let room = Arc::new(Room::default());
        let shared = item_writes::Shared {
            room: Arc::clone(&room),
        };
        let pipeline = item_writes::bind(&executor.handle(), shared)
            .iter(0..3)
            .on_error(|_| pipeline::Route::Skip);
        block_on(pipeline.build().unwrap().run()).unwrap();
        assert_eq!(room.most.load(Ordering::SeqCst), 1);
    });
}

/// How many have been in each node.
#[derive(Default)]
struct Rooms {
    first: AtomicUsize,
    second: AtomicUsize,
}

#[task_graph]
async fn crowded(value: u32, #[shared] rooms: &Rooms, #[shared] gate: &Meeting) -> Result<u32, ()> {
    #[node(limit = 3, fallback = 7)]
    let one = refuse(&rooms.first, value).await?;
    #[node(limit = 1, queue = 2)]
    let two = wait(&rooms.second, gate, one).await;
    Ok(two)
}

async fn refuse(room: &AtomicUsize, value: u32) -> Result<u32, ()> {
    room.fetch_add(1, Ordering::SeqCst);
    yield_now().await;
    if value < u32::MAX { Err(()) } else { Ok(value) }
}

async fn wait(room: &AtomicUsize, gate: &Meeting, value: u32) -> u32 {
    if room.fetch_add(1, Ordering::SeqCst) == 0 {
        gate.come().await;
    }
    value
}

/// The item goes on with the fallback, and needs a place as any other.
#[test]
fn a_fallback_waits_for_a_place_in_the_queue() {
    guard("fallback", || {
        let executor = executor(2);
        let (rooms, gate) = (Arc::new(Rooms::default()), Meeting::of(2));
        let shared = crowded::Shared {
            rooms: Arc::clone(&rooms),
            gate: Arc::new(gate.clone()),
        };
        let pipeline = crowded::bind(&executor.handle(), shared).iter(0..20);
        let running = pipeline.build().unwrap().start();
        // Long enough for too many to come, if they are let in.
        thread::sleep(Duration::from_millis(300));
        let first = rooms.first.load(Ordering::SeqCst);
        block_on(gate.come());
        block_on(running).unwrap();
        assert!(first <= 1 + 2 + 3, "{first} have been in the first node");
    });
}

#[task_graph]
async fn key_and_batch(number: u64, #[shared] calls: &Calls) -> u64 {
    #[node(key = 0, batch(number, max = 4, within = "1h"))]
    let seen = note(calls, number);
    seen
}

#[test]
fn a_batch_does_not_wait_for_those_who_wait_for_its_members() {
    guard("key and batch", || {
        let executor = executor(2);
        let shared = key_and_batch::Shared {
            calls: Arc::default(),
        };
        let pipeline = key_and_batch::bind(&executor.handle(), shared).iter(0..4);
        block_on(pipeline.build().unwrap().run()).unwrap();
    });
}

#[task_graph]
async fn bypass(number: u64, #[shared] calls: &Calls) -> u64 {
    if number % 50 != 0 {
        return number;
    }
    #[node(batch(number, max = 4, within = "1h"))]
    let seen = note(calls, number);
    seen
}

#[task_graph]
async fn twice(number: u64, #[shared] calls: &Calls) -> u64 {
    #[node(batch(number, max = 4, within = "1h"))]
    let first = note(calls, number);
    if first % 4 == 0 {
        skip!();
    }
    #[node(batch(first, max = 4, within = "1h"))]
    let second = note(calls, first);
    second
}

#[test]
fn a_batch_does_not_wait_for_items_that_have_no_room() {
    guard("no room", || {
        let executor = executor(2);
        let shared = bypass::Shared {
            calls: Arc::default(),
        };
        let pipeline = bypass::bind(&executor.handle(), shared).iter(0..100);
        let pipeline = pipeline.in_flight(8).ordered(true);
        block_on(pipeline.build().unwrap().run()).unwrap();

        let shared = twice::Shared {
            calls: Arc::default(),
        };
        let pipeline = twice::bind(&executor.handle(), shared).iter(0..100);
        block_on(pipeline.in_flight(4).build().unwrap().run()).unwrap();
    });
}
