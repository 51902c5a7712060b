//! Named points between the steps of every protocol, where a test build waits.
//!
//! A race whose window is two instructions wide is hit once in 100,000 trials
//! on a quiet machine and never on a loaded one. Under `--cfg ws_chaos` each
//! point delays its thread at random by up to a few microseconds, which widens
//! every window a thousandfold. Without the cfg a point is an empty function.
//!
//! Points are named `structure.operation.moment`, so that `WS_CHAOS` can choose
//! among them; see the module's `delays.rs`.
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
