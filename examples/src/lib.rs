//! Runnable programs; each is a binary under `src/bin`.
