//! What every layer uses, and what uses none of them.

#[cfg_attr(any(ws_loom, ws_shuttle), path = "clock_model.rs")]
pub(crate) mod clock;
pub mod coop;
pub(crate) mod panics;
#[cfg_attr(any(ws_loom, ws_shuttle), path = "stack_model.rs")]
pub(crate) mod stack;
pub(crate) mod thread_number;
#[cfg_attr(any(ws_loom, ws_shuttle), path = "tuning_model.rs")]
pub(crate) mod tuning;
pub(crate) mod waker_guard;
pub(crate) mod yield_now;
