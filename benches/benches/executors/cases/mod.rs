//! The cases, one file per group.

mod async_executor;
mod channels;
mod cpu;
mod local;
mod remote;
mod skynet;
mod tokio;
mod tokio_busy;
mod wake;
mod web_server;

use crate::case::Entry;

/// All cases, in the order in which they run.
pub(crate) fn all() -> Vec<Entry> {
    vec![
        Entry::of::<tokio::SpawnManyLocal>(),
        Entry::of::<tokio::SpawnManyRemoteIdle>(),
        Entry::of::<tokio_busy::Busy1>(),
        Entry::of::<tokio_busy::Busy2>(),
        Entry::of::<tokio::PingPong>(),
        Entry::of::<tokio::YieldMany>(),
        Entry::of::<tokio::ChainedSpawn>(),
        Entry::of::<async_executor::Create>(),
        Entry::of::<async_executor::SpawnOne>(),
        Entry::of::<async_executor::SpawnBatch>(),
        Entry::of::<async_executor::SpawnManyLocal>(),
        Entry::of::<async_executor::SpawnRecursively>(),
        Entry::of::<async_executor::YieldNow>(),
        Entry::of::<async_executor::Channels>(),
        Entry::of::<web_server::WebServer>(),
        Entry::of::<skynet::Skynet<10_000>>(),
        Entry::of::<skynet::Skynet<1_000_000>>(),
        Entry::of::<local::SpawnJoin>(),
        Entry::of::<channels::ManyToMany>(),
        Entry::of::<channels::TokenRing>(),
        Entry::of::<cpu::Uneven>(),
        Entry::of::<remote::RemoteSpawn<1>>(),
        Entry::of::<remote::RemoteSpawn<2>>(),
        Entry::of::<remote::RemoteSpawn<4>>(),
        Entry::of::<remote::RemoteSpawn<8>>(),
        Entry::of::<wake::WakeIdle>(),
        Entry::of::<local::SpawnRun>(),
        Entry::of::<local::Yield>(),
    ]
}
