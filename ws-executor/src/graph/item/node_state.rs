//! Where an item is with a node.
//!
//! | state | meaning |
//! |---|---|
//! | `ABSENT` | it has not begun |
//! | `PASSED` | it has begun, alone; it is done, unless the run is at it |
//! | `INSIDE` | it has begun beside others, in the poll that is going on |
//! | `WAITING` | the same, and it was pending at the end of a poll; counted by [`ItemStats`] |
//! | `DONE`, `FAILED`, `CANCELLED` | how one that began beside others ended |
//!
//! [`ItemStats`]: super::stats::ItemStats

pub(super) const ABSENT: u8 = 0;
pub(super) const INSIDE: u8 = 1;
pub(super) const WAITING: u8 = 2;
pub(super) const DONE: u8 = 3;
pub(super) const FAILED: u8 = 4;
pub(super) const CANCELLED: u8 = 5;
pub(super) const PASSED: u8 = 6;
