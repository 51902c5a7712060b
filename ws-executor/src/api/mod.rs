//! What a program calls: executors and handles, tasks, `block_on`, scopes, loops.
//!
//! These files validate, name and document. What they ask for is done by the
//! [scheduler](crate::scheduler).

pub(crate) mod block_on;
pub(crate) mod blocking;
pub(crate) mod builder;
pub(crate) mod compute;
pub(crate) mod executor;
mod futures_traits;
pub(crate) mod global;
pub(crate) mod handle;
pub(crate) mod join_handle;
pub(crate) mod local;
pub(crate) mod metrics;
pub(crate) mod outside;
pub mod par;
pub(crate) mod pinned;
pub(crate) mod scope;
pub(crate) mod task;
mod task_ref;
