//! The state of an item in a node.
//!
//! | state | meaning |
//! |---|---|
//! | `ABSENT` | the node has not begun |
//! | `PASSED` | the node has begun, alone. It is done, unless it is the node that the run is at |
//! | `INSIDE` | the node has begun beside others, in the current poll |
//! | `WAITING` | the node has begun beside others, and was pending at the end of a poll; counted by [`ItemStats`] |
//! | `DONE`, `FAILED`, `CANCELLED` | how a node ended that began beside others |
//!
//! [`ItemStats`]: super::stats::ItemStats

pub(super) const ABSENT: u8 = 0;
pub(super) const INSIDE: u8 = 1;
pub(super) const WAITING: u8 = 2;
pub(super) const DONE: u8 = 3;
pub(super) const FAILED: u8 = 4;
pub(super) const CANCELLED: u8 = 5;
pub(super) const PASSED: u8 = 6;
