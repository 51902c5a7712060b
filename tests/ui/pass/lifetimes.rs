//! Shared references may have named lifetimes, and local graphs may borrow anything.

use std::sync::Arc;

use ws_executor::task_graph;

struct Db(Vec<&'static str>);

#[task_graph]
async fn find<'d>(#[shared] db: &'d Db, word: String) -> Option<usize> {
    let here = look(db, &word).await;
    let size = db.0.len();
    Some(here? + size)
}

async fn look(db: &Db, word: &str) -> Option<usize> {
    db.0.iter().position(|other| *other == word)
}

trait Reads<'a> {
    fn read(&self) -> usize;
}

impl<'a> Reads<'a> for Db {
    fn read(&self) -> usize {
        self.0.len()
    }
}

#[task_graph]
async fn sizes<'a, 'b: 'a, D: Reads<'a> + 'a, E>(#[shared] db: &'a D, #[shared] list: &'b E) -> usize
where
    'b: 'a,
    E: 'b,
    &'b E: IntoIterator<Item = &'b u8>,
{
    let here = db.read();
    let there = list.into_iter().count();
    here + there
}

#[task_graph(local)]
async fn longest<'a>(left: &'a str, right: &'a str) -> &'a str {
    let length = left.len();
    let other = right.len();
    if length > other { left } else { right }
}

fn main() {
    let executor = ws_executor::Executor::new();
    let handle = executor.handle();
    handle.block_on(async {
        let db = Db(vec!["a", "b"]);
        assert_eq!(find(&db, "b".into()).await, Some(3));
        assert_eq!(find(&db, "c".into()).await, None);
        assert_eq!(find::on(&handle).run(Arc::new(db), "a".into()).await, Some(2));
        let (db, list) = (Db(vec!["a", "b"]), vec![1_u8]);
        assert_eq!(sizes(&db, &list).await, 3);
        assert_eq!(sizes::on(&handle).run(Arc::new(db), Arc::new(list)).await, 3);
        let long = String::from("long");
        assert_eq!(longest(&long, "no").await, "long");
    });
}
