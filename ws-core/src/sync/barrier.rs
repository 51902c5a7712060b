//! Store-load barriers, in the form that the processor does best.
//!
//! Both functions mean what `barrier_fence.rs` says, and that is what loom checks.
//! On x86-64 every locked instruction is a full barrier already, and one
//! `xchg` is cheaper than a store and an `mfence`: 0.3 ns of a push and pop pair
//! in the `deques` benchmark, twice as much on the way of a stolen batch.

#[cfg(all(target_arch = "x86_64", not(any(ws_loom, ws_shuttle))))]
#[path = "barrier_locked.rs"]
mod imp;

#[cfg(not(all(target_arch = "x86_64", not(any(ws_loom, ws_shuttle)))))]
#[path = "barrier_fence.rs"]
mod imp;

pub use imp::{fence_after_swap, store_and_fence};
