//! The clock: the monotonic one of the system.

pub(crate) use std::time::Instant;
