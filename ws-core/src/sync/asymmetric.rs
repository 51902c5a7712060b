//! A pair of fences where one side is free and the other pays for both.
//!
//! Two threads that each write one thing and then read what the other wrote need
//! a SeqCst fence each, or both may read old values. If one side does that for
//! every task, and the other once before it goes to sleep, the price is on the
//! wrong side. Linux can move it: `membarrier(2)` makes every running thread of the
//! process execute a full fence. So:
//!
//! - [`light`] only keeps the compiler from moving accesses across it;
//! - [`heavy`] is a fence for the caller, and one for everybody else as well.
//!
//! Together they mean what two `fence(SeqCst)` mean (Mathieu Desnoyers, *membarrier
//! system call*, 2010; `asymmetric_thread_fence` in P1202 of the C++ committee),
//! and that is what they are under loom, on other systems, and where the call is
//! not permitted. Two `light` fences order nothing against each other.
//!
//! Here a `fence(SeqCst)` costs about 6 ns, a `heavy` 140 to 400 ns, or 10 µs if another
//! thread of the process runs on another core of the virtual machine, which then loses 5.

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

pub use imp::{heavy, light};
