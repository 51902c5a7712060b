//! The adapters, one file per project.

mod async_executor;
mod floor;
mod thread_pool;
mod tokio;
mod ws;

pub(crate) use self::async_executor::{AsyncExecutor, StaticExecutor};
pub(crate) use self::floor::Floor;
pub(crate) use self::thread_pool::Pool as ThreadPool;
pub(crate) use self::tokio::Tokio;
pub(crate) use self::ws::Ws;
