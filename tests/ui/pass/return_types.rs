//! What a graph returns is known by its name, or said.

use ws_executor::pipeline::Route;
use ws_executor::task_graph;

#[derive(Clone, Debug, PartialEq)]
pub struct Odd;

type Answer = std::result::Result<u32, Odd>;
type Perhaps<T> = Option<T>;

async fn half(n: u32) -> Answer {
    if n % 2 == 0 { Ok(n / 2) } else { Err(Odd) }
}

#[task_graph(fallible)]
async fn alias(n: u32) -> Answer {
    let half = half(n).await;
    half
}

#[task_graph(fallible)]
async fn generic_alias<T: Clone>(list: Vec<T>) -> Perhaps<T> {
    let first = list.first().cloned();
    first
}

#[task_graph]
async fn parenthesized(n: u32) -> (std::result::Result<u32, Odd>) {
    let half = half(n).await;
    half
}

macro_rules! graph {
    ($name:ident, $out:ty) => {
        #[task_graph]
        async fn $name(n: u32) -> $out {
            let half = half(n).await;
            half
        }
    };
}
graph!(by_macro, Result<u32, Odd>);

mod own {
    #[derive(Debug, PartialEq)]
    pub enum Result {
        Won,
        Lost,
    }

    #[ws_executor::task_graph(fallible = false)]
    pub async fn play(n: u32) -> Result {
        let lucky: bool = n == 7;
        if lucky { Result::Won } else { Result::Lost }
    }
}

#[task_graph]
async fn same<T>(it: T) -> T {
    let same = it;
    same
}

macro_rules! counts {
    ($executor:ident, $graph:ident, $items:expr) => {{
        let pipeline = $graph::bind(&$executor.handle(), $graph::Shared {})
            .iter($items)
            .in_flight(4)
            .on_error(|_| Route::Skip)
            .build()
            .unwrap();
        let report = $executor.block_on(pipeline.run()).unwrap();
        (report.done, report.skipped)
    }};
}

fn main() {
    let executor = ws_executor::Executor::new();
    assert_eq!(counts!(executor, alias, 0..10), (5, 5));
    assert_eq!(counts!(executor, parenthesized, 0..10), (5, 5));
    assert_eq!(counts!(executor, by_macro, 0..10), (5, 5));
    assert_eq!(counts!(executor, generic_alias, [vec![1], vec![], vec![2, 3]]), (2, 1));
    assert_eq!(counts!(executor, same, 0..10), (10, 0));
    let handle = executor.handle();
    executor.block_on(async {
        assert_eq!(alias(3).await, Err(Odd));
        assert_eq!(alias::on(&handle).run(4).await, Ok(2));
        assert_eq!(own::play(7).await, own::Result::Won);
        assert_eq!(own::play::on(&handle).run(1).await, own::Result::Lost);
        assert!(own::play::on(&handle).until_lucky(7).await);
    });
}
