//! A pair of fences: one side is free, and the other side pays for both.
//!
//! If two threads each write one word and then read the word of the other, each needs a
//! SeqCst fence in between. Otherwise both may read old values. If one side does that for
//! every task, and the other side only once before it sleeps, the frequent side pays most.
//! Linux can move the cost: `membarrier(2)` makes every running thread of the process
//! execute a full fence. So:
//!
//! - [`light`] only keeps the compiler from moving accesses across it;
//! - [`heavy`] is a fence for the caller and for all other threads of the process.
//!
//! Together they mean what two `fence(SeqCst)` mean (Mathieu Desnoyers, *membarrier
//! system call*, 2010; `asymmetric_thread_fence` in P1202 of the C++ committee). Under
//! loom, on other systems, and where the call is not permitted, they are two
//! `fence(SeqCst)`. Two `light` fences order nothing against each other.
//!
//! Here a `fence(SeqCst)` costs about 6 ns, a `heavy` 140 to 400 ns. A `heavy` costs 10 µs if
//! another thread of the process runs on another core of the virtual machine. That thread
//! then loses 5 µs.

#[cfg(all(
    feature = "std",
    any(target_os = "linux", target_os = "android"),
    target_pointer_width = "64",
    not(any(ws_loom, ws_shuttle, ws_tsan))
))]
#[path = "asymmetric_membarrier.rs"]
mod imp;

#[cfg(not(all(
    feature = "std",
    any(target_os = "linux", target_os = "android"),
    target_pointer_width = "64",
    not(any(ws_loom, ws_shuttle, ws_tsan))
)))]
#[path = "asymmetric_fence.rs"]
mod imp;

pub use imp::{heavy, light, prepare};
