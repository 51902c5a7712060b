//! Type parameters, constants, bounds and `where` clauses are kept.

use std::fmt::Display;
use std::hash::Hash;

use ws_executor::task_graph;

#[task_graph]
pub async fn pair<T: Clone + Display, const N: usize>(item: T, times: [u8; N]) -> (Vec<T>, String)
where
    T: Eq + Hash,
{
    let copies: Vec<T> = repeat(&item, N).await;
    let text = show(&item, &times).await;
    (copies, text)
}

async fn repeat<T: Clone>(item: &T, times: usize) -> Vec<T> {
    vec![item.clone(); times]
}

async fn show<T: Display, const N: usize>(item: &T, times: &[u8; N]) -> String {
    format!("{item} {}", times.len())
}

#[task_graph]
async fn call(f: impl Fn(u32) -> u32, n: u32) -> u32 {
    let once = f(n);
    let twice = f(once);
    twice
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        let expected = (vec!['a', 'a'], "a 2".to_owned());
        assert_eq!(pair('a', [0; 2]).await, expected);
        assert_eq!(pair::on(&handle).run('a', [0; 2]).await, expected);
        assert_eq!(pair::on(&handle).until_copies('b', [0; 1]).await, ['b']);
        assert_eq!(call(|n| n + 1, 1).await, 3);
        assert_eq!(call::on(&handle).run(|n| n + 1, 1).await, 3);
    });
}
