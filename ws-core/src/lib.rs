//! Work-stealing queues, and the traits that make an executor a plugin.
//!
//! | module | what it is |
//! |---|---|
//! | [`ring`] | a bounded FIFO for its owner; thieves take half of it in one claim |
//! | [`chase_lev`] | a growable deque: LIFO for its owner, FIFO for thieves |
//! | [`slot`] | a place for one item; its owner fills it, any thread may take the item |
//! | [`FastRand`] | a PRNG for choosing victims |
//! | [`park`] | putting a worker to sleep and waking it: [`Park`], [`Unpark`], [`ThreadParker`] |
//! | [`spawn`] | handing a future to any executor: [`Spawn`], [`DynSpawn`] |
//! | [`Backoff`] | waiting a little longer each time, for callers that cannot park |
//!
//! Every queue has two halves. The `Owner` belongs to one thread at a time and
//! cannot be shared. The `Stealer` can be cloned for every thread that may steal.
//! The type system keeps the roles apart: the queues need no `unsafe` to use.
//!
//! ```
//! use ws_core::{Steal, ring};
//!
//! let (owner, stealer) = ring::new::<u32>();
//! for n in 0..4 {
//!     owner.push(n).unwrap();
//! }
//!
//! let (thief, _) = ring::new::<u32>();
//! assert_eq!(stealer.steal_into(&thief), Steal::Success(0)); // 0 returned, 1 moved over
//! assert_eq!(thief.pop(), Some(1));
//! assert_eq!(owner.pop(), Some(2));
//! ```
//!
//! # Features
//!
//! - `std` (default): [`ThreadParker`] and [`Backoff`]. Without this feature the
//!   crate is `no_std` with `alloc`. The crate needs 64-bit atomics.
//! - `futures`: adapters between [`Spawn`] and `futures::task::Spawn`.
//! - `testing`: the conformance suite for parkers.
//!
//! # How it is checked
//!
//! Every protocol here has loom models, which run to the end of their state space,
//! and mutants of this source, which those models must catch. The queues are checked
//! for linearizability under shuttle's schedulers, and against a `VecDeque` by
//! property tests and fuzzing. The module docs contain the arguments themselves.

#![no_std]

extern crate alloc;
#[cfg(any(feature = "std", ws_loom, ws_shuttle))]
extern crate std;

#[cfg(feature = "std")]
mod backoff;
#[doc(hidden)]
pub mod chaos;
pub mod chase_lev;
pub mod driver;
pub mod park;
mod rand;
pub mod ring;
pub mod slot;
pub mod spawn;
mod steal;
#[doc(hidden)]
pub mod sync;

#[cfg(feature = "std")]
pub use backoff::Backoff;
pub use driver::Driver;
pub use park::{Park, Unpark};
#[cfg(feature = "std")]
pub use park::{ThreadParker, ThreadUnparker};
pub use rand::{FastRand, Victims};
pub use spawn::{DynSpawn, Spawn};
pub use steal::Steal;

/// Compiles and runs the example in the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
