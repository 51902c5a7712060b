//! Puts the executor under smol, async-std or tokio-compatible I/O.
//!
//! **Skeleton.** This crate exports nothing yet; each adapter will be one module
//! behind one feature.

#![forbid(unsafe_code)]

use ws_core as _;
use ws_executor as _;
