//! A graph that only a pipeline can run has warnings like any other, once each.

#![deny(unused)]

use ws_executor::task_graph;

struct Db;

impl Db {
    async fn insert(&self, _: &str) {}
}

#[task_graph]
async fn ingest(line: String, #[shared] db: &Db) -> usize {
    if line.is_empty() {
        skip!();
    }
    db.insert(&line);
    let length = {
        let dead = 3;
        line.len()
    };
    length
}

fn main() {}
