//! The one place that names atomics, cells, fences and threads.
//!
//! Every concurrent module of the workspace takes its primitives from here, so
//! that the same source can be compiled in three ways:
//!
//! | build | primitives | what it checks |
//! |---|---|---|
//! | default | `core`, `alloc`, `std` | production |
//! | `--cfg ws_loom` | [loom] | every interleaving and reordering, up to a bound |
//! | `--cfg ws_shuttle` | [shuttle] | random schedules of whole programs |
//!
//! [`UnsafeCell`] has loom's closure interface (`with`, `with_mut`): the pointer must
//! not be used after the closure. So loom sees exactly when a cell is read and written,
//! and reports a conflicting pair as a data race.
//!
//! This module is public for the crates of this workspace alone and is not
//! covered by semantic versioning.
//!
//! [loom]: https://docs.rs/loom
//! [shuttle]: https://docs.rs/shuttle

#[cfg(not(any(ws_loom, ws_shuttle)))]
#[path = "real.rs"]
mod imp;

#[cfg(ws_loom)]
#[path = "loom.rs"]
mod imp;

#[cfg(all(ws_shuttle, not(ws_loom)))]
#[path = "shuttle.rs"]
mod imp;

pub mod asymmetric;
mod barrier;
mod cache_padded;
#[cfg(all(
    feature = "testing",
    target_os = "linux",
    target_arch = "x86_64",
    not(any(ws_loom, ws_shuttle, miri))
))]
pub mod litmus;
#[cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    path = "stack_pointer_x86_64.rs"
)]
#[cfg_attr(
    all(target_arch = "aarch64", not(miri)),
    path = "stack_pointer_aarch64.rs"
)]
mod stack_pointer;

pub use barrier::{fence_after_swap, store_and_fence};
pub use cache_padded::CachePadded;
pub use imp::*;
pub use stack_pointer::stack_pointer;
