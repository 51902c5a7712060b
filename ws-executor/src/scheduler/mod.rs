//! The scheduler: workers, their queues and their sleep, the driver, the monitor, fork-join, and
//! the end of all of them.

pub(crate) mod context;
pub(crate) mod counters;
pub(crate) mod driver;
pub(crate) mod dropping;
pub(crate) mod fork;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod injector;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod inside;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod locked_queue;
pub(crate) mod monitor;
mod notify;
mod poll;
pub(crate) mod progress;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod quiet;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod refused;
pub(crate) mod shared;
mod shutdown;
#[allow(unreachable_pub, reason = "public for the model checkers, see `model`")]
pub(crate) mod sleep;
mod submit;
pub(crate) mod threads;
pub(crate) mod until;
pub(crate) mod worker;
