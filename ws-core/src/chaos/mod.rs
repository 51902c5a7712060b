//! Named points between the steps of every protocol, where a test build waits.
//!
//! If the window of a race is two instructions wide, a test hits it once in 100,000
//! trials on a quiet machine, and never on a loaded machine. Under `--cfg ws_chaos` each
//! point delays its thread at random by up to a few microseconds. That makes every window
//! a thousand times as wide. Without the cfg a point is an empty function.
//!
//! Points are named `structure.operation.moment`, so that `WS_CHAOS` can choose
//! among them; see `delays.rs`.
//!
//! Like [`sync`](crate::sync), this module is public for the crates of this
//! workspace alone and is not covered by semantic versioning.

#[cfg(all(ws_chaos, feature = "std"))]
#[path = "delays.rs"]
mod imp;

#[cfg(not(all(ws_chaos, feature = "std")))]
#[path = "nothing.rs"]
mod imp;

pub use imp::point;
