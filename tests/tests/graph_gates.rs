//! The gates of a bound graph: `rate`, `batch`, `key`, `queue`.
//!
//! Items are driven by hand here; what `bind` returns is in `graph_pipeline.rs`.

mod graph_support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::future::{join, join_all};
use graph_support::Clock;
use tests::exec::executor;
use ws_executor::graph::Timer;
use ws_executor::graph::rt::Items;
use ws_executor::pipeline::{PerItem, Verdict};
use ws_executor::{task_graph, yield_now};

#[derive(Clone, Debug, PartialEq)]
struct Bad(String);

/// Runs all items on this thread, at the same time.
async fn all<P: PerItem>(
    items: &P,
    inputs: impl IntoIterator<Item = P::Item>,
) -> Vec<Verdict<P::Output, P::Error>> {
    let runs = (0..)
        .zip(inputs)
        .map(|(number, input)| items.run(number, input));
    join_all(runs).await
}

/// The values of items that are done.
fn done<T, E: std::fmt::Debug>(verdicts: Vec<Verdict<T, E>>) -> Vec<T>
where
    T: std::fmt::Debug,
{
    verdicts
        .into_iter()
        .map(|verdict| match verdict {
            Verdict::Done(value) => value,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

mod rate {
    use super::{Arc, Clock, Duration, Items, Mutex, PerItem, Timer, all, done, task_graph};

    type Starts = Mutex<Vec<u128>>;

    #[task_graph]
    async fn paced(value: u32, #[shared] clock: &Clock, #[shared] starts: &Starts) -> u32 {
        #[node(rate = "100/s")]
        let seen = note(clock, starts, value);
        seen
    }

    fn note(clock: &Clock, starts: &Starts, value: u32) -> u32 {
        starts.lock().unwrap().push(clock.elapsed().as_millis());
        value
    }

    #[test]
    fn calls_are_an_interval_apart() {
        let (clock, starts) = (Clock::new(), Arc::new(Starts::default()));
        let shared = paced::Shared {
            clock: Arc::new(clock.clone()),
            starts: starts.clone(),
        };
        let mut items = Items::new(shared);
        items.set_timer(Arc::new(clock.clone()));
        clock.block_on(async {
            assert_eq!(done(all(&items, 0..4).await), [0, 1, 2, 3]);
            clock.sleep(Duration::from_millis(70)).await;
            items.run(4, 4).await;
            items.run(5, 5).await;
        });
        // What was not used between 30 and 100 is not saved up.
        assert_eq!(*starts.lock().unwrap(), [0, 10, 20, 30, 100, 110]);
        let seen = items.nodes().into_iter().find(|node| node.name == "seen");
        assert_eq!(seen.unwrap().most, 3, "three waited for their moment");
    }

    #[task_graph]
    async fn again(
        value: u32,
        #[shared] clock: &Clock,
        #[shared] starts: &Starts,
    ) -> Result<u32, ()> {
        #[node(rate = "60/m", limit = 1, retry(2))]
        let seen = (note(clock, starts, value) > 5).then_some(1).ok_or(())?;
        Ok(seen)
    }

    #[test]
    fn each_attempt_counts() {
        let (clock, starts) = (Clock::new(), Arc::new(Starts::default()));
        let shared = again::Shared {
            clock: Arc::new(clock.clone()),
            starts: starts.clone(),
        };
        let mut items = Items::new(shared);
        items.set_timer(Arc::new(clock.clone()));
        clock.block_on(items.run(0, 1));
        assert_eq!(*starts.lock().unwrap(), [0, 1000, 2000]);
    }
}

mod batch {
    use super::*;

    /// A database whose calls are written down.
    #[derive(Default)]
    struct Db {
        calls: Mutex<Vec<Vec<u32>>>,
        /// The calls that are under way, and the most at once.
        open: AtomicUsize,
        most: AtomicUsize,
        fails: AtomicUsize,
        cut: AtomicUsize,
    }

    struct Open<'a>(&'a Db, bool);

    impl Drop for Open<'_> {
        fn drop(&mut self) {
            self.0.open.fetch_sub(1, Ordering::SeqCst);
            self.0.cut.fetch_add(usize::from(!self.1), Ordering::SeqCst);
        }
    }

    async fn insert(db: &Db, rows: Vec<u32>) -> Result<Vec<String>, Bad> {
        let mut open = Open(db, false);
        let now = db.open.fetch_add(1, Ordering::SeqCst) + 1;
        db.most.fetch_max(now, Ordering::SeqCst);
        db.calls.lock().unwrap().push(rows.clone());
        yield_now().await;
        yield_now().await;
        open.1 = true;
        if rows.contains(&66) {
            panic!("sixty-six");
        }
        let left = |left: usize| left.checked_sub(1);
        if db
            .fails
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left)
            .is_ok()
        {
            return Err(Bad(format!("{} rows", rows.len())));
        }
        let answers = rows.iter().map(|row| format!("row {row}"));
        Ok(answers.skip(usize::from(rows.contains(&99))).collect())
    }

    #[task_graph]
    async fn stored(value: u32, #[shared] db: &Db) -> Result<String, Bad> {
        let row = value + 1;
        #[node(batch(row, max = 4, within = "200ms"), limit = 2)]
        let id: String = insert(db, row).await?;
        Ok(id)
    }

    /// A bound graph with a clock of its own.
    fn bound(
        db: &Arc<Db>,
    ) -> (
        Clock,
        impl PerItem<Item = u32, Output = String, Error = Bad>,
    ) {
        let clock = Clock::new();
        let mut items = Items::new(stored::Shared { db: db.clone() });
        items.set_timer(Arc::new(clock.clone()));
        (clock, items)
    }

    #[test]
    fn a_call_is_made_when_it_is_full_or_late() {
        let db = Arc::new(Db::default());
        let (clock, items) = bound(&db);
        assert_eq!(items.least_in_flight(), 8);
        let answers = done(clock.block_on(all(&items, 0..10)));
        let expected: Vec<String> = (1..=10).map(|row| format!("row {row}")).collect();
        assert_eq!(answers, expected);
        let calls = db.calls.lock().unwrap();
        assert_eq!(*calls, [vec![1, 2, 3, 4], vec![5, 6, 7, 8], vec![9, 10]]);
        assert_eq!(clock.elapsed(), Duration::from_millis(200));
        assert_eq!(db.most.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_limit_is_for_calls() {
        let db = Arc::new(Db::default());
        let (clock, items) = bound(&db);
        assert_eq!(done(clock.block_on(all(&items, 0..40))).len(), 40);
        assert_eq!(db.calls.lock().unwrap().len(), 10);
        assert_eq!(db.most.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn without_more_items_nobody_waits() {
        let db = Arc::new(Db::default());
        let (clock, items) = bound(&db);
        let flush = async {
            yield_now().await;
            items.flush(2);
            items.flush(2);
        };
        let (verdicts, ()) = clock.block_on(join(all(&items, [1, 2]), flush));
        assert_eq!(done(verdicts), ["row 2", "row 3"]);
        assert_eq!(clock.elapsed(), Duration::ZERO);
    }

    #[test]
    fn company_that_is_on_its_way_is_waited_for() {
        let db = Arc::new(Db::default());
        let (clock, items) = bound(&db);
        let flush = async {
            yield_now().await;
            items.flush(3); // one of them is elsewhere
        };
        let (verdicts, ()) = clock.block_on(join(all(&items, [1, 2]), flush));
        assert_eq!(done(verdicts), ["row 2", "row 3"]);
        assert!(clock.elapsed() > Duration::ZERO);
    }

    #[test]
    fn an_error_reaches_every_item_of_its_batch_and_no_other() {
        let db = Arc::new(Db::default());
        db.fails.store(1, Ordering::SeqCst);
        let (clock, items) = bound(&db);
        let verdicts = clock.block_on(all(&items, 0..8));
        let failed = |verdict: &&Verdict<_, _>| matches!(verdict, Verdict::Failed(Bad(text), Some("id")) if text == "4 rows");
        assert_eq!(verdicts.iter().filter(failed).count(), 4);
        assert_eq!(verdicts.iter().skip_while(|v| failed(v)).count(), 4);
    }

    #[test]
    fn a_wrong_number_of_answers_fails_the_whole_batch() {
        let db = Arc::new(Db::default());
        let (clock, items) = bound(&db);
        let verdicts = clock.block_on(all(&items, [1, 98, 3, 4, 5]));
        for verdict in &verdicts[..4] {
            let Verdict::Panicked(payload, Some("id")) = verdict else {
                panic!("{verdict:?}")
            };
            let text = payload.downcast_ref::<String>().unwrap();
            assert_eq!(text, "node `id` gave 3 answers for a batch of 4 items");
        }
        assert!(matches!(&verdicts[4], Verdict::Done(text) if text == "row 6"));
    }

    #[test]
    fn a_panic_reaches_every_item_of_its_batch() {
        let db = Arc::new(Db::default());
        let (clock, items) = bound(&db);
        let verdicts = clock.block_on(all(&items, [1, 65, 3, 4, 5]));
        let texts: Vec<&str> = verdicts[..4]
            .iter()
            .map(|verdict| match verdict {
                Verdict::Panicked(payload, Some("id")) => payload
                    .downcast_ref::<&str>()
                    .copied()
                    .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
                    .unwrap(),
                other => panic!("{other:?}"),
            })
            .collect();
        let own = texts.iter().filter(|text| **text == "sixty-six").count();
        let told = "the call for this batch panicked: sixty-six";
        let others = texts.iter().filter(|text| **text == told).count();
        assert_eq!((own, others), (1, 3));
        assert!(matches!(&verdicts[4], Verdict::Done(_)));
    }

    #[test]
    fn an_item_that_is_cancelled_loses_nobody_else() {
        // Whoever is dropped, and however far the others have come.
        for victim in 0..4 {
            for polls in 1..6 {
                let db = Arc::new(Db::default());
                let (clock, items) = bound(&db);
                let mut runs: Vec<_> = (0..4)
                    .map(|n| Some(Box::pin(items.run(n, n as u32))))
                    .collect();
                let mut over = Vec::new();
                for _ in 0..polls {
                    for run in &mut runs {
                        if let Some(Poll::Ready(verdict)) = run.as_mut().map(poll) {
                            over.push(verdict);
                            *run = None;
                        }
                    }
                }
                runs[victim] = None;
                let rest = runs.into_iter().flatten();
                over.extend(clock.block_on(join_all(rest)));
                assert!(over.len() >= 3, "{victim} {polls}");
                assert!(
                    over.iter()
                        .all(|verdict| matches!(verdict, Verdict::Done(_)))
                );
                assert_eq!(db.open.load(Ordering::SeqCst), 0);
                assert_eq!(db.cut.load(Ordering::SeqCst), 0, "the call goes on");
            }
        }
    }

    #[test]
    fn an_item_that_leaves_before_the_call_is_not_part_of_it() {
        let db = Arc::new(Db::default());
        let (clock, items) = bound(&db);
        let mut runs: Vec<_> = (0..3).map(|n| Box::pin(items.run(n, n as u32))).collect();
        assert!(runs.iter_mut().all(|run| poll(run).is_pending()));
        drop(runs.remove(0)); // the one who sleeps for all
        let answers = done(clock.block_on(join_all(runs)));
        assert_eq!(answers, ["row 2", "row 3"]);
        assert_eq!(*db.calls.lock().unwrap(), [[2, 3]]);
    }

    /// Whether somebody was woken.
    #[derive(Default)]
    struct Flag(AtomicBool);

    impl Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn who_leads_hands_over_when_it_leaves() {
        // Two gather, or four call: in both phases one of them leads.
        for (count, leader) in [(2, 0), (4, 3)] {
            let db = Arc::new(Db::default());
            let (_clock, items) = bound(&db);
            let mut runs: Vec<_> = (0..count)
                .map(|n| (Box::pin(items.run(n, 1)), Arc::new(Flag::default())))
                .collect();
            for (run, flag) in &mut runs {
                let waker = Waker::from(flag.clone());
                assert!(
                    run.as_mut()
                        .poll(&mut Context::from_waker(&waker))
                        .is_pending()
                );
                flag.0.store(false, Ordering::SeqCst);
            }
            drop(runs.remove(leader));
            let woken = |(_, flag): &&(_, Arc<Flag>)| flag.0.load(Ordering::SeqCst);
            assert_eq!(runs.iter().filter(woken).count(), 1, "{count} items");
        }
    }

    #[test]
    fn a_call_that_nobody_wants_is_dropped() {
        let db = Arc::new(Db::default());
        let (_clock, items) = bound(&db);
        let mut runs: Vec<_> = (0..4).map(|n| Box::pin(items.run(n, n as u32))).collect();
        assert!(runs.iter_mut().all(|run| poll(run).is_pending()));
        assert_eq!(db.open.load(Ordering::SeqCst), 1);
        drop(runs);
        assert_eq!(
            (
                db.open.load(Ordering::SeqCst),
                db.cut.load(Ordering::SeqCst)
            ),
            (0, 1)
        );
        // And a company that gathers leaves nothing behind.
        let mut run = Box::pin(items.run(4, 1));
        assert!(poll(&mut run).is_pending());
        drop(run);
        let mut runs: Vec<_> = (5..9).map(|n| Box::pin(items.run(n, n as u32))).collect();
        assert!(runs.iter_mut().all(|run| poll(run).is_pending()));
        assert_eq!(*db.calls.lock().unwrap(), [[1, 2, 3, 4], [6, 7, 8, 9]]);
    }

    #[test]
    fn outside_of_a_pipeline_a_batch_is_of_one() {
        let db = Arc::new(Db::default());
        let executor = executor(1);
        futures::executor::block_on(async {
            assert_eq!(stored(1, &db).await.unwrap(), "row 2");
            let run = stored::on(&executor.handle()).run(2, db.clone());
            assert_eq!(run.await.unwrap(), "row 3");
            let test = stored::test(&executor.handle())
                .id(ws_executor::graph::testing::value("made up".to_owned()))
                .run(3, db.clone());
            assert_eq!(test.await.result.unwrap(), "made up");
        });
        assert_eq!(*db.calls.lock().unwrap(), [[2], [3]]);
    }

    #[task_graph]
    async fn patient(value: u32, #[shared] db: &Db) -> Result<String, Bad> {
        let (row, other) = (value, value + 10);
        #[node(batch(row, max = 2, within = "1s"), retry(2, backoff = "5s"))]
        let id = insert(db, row.clone()).await?;
        Ok(format!("{id} {other}"))
    }

    #[test]
    fn a_retry_is_of_the_whole_call() {
        let db = Arc::new(Db::default());
        db.fails.store(2, Ordering::SeqCst);
        let clock = Clock::new();
        let mut items = Items::new(patient::Shared { db: db.clone() });
        items.set_timer(Arc::new(clock.clone()));
        let answers = done(clock.block_on(all(&items, [1, 2])));
        assert_eq!(answers, ["row 1 11", "row 2 12"]);
        assert_eq!(*db.calls.lock().unwrap(), [[1, 2], [1, 2], [1, 2]]);
        assert_eq!(clock.elapsed(), Duration::from_secs(10));
        futures::executor::block_on(async {
            assert_eq!(patient(1, &db).await.unwrap(), "row 1 11");
            let run = patient::on(&executor(1).handle()).run(2, db.clone());
            assert_eq!(run.await.unwrap(), "row 2 12");
        });
    }

    #[task_graph]
    async fn blocks(value: u32, #[shared] db: &Db) -> u32 {
        #[node(batch(value, max = 3, within = "1h"), blocking)]
        let doubled = double(db, value);
        doubled
    }

    fn double(db: &Db, values: Vec<u32>) -> Vec<u32> {
        db.calls.lock().unwrap().push(values.clone());
        values.into_iter().map(|value| 2 * value).collect()
    }

    #[test]
    fn a_batch_may_block_a_thread() {
        let db = Arc::new(Db::default());
        let items = Items::new(blocks::Shared { db: db.clone() });
        let answers = futures::executor::block_on(all(&items, 1..=6));
        assert_eq!(done(answers), [2, 4, 6, 8, 10, 12]);
        assert_eq!(db.calls.lock().unwrap().len(), 2);
        let verdict = blocks::on(&executor(1).handle()).run(7, db.clone());
        assert_eq!(futures::executor::block_on(verdict), 14);
    }
}

mod key {
    use super::*;

    type Log = Mutex<Vec<(char, u32)>>;

    /// Items reach the node in an order that is not theirs, and leave it by key.
    #[task_graph]
    async fn ordered(item: (char, u32), #[shared] log: &Log) -> Result<(char, u32), Bad> {
        let event = delayed(item).await?;
        #[node(key = event.0)]
        let seen = note(log, &event).await;
        Ok(seen)
    }

    async fn delayed(item: (char, u32)) -> Result<(char, u32), Bad> {
        // The later, the faster.
        for _ in item.1..20 {
            yield_now().await;
        }
        match item {
            ('x', _) => Err(Bad("x".to_owned())),
            item => Ok(item),
        }
    }

    async fn note(log: &Log, event: &(char, u32)) -> (char, u32) {
        log.lock().unwrap().push(*event);
        yield_now().await;
        log.lock().unwrap().push(*event);
        *event
    }

    #[test]
    fn items_of_a_key_keep_the_order_of_the_source() {
        let log = Arc::new(Log::default());
        let shared = ordered::Shared { log: log.clone() };
        let items = Items::new(shared);
        let inputs = (0..20).map(|n| (['a', 'b', 'x', 'c'][n as usize % 4], n));
        let verdicts = futures::executor::block_on(all(&items, inputs));
        let failed = verdicts.iter().filter(|v| matches!(v, Verdict::Failed(..)));
        assert_eq!(failed.count(), 5);
        let log = log.lock().unwrap();
        for (index, key) in ['a', 'b', 'c'].into_iter().enumerate() {
            let events = log
                .iter()
                .filter(|event| event.0 == key)
                .map(|event| event.1);
            // In order, and one ends before the next begins.
            let offset = [0, 1, 3][index];
            let expected = (0..5).flat_map(|n| [4 * n + offset; 2]);
            assert!(events.eq(expected), "{log:?}");
        }
        let first: Vec<char> = log[..3].iter().map(|event| event.0).collect();
        assert_eq!(first, ['a', 'b', 'c'], "keys do not wait for each other");
    }

    #[test]
    fn an_item_that_is_cut_keeps_nobody_waiting() {
        let log = Arc::new(Log::default());
        let shared = ordered::Shared { log: log.clone() };
        let items = Items::new(shared);
        let mut runs: Vec<_> = (0..3).map(|n| Box::pin(items.run(n, ('a', 18)))).collect();
        for _ in 0..4 {
            assert!(runs[1..].iter_mut().all(|run| poll(run).is_pending()));
        }
        assert!(log.lock().unwrap().is_empty(), "they wait for the first");
        drop(runs.remove(0));
        assert_eq!(done(futures::executor::block_on(join_all(runs))).len(), 2);
    }
}

mod queue {
    use super::*;
    use graph_support::Meeting;

    #[derive(Default)]
    struct Rooms {
        first: AtomicUsize,
        second: AtomicUsize,
    }

    #[task_graph]
    async fn crowded(
        value: u32,
        #[shared] rooms: &Rooms,
        #[shared] gate: &Meeting,
    ) -> Result<u32, Bad> {
        #[node(limit = 3)]
        let one = enter(&rooms.first, value).await?;
        #[node(limit = 1, queue = 2)]
        let two = wait(&rooms.second, gate, one).await;
        Ok(two)
    }

    async fn enter(room: &AtomicUsize, value: u32) -> Result<u32, Bad> {
        room.fetch_add(1, Ordering::SeqCst);
        yield_now().await;
        if value == 99 {
            Err(Bad("99".to_owned()))
        } else {
            Ok(value)
        }
    }

    async fn wait(room: &AtomicUsize, gate: &Meeting, value: u32) -> u32 {
        room.fetch_add(1, Ordering::SeqCst);
        if value == 0 {
            gate.come().await;
        }
        value
    }

    #[test]
    fn a_full_queue_keeps_items_in_the_node_before() {
        let (rooms, gate) = (Arc::new(Rooms::default()), Meeting::of(2));
        let shared = crowded::Shared {
            rooms: rooms.clone(),
            gate: Arc::new(gate.clone()),
        };
        let items = Items::new(shared);
        let mut runs = Box::pin(all(&items, (0..9).chain([99, 10])));
        for _ in 0..50 {
            assert!(poll(&mut runs).is_pending());
        }
        // One is in the second node, two have a place before it, and three fill the first.
        assert_eq!(rooms.second.load(Ordering::SeqCst), 1);
        assert_eq!(rooms.first.load(Ordering::SeqCst), 1 + 2 + 3);
        let (verdicts, ()) = futures::executor::block_on(join(runs, gate.come()));
        assert_eq!(verdicts.len(), 11);
        assert!(matches!(verdicts[9], Verdict::Failed(Bad(_), Some("one"))));
        assert_eq!(rooms.second.load(Ordering::SeqCst), 10);
    }
}
