//! A work-stealing async executor over [`ws_core`]'s queues.
//!
//! **Skeleton.** This crate exports nothing yet. It will hold the workers, the
//! scheduling policy, `block_on`, `spawn`, fork-join and the runtime of task
//! graphs; `ARCHITECTURE.md` at the top of the repository says how they fit
//! together. What works today is [`ws_core`].

#![forbid(unsafe_code)]

use ws_core as _;
use ws_macros as _;
