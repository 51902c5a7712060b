//! The web server of async-executor's benchmark.
//!
//! One task is the database, behind a channel that holds 60 requests. One accepts
//! 300 connections and has a task for each: half are answered from a cache, the
//! others ask the database 150 to 299 times. Random numbers decide how often
//! tasks yield between; the seed and the order of draws are theirs, so that every
//! run is the same work.

use std::hint::black_box;

use async_channel::{Receiver, Sender};
use benches::meter::Meter;
use fastrand::Rng;

use crate::case::{Case, Rules};
use crate::contender::{Contender, Spawn};

const CONNECTIONS: usize = 300;
const STEPS: usize = 300;
const SEED: u64 = 0x1234_5678;

/// What the database is asked: where to send the answer.
type Request = Sender<usize>;

pub(crate) struct WebServer;

impl Case for WebServer {
    const UNIT: &'static str = "connection";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        "async-executor: web_server".into()
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        let inside = contender.inside();
        meter.time(CONNECTIONS, || {
            contender.block_on(async {
                let (requests, incoming) = async_channel::bounded(CONNECTIONS / 5);
                let mut database_rng = Rng::with_seed(SEED);
                let server_rng = database_rng.fork();
                let database = inside.spawn(database::<C>(incoming, database_rng));
                let server = inside.spawn(server::<C>(inside.clone(), requests, server_rng));
                server.await;
                database.await;
            });
        });
    }
}

async fn database<C: Contender>(incoming: Receiver<Request>, mut rng: Rng) {
    while let Ok(request) = incoming.recv().await {
        yield_times::<C>(rng.usize(..10)).await;
        let _ = request.send(rng.usize(..)).await;
    }
}

async fn server<C: Contender>(spawner: C::Inside, requests: Sender<Request>, mut rng: Rng) {
    for number in 0..CONNECTIONS {
        if rng.usize(..=16) == 16 {
            C::yield_now().await;
        }
        spawner.detach(connection::<C>(requests.clone(), rng.fork()));
        if number & 16 == 0 {
            C::yield_now().await;
        }
    }
}

async fn connection<C: Contender>(requests: Sender<Request>, mut rng: Rng) {
    if rng.bool() {
        C::yield_now().await;
        return;
    }
    for _ in 0..rng.usize(STEPS / 2..STEPS) {
        let (answer, answered) = async_channel::bounded(1);
        requests.send(answer).await.unwrap();
        black_box(answered.recv().await.unwrap());
    }
    yield_times::<C>(rng.usize(3..16)).await;
}

async fn yield_times<C: Contender>(count: usize) {
    for _ in 0..count {
        C::yield_now().await;
    }
}
