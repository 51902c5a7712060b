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

trait Named {
    fn name(&self) -> String;
}

impl Named for u32 {
    fn name(&self) -> String {
        self.to_string()
    }
}

#[task_graph]
async fn names(#[shared] one: &impl Named, list: Vec<impl Named + Clone>) -> String {
    let first = one.name();
    let others: Vec<String> = list.iter().map(Named::name).collect();
    let again = one.name();
    first + &others.concat() + &again
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        assert_eq!(names(&1_u32, vec![2_u32, 3]).await, "1231");
        let one = std::sync::Arc::new(1_u32);
        assert_eq!(names::on(&handle).run(one, vec![2_u32, 3]).await, "1231");
        let expected = (vec!['a', 'a'], "a 2".to_owned());
        assert_eq!(pair('a', [0; 2]).await, expected);
        assert_eq!(pair::on(&handle).run('a', [0; 2]).await, expected);
        assert_eq!(pair::on(&handle).until_copies('b', [0; 1]).await, ['b']);
        assert_eq!(call(|n| n + 1, 1).await, 3);
        assert_eq!(call::on(&handle).run(|n| n + 1, 1).await, 3);
    });
}
