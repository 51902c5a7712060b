//! Graphs over a stream, in places and with types that are not simple.

use std::sync::Arc;

use ws_executor::graph::Exclusive;
use ws_executor::task_graph;

mod inside {
    pub(crate) struct Db;
    #[derive(Clone, Debug)]
    pub(crate) struct Trouble;

    // More public than its types.
    #[ws_executor::task_graph]
    pub async fn store(
        (name, age): (String, u32),
        #[shared] db: &Db,
        #[shared(exclusive)] log: &mut Vec<String>,
    ) -> Result<usize, Trouble> {
        struct Local(usize);
        #[node(key = name, limit = 8)]
        let length = Local(name.len() + age as usize);
        #[node(rate = "1000/s", retry(1))]
        let row = look(db, &length.0).await?;
        #[node(batch(row, max = 10, within = "1ms"), limit = 2, retry(2, backoff = "1ms"))]
        let id: usize = db.insert(&row).await?;
        log.push(format!("{id}"));
        Ok(id)
    }

    async fn look(_: &Db, length: &usize) -> Result<usize, Trouble> {
        Ok(*length)
    }

    impl Db {
        async fn insert(&self, rows: &[usize]) -> Result<Vec<usize>, Trouble> {
            Ok(rows.to_vec())
        }
    }
}

fn main() {
    /// Local to a function, and generic.
    #[task_graph]
    async fn parts<T: Clone + PartialEq>(items: Vec<T>, #[shared] unwanted: &[T]) -> T {
        #[node(flat)]
        let item = items;
        if unwanted.contains(&item) {
            skip!();
        }
        item
    }

    let executor = ws_executor::Executor::new();
    let spawner = executor.handle();
    let shared = inside::store::Shared {
        db: Arc::new(inside::Db),
        log: Exclusive::new(Vec::new()),
    };
    let _store = inside::store::bind(&spawner, shared);
    let unwanted: Arc<[u32]> = Arc::from([1, 2]);
    let _parts = parts::bind(&spawner, parts::Shared { unwanted });
    assert_eq!(parts::GRAPH.nodes().len(), 3);
}
