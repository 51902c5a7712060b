//! A bound graph runs for every item: limits, statistics, and every way an item ends.
//!
//! Items are driven by hand here; what `bind` returns is in `graph_pipeline.rs`.

mod graph_support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use futures::executor::block_on;
use futures::future::join_all;
use graph_support::{Clock, Meeting, Program, on_every_executor};
use tests::watchdog;
use ws_core::Spawn;
use ws_executor::graph::Exclusive;
use ws_executor::graph::rt::Items;
use ws_executor::pipeline::{NodeReport, PerItem, Verdict};
use ws_executor::task_graph;

#[derive(Clone, Debug, PartialEq)]
struct Bad(u32);

/// Runs all items on this thread, at the same time.
fn all<P: PerItem>(
    items: &P,
    inputs: impl IntoIterator<Item = P::Item>,
) -> Vec<Verdict<P::Output, P::Error>> {
    block_on(join_all(
        (0..)
            .zip(inputs)
            .map(|(number, input)| items.run(number, input)),
    ))
}

fn node<P: PerItem>(items: &P, name: &str) -> NodeReport {
    let found = items.nodes().into_iter().find(|node| node.name == name);
    found.unwrap_or_else(|| panic!("no node {name}"))
}

/// How many are inside, and the most there ever were.
#[derive(Default)]
struct Room {
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl Room {
    async fn visit(&self, value: u32) -> Result<u32, Bad> {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        ws_executor::yield_now().await;
        ws_executor::yield_now().await;
        self.inside.fetch_sub(1, Ordering::SeqCst);
        if value == 13 {
            Err(Bad(value))
        } else {
            Ok(value)
        }
    }
}

#[task_graph]
async fn limited(value: u32, #[shared] room: &Room, #[shared] other: &Room) -> Result<u32, Bad> {
    #[node(limit = 3)]
    let one = room.visit(value).await?;
    let two = other.visit(value).await?;
    if one > 1000 {
        return Ok(0);
    }
    Ok(one + two)
}

#[test]
fn limits_hold_and_every_node_is_counted() {
    let (room, other) = (Arc::new(Room::default()), Arc::new(Room::default()));
    let shared = limited::Shared {
        room: room.clone(),
        other: other.clone(),
    };
    let items = Items::new(shared);
    let verdicts = all(&items, (0..20).chain([2000]));
    for (value, verdict) in verdicts.iter().enumerate() {
        match (value, verdict) {
            (13, Verdict::Failed(Bad(13), Some("one" | "two"))) => {}
            (20, Verdict::Done(0)) => {}
            (_, Verdict::Done(sum)) => assert_eq!(*sum as usize, 2 * value),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(room.most.load(Ordering::SeqCst), 3);
    assert!(other.most.load(Ordering::SeqCst) > 3);
    let (one, two) = (node(&items, "one"), node(&items, "two"));
    assert_eq!((one.started, two.started), (21, 21));
    assert_eq!(
        one.finished + two.finished,
        40 + u64::from(one.finished + two.finished == 41)
    );
    assert_eq!(one.failed + two.failed, 1);
    assert_eq!(one.finished + one.failed + one.cancelled, 21);
    assert!(one.most > 3, "they wait before it as well: {}", one.most);
    assert!(one.p99 >= one.p50);
    // The one that returned early did not reach the result.
    let result = node(&items, "result");
    assert_eq!((result.started, result.finished), (19, 19));
}

#[task_graph]
async fn refused(value: u32) -> Result<u32, Bad> {
    let same = double(value).await / 2;
    if same == 1 {
        return Err(Bad(1));
    }
    if same == 2 {
        Err(Bad(2))?;
    }
    if same == 3 { Err(Bad(3)) } else { Ok(same) }
}

#[test]
fn an_error_has_the_name_of_its_step_however_it_ends_the_item() {
    let items = Items::new(refused::Shared {});
    let verdicts = all(&items, 0..4);
    let [
        Verdict::Done(0),
        Verdict::Failed(Bad(1), Some("fence")),
        Verdict::Failed(Bad(2), Some("fence")),
        Verdict::Failed(Bad(3), Some("result")),
    ] = verdicts[..]
    else {
        panic!("{verdicts:?}");
    };
    let counts = |node: &NodeReport| (node.started, node.finished, node.failed);
    let nodes = items.nodes();
    let steps: Vec<_> = nodes.iter().skip(1).map(counts).collect();
    assert_eq!(steps, [(4, 3, 1), (3, 2, 1), (2, 1, 1)]);
}

#[task_graph]
async fn together(value: u32, #[shared] meeting: &Meeting) -> u32 {
    let left = come(meeting, value).await;
    let right = come(meeting, value).await;
    left + right
}

async fn come(meeting: &Meeting, value: u32) -> u32 {
    meeting.come().await;
    value
}

#[test]
fn nodes_of_an_item_and_items_run_at_the_same_time() {
    struct Together;
    impl Program for Together {
        fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
            let meeting = Arc::new(Meeting::of(10));
            let items = Arc::new(Items::new(together::Shared { meeting }));
            let (send, receive) = std::sync::mpsc::channel();
            for number in 0..5 {
                let (items, send) = (items.clone(), send.clone());
                on.spawn(async move {
                    let verdict = items.run(number, 7).await;
                    let _ = send.send(matches!(verdict, Verdict::Done(14)));
                });
            }
            for _ in 0..5 {
                let done = receive.recv_timeout(std::time::Duration::from_secs(60));
                assert_eq!(done, Ok(true), "{name}");
            }
        }
    }
    watchdog::guard("nodes_of_an_item_and_items_run_at_the_same_time", || {
        on_every_executor(&Together);
    });
}

#[task_graph]
async fn filtered(value: u32) -> Result<u32, Bad> {
    let half = value / 2;
    if value % 2 == 1 {
        skip!();
    }
    let checked = if half == 3 { Err(Bad(3))? } else { half };
    #[node(name = "limit")]
    let most = if checked > 5 { skip!() } else { 5 };
    Ok(checked + most)
}

#[test]
fn items_are_skipped_in_fences_and_nodes() {
    let items = Items::new(filtered::Shared {});
    let verdicts = all(&items, [2, 3, 6, 12]);
    let [
        Verdict::Done(6),
        Verdict::Skipped,
        Verdict::Failed(Bad(3), Some("checked")),
        Verdict::Skipped,
    ] = verdicts[..]
    else {
        panic!("{verdicts:?}")
    };
    let half = node(&items, "half");
    assert_eq!((half.started, half.finished), (4, 4));
    let checked = node(&items, "checked");
    assert_eq!(
        (checked.started, checked.finished, checked.failed),
        (3, 2, 1)
    );
    let limit = node(&items, "limit");
    assert_eq!((limit.started, limit.finished, limit.cancelled), (2, 1, 1));
}

#[task_graph]
async fn optional(value: u32) -> Option<u32> {
    let less = value.checked_sub(10)?;
    Some(less)
}

#[task_graph]
async fn sure(value: u32) {
    let _seen = value;
}

#[test]
fn none_filters_and_a_graph_without_errors_is_done() {
    let verdicts = all(&Items::new(optional::Shared {}), [5, 15]);
    assert!(matches!(verdicts[..], [Verdict::Skipped, Verdict::Done(5)]));
    let verdicts = all(&Items::new(sure::Shared {}), [5]);
    assert!(matches!(verdicts[..], [Verdict::Done(())]));
}

#[task_graph]
async fn panics(value: u32, #[shared] room: &Room) -> Result<u32, Bad> {
    let ok = room.visit(value).await?;
    let second = explode(ok).await;
    let third = room.visit(ok).await?;
    Ok(second + third)
}

async fn explode(value: u32) -> u32 {
    assert!(value != 2, "two");
    value
}

#[test]
fn a_panic_is_a_verdict_with_its_node() {
    let room = Arc::new(Room::default());
    let items = Items::new(panics::Shared { room });
    let verdicts = all(&items, [1, 2]);
    assert!(matches!(verdicts[0], Verdict::Done(2)));
    let Verdict::Panicked(payload, Some("second")) = &verdicts[1] else {
        panic!("{verdicts:?}")
    };
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"two"));
    let (second, third) = (node(&items, "second"), node(&items, "third"));
    assert_eq!((second.finished, second.failed), (1, 1));
    assert_eq!(
        (third.finished, third.failed, third.cancelled),
        (1, 0, third.started - 1)
    );
}

#[test]
fn a_dropped_item_is_cancelled_where_it_was() {
    let meeting = Arc::new(Meeting::of(3));
    let items = Items::new(together::Shared { meeting });
    let mut run = Box::pin(items.run(0, 1));
    assert!(block_on(futures::future::poll_immediate(&mut run)).is_none());
    drop(run);
    let (left, right) = (node(&items, "left"), node(&items, "right"));
    assert_eq!((left.cancelled, left.most), (1, 1));
    assert_eq!((right.cancelled, right.started), (1, 1));
    assert_eq!(node(&items, "result").started, 0);
}

#[task_graph]
async fn exclusive(value: u32, #[shared(exclusive)] seen: &mut Vec<u32>) -> usize {
    let doubled = double(value).await;
    let count = note(seen, doubled).await;
    seen.push(0);
    seen.len() + count
}

async fn double(value: u32) -> u32 {
    ws_executor::yield_now().await;
    2 * value
}

async fn note(seen: &mut Vec<u32>, value: u32) -> usize {
    seen.push(value);
    let count = seen.len();
    ws_executor::yield_now().await;
    assert_eq!(seen.len(), count, "nobody else changes it");
    count
}

#[test]
fn an_exclusive_input_has_one_user_at_a_time() {
    let seen = Exclusive::new(Vec::new());
    let shared = exclusive::Shared { seen: seen.clone() };
    let items = Items::new(shared);
    let verdicts = all(&items, [1, 2, 3]);
    assert!(
        verdicts
            .iter()
            .all(|verdict| matches!(verdict, Verdict::Done(_)))
    );
    drop(items);
    let mut seen = seen.try_into_inner().unwrap();
    seen.sort_unstable();
    assert_eq!(seen, [0, 0, 0, 2, 4, 6]);
}

#[task_graph]
async fn blocks(value: Vec<u32>, #[shared] threads: &Mutex<Vec<ThreadId>>) -> Result<u32, Bad> {
    #[node(blocking, limit = 1)]
    let sum = add(threads, value)?;
    Ok(sum)
}

fn add(threads: &Mutex<Vec<ThreadId>>, values: Vec<u32>) -> Result<u32, Bad> {
    threads.lock().unwrap().push(thread::current().id());
    if values.is_empty() {
        return Err(Bad(0));
    }
    Ok(values.into_iter().sum())
}

#[test]
fn blocking_nodes_run_on_other_threads() {
    let threads = Arc::new(Mutex::new(Vec::new()));
    let shared = blocks::Shared {
        threads: threads.clone(),
    };
    let items = Items::new(shared);
    let verdicts = all(&items, [vec![1, 2], vec![]]);
    let [Verdict::Done(3), Verdict::Failed(Bad(0), Some("sum"))] = verdicts[..] else {
        panic!("{verdicts:?}")
    };
    let threads = threads.lock().unwrap();
    assert!(threads.len() == 2 && !threads.contains(&thread::current().id()));
}

#[derive(Debug)]
struct Store<T>(T);

#[task_graph]
async fn generic<T: Clone + std::fmt::Debug, const N: usize>(
    value: [T; N],
    #[shared] store: &Store<(T, [u8; N])>,
) -> String {
    let text = format!("{value:?} {:?}", store.0.0);
    text
}

#[test]
fn a_generic_graph_is_bound_by_its_shared_inputs() {
    let shared = generic::Shared {
        store: Arc::new(Store(("x", [0; 2]))),
    };
    let items = Items::new(shared);
    let verdicts = all(&items, [["a", "b"]]);
    assert!(matches!(&verdicts[..], [Verdict::Done(text)] if text == r#"["a", "b"] "x""#));
}

#[task_graph]
async fn patient(value: u32, #[shared] calls: &AtomicUsize) -> Result<u32, Late> {
    #[node(retry(2, backoff = "1s..2s"), timeout = "1min")]
    let answer = flaky(calls, value).await?;
    Ok(answer)
}

#[derive(Debug)]
struct Late;

impl From<ws_executor::graph::TimedOut> for Late {
    fn from(_: ws_executor::graph::TimedOut) -> Self {
        Self
    }
}

async fn flaky(calls: &AtomicUsize, value: u32) -> Result<u32, Late> {
    match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Err(Late),
        1 => std::future::pending().await,
        _ => Ok(value),
    }
}

#[test]
fn retries_and_timeouts_go_by_the_timer_of_the_pipeline() {
    let clock = Clock::new();
    let shared = patient::Shared {
        calls: Arc::default(),
    };
    let mut items = Items::new(shared);
    items.set_timer(Arc::new(clock.clone()));
    let verdict = clock.block_on(items.run(0, 5));
    assert!(matches!(verdict, Verdict::Done(5)));
    assert_eq!(clock.elapsed().as_secs(), 1 + 60 + 2);
    let answer = node(&items, "answer");
    assert_eq!((answer.finished, answer.retried, answer.failed), (1, 2, 0));
}

mod fan_out {
    use super::{Bad, Items, Room, all, node};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use ws_executor::pipeline::Verdict;
    use ws_executor::task_graph;

    /// Adds up, for each word of a line.
    #[task_graph]
    async fn words(line: String, #[shared] room: &Room) -> Result<String, Bad> {
        let length = line.len();
        if length > 20 {
            return Ok(line.clone());
        }
        #[node(flat = 2)]
        let word: String = line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let first = room.visit(0).await?;
        let number: u32 = word.parse().map_err(|_| Bad(1))?;
        if number == 0 {
            skip!();
        }
        let second = room.visit(number).await?;
        Ok(format!("{second}/{length}/{first}"))
    }

    #[test]
    fn what_follows_runs_for_each_element() {
        let room = Arc::new(Room::default());
        let shared = words::Shared { room: room.clone() };
        let items = Items::new(shared);
        let lines = [
            "1 2 3 0",
            "1 x",
            "1 13",
            "0",
            "a line that is too long for words",
        ];
        let verdicts = all(&items, lines.map(str::to_owned));
        let expect = [
            r#"Many(["1/7/0", "2/7/0", "3/7/0"])"#,
            r#"Failed(Bad(1), Some("number"))"#,
            r#"Failed(Bad(13), Some("second"))"#,
            r#"Many([])"#,
            r#"Many(["a line that is too long for words"])"#,
        ];
        for (verdict, expected) in verdicts.iter().zip(expect) {
            assert_eq!(format!("{verdict:?}"), expected);
        }
        let most = room.most.load(Ordering::SeqCst);
        assert!((5..=8).contains(&most), "two of each of four: {most}");
        let (length, number) = (node(&items, "length"), node(&items, "number"));
        assert_eq!((length.finished, number.failed), (5, 1));
        assert_eq!(
            number.started,
            number.finished + number.failed + number.cancelled
        );
    }

    #[task_graph]
    async fn digits(value: u32) -> u32 {
        #[node(flat)]
        let digit = value.to_string().into_bytes();
        let number = u32::from(digit - b'0');
        if number == 0 {
            skip!();
        }
        number
    }

    #[test]
    fn a_graph_that_cannot_fail_fans_out_as_well() {
        let items = Items::new(digits::Shared {});
        let verdicts = all(&items, [1203]);
        assert!(matches!(&verdicts[..], [Verdict::Many(digits)] if digits == &[1, 2, 3]));
    }
}
