//! A graph computes what the function as written would, with its independent nodes at the
//! same time: as a plain call, and on executors of every kind.

mod graph_support;

use std::num::ParseIntError;
use std::sync::Arc;

use futures::executor::block_on;
use graph_support::{Log, Meeting, Program, on_every_executor};
use tests::watchdog;
use ws_core::Spawn;
use ws_executor::task_graph;

/// Not `Clone`: whoever has one got it moved.
#[derive(Debug, PartialEq)]
struct Token(u32);

struct World {
    meeting: Meeting,
    log: Log,
}

impl World {
    fn new(expected: usize) -> Arc<Self> {
        Arc::new(Self {
            meeting: Meeting::of(expected),
            log: Log::default(),
        })
    }

    async fn meet(&self, name: &'static str) -> u32 {
        self.log.add(name);
        self.meeting.come().await;
        u32::try_from(name.len()).unwrap()
    }
}

#[derive(Debug, PartialEq)]
enum Trouble {
    NoSum,
    NoNumber,
}

impl From<ParseIntError> for Trouble {
    fn from(_: ParseIntError) -> Self {
        Self::NoNumber
    }
}

/// `a` and `b` meet, and so do `c`, which needs `a` only, and `d`, which needs both.
#[task_graph]
async fn shape(
    world: Arc<World>,
    second: Arc<World>,
    token: Token,
) -> Result<(u32, Token), Trouble> {
    let a = world.meet("a").await;
    let b = world.meet("bb").await;
    let sum = a + b;
    let c = second.meet("ccc").await + a;
    let d = second.meet("dddd").await + sum;
    let moved = Token(token.0 + a);
    world.log.add("fence");
    if sum == 0 {
        return Err(Trouble::NoSum);
    }
    let after = late(&world, &moved).await?;
    Ok((c + d + after, moved))
}

async fn late(world: &World, token: &Token) -> Result<u32, ParseIntError> {
    world.log.add("after");
    token.0.to_string().parse()
}

#[task_graph]
async fn fails(world: Arc<World>) -> Result<u32, Trouble> {
    let a: u32 = "7".parse()?;
    world.log.add("fence");
    let b: u32 = "x".parse()?;
    world.log.add("unreachable");
    Ok(a + b)
}

#[task_graph]
async fn returns(early: bool) -> u32 {
    let a = 1;
    if early {
        return a;
    }
    let b = async { 41 }.await;
    a + b
}

/// `c` needs `a` only: it meets `b`, which needs nothing.
#[task_graph]
async fn crossed(world: Arc<World>) -> u32 {
    let a = async { 1 }.await;
    let b = world.meet("b").await;
    let c = world.meet("c").await + a;
    b + c
}

fn check_shape(name: &str, world: &World, result: Result<(u32, Token), Trouble>) {
    // c = 3 + 1, d = 4 + 3, after = 11
    assert_eq!(result, Ok((22, Token(11))), "{name}");
    let events = world.log.take();
    assert_eq!(events.len(), 4, "{name}");
    assert_eq!(events[2..], ["fence", "after"], "{name}");
}

#[test]
fn plain_calls_need_no_executor() {
    watchdog::guard("plain_calls_need_no_executor", || {
        let world = World::new(2);
        let result = block_on(shape(world.clone(), World::new(2), Token(10)));
        check_shape("plain", &world, result);
        assert_eq!(block_on(fails(world.clone())), Err(Trouble::NoNumber));
        assert_eq!(world.log.take(), ["fence"]);
        assert_eq!((block_on(returns(true)), block_on(returns(false))), (1, 42));
        assert_eq!(block_on(crossed(World::new(2))), 3);
    });
}

#[test]
fn every_executor_runs_graphs_in_parallel() {
    struct Graphs;
    impl Program for Graphs {
        fn run<S: Spawn + Clone + Send + Sync + 'static>(&self, name: &str, on: &S) {
            let world = World::new(2);
            let result = block_on(shape::on(on).run(world.clone(), World::new(2), Token(10)));
            check_shape(name, &world, result);
            assert_eq!(
                block_on(fails::on(on).run(world.clone())),
                Err(Trouble::NoNumber)
            );
            assert_eq!(world.log.take(), ["fence"], "{name}");
            assert_eq!(block_on(returns::on(on).run(true)), 1, "{name}");
            assert_eq!(block_on(returns::on(on).run(false)), 42, "{name}");
            assert_eq!(block_on(crossed::on(on).run(World::new(2))), 3, "{name}");
        }
    }
    watchdog::guard("every_executor_runs_graphs_in_parallel", || {
        on_every_executor(&Graphs)
    });
}

/// The future of a plain call is as `Send` as its nodes are.
#[test]
fn plain_calls_can_be_spawned() {
    watchdog::guard("plain_calls_can_be_spawned", || {
        let executor = tests::exec::executor(2);
        let world = World::new(2);
        let task = executor.spawn(shape(world.clone(), World::new(2), Token(10)));
        check_shape("spawned", &world, block_on(task));
    });
}

mod partial {
    use super::{Arc, Log, Token, block_on, task_graph, watchdog};

    #[task_graph]
    async fn steps(log: Log, fail: bool) -> Result<u32, &'static str> {
        let token: Token = make(&log).await;
        let number: u32 = check(&log, &token, fail)?;
        let other: Arc<str> = Arc::from("other");
        log.add("fence");
        let last: String = format!("{other} {number} {}", token.0);
        log.add("last");
        Ok(number + u32::try_from(last.len()).unwrap_or(0))
    }

    async fn make(log: &Log) -> Token {
        log.add("token");
        Token(5)
    }

    fn check(log: &Log, token: &Token, fail: bool) -> Result<u32, &'static str> {
        log.add("number");
        if fail { Err("failed") } else { Ok(token.0 * 2) }
    }

    #[test]
    fn only_what_is_needed_runs() {
        watchdog::guard("only_what_is_needed_runs", || {
            let executor = tests::exec::executor(2);
            let handle = executor.handle();
            let log = Log::default();
            let on = || steps::on(&handle);
            assert_eq!(block_on(on().until_token(log.clone(), true)), Ok(Token(5)));
            assert_eq!(log.take(), ["token"]);
            assert_eq!(block_on(on().until_number(log.clone(), false)), Ok(10));
            assert_eq!(log.take(), ["token", "number"]);
            assert_eq!(
                block_on(on().until_number(log.clone(), true)),
                Err("failed")
            );
            log.take();
            assert_eq!(
                block_on(on().until_last(log.clone(), false)),
                Ok("other 10 5".to_owned())
            );
            assert_eq!(log.take(), ["token", "number", "fence"]);
            assert_eq!(block_on(on().run(log.clone(), false)), Ok(20));
            assert_eq!(log.take(), ["token", "number", "fence", "last"]);
        });
    }

    #[task_graph]
    async fn sure(side: u32) -> u32 {
        let area: u32 = side * side;
        area + 1
    }

    #[test]
    fn a_graph_that_cannot_fail_has_partial_runs_without_a_result() {
        let executor = tests::exec::executor(1);
        assert_eq!(block_on(sure::on(&executor.handle()).until_area(3)), 9);
    }
}
