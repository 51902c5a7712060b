//! The `#[task_graph]` attribute macro.
//!
//! **Skeleton.** This crate exports nothing yet; the macro will turn an ordinary
//! `async fn` into a typed, parallel task graph.

#![forbid(unsafe_code)]
