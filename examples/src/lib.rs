//! Runnable programs; each is a binary under `src/bin`.

#![forbid(unsafe_code)]
