//! Existing futures code, moved to this executor by changing one line.
//!
//! `word_count` and all it uses are written against the `futures` crate alone: channels,
//! `select!`, `RemoteHandle`, `FuturesUnordered`, `Shared`. It gets whatever implements
//! `futures::task::Spawn`. `main` gives it futures' own `ThreadPool` first, and then an
//! executor of ours; the line that differs is the one that makes the executor.

use std::collections::BTreeMap;

use futures::channel::{mpsc, oneshot};
use futures::executor::{ThreadPool, block_on};
use futures::future::{FutureExt, RemoteHandle};
use futures::stream::{FuturesUnordered, StreamExt};
use futures::task::{Spawn, SpawnExt};
use futures::{SinkExt, select};

const TEXT: [&str; 4] = [
    "the worker looks at its ring",
    "the thief looks at the ring of the worker",
    "the monitor looks at the thief",
    "and the injector looks at nobody",
];

type Counts = BTreeMap<String, usize>;

/// Counts words: a task per line sends its words to a collector, which ends when it is
/// told to and no word is left.
async fn word_count(spawner: impl Spawn + Clone) -> Counts {
    let (words, received) = mpsc::channel::<String>(4);
    let (stop, stopped) = oneshot::channel::<()>();
    let collector: RemoteHandle<Counts> = spawner
        .spawn_with_handle(collect(received, stopped))
        .expect("the executor takes tasks");

    // Every line waits for the same greeting, and gets a clone of it.
    let ready = async { "go" }.shared();
    let lines: FuturesUnordered<_> = TEXT
        .iter()
        .map(|line| {
            let (ready, mut words) = (ready.clone(), words.clone());
            let read = async move {
                assert_eq!(ready.await, "go");
                for word in line.split(' ') {
                    words
                        .send(word.to_owned())
                        .await
                        .expect("the collector listens");
                }
            };
            spawner
                .spawn_with_handle(read)
                .expect("the executor takes tasks")
        })
        .collect();
    assert_eq!(lines.collect::<Vec<()>>().await.len(), TEXT.len());
    drop(words);
    stop.send(()).expect("the collector listens");
    collector.await
}

async fn collect(mut received: mpsc::Receiver<String>, stopped: oneshot::Receiver<()>) -> Counts {
    let mut counts = Counts::new();
    let mut stopped = stopped.fuse();
    let mut told = false;
    loop {
        select! {
            word = received.next() => match word {
                Some(word) => *counts.entry(word).or_default() += 1,
                None if told => return counts,
                None => {
                    stopped.await.expect("the sender tells us");
                    return counts;
                }
            },
            _ = stopped => told = true,
        }
    }
}

fn main() {
    let pool = ThreadPool::new().expect("threads can be had");
    let before = block_on(word_count(pool));

    let executor = ws_executor::Executor::new(); // the one line
    let after = block_on(word_count(executor.handle()));

    assert_eq!(before, after);
    for (word, count) in after.iter().filter(|(_, count)| **count > 1) {
        println!("{count} × {word}");
    }
    let total = executor.metrics().total();
    println!(
        "{} polls, {} of them from the LIFO slot",
        total.polls, total.lifo_hits
    );
}
