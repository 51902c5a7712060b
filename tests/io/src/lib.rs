//! What the tests of I/O share.
//!
//! | module | what it is |
//! |---|---|
//! | [`world`] | what an I/O test needs of an adapter, so that one suite runs on each |
//! | [`worlds`] | the adapters |
//! | [`tokio_kinds`] | the two kinds of executors under tokio's I/O |
//! | [`limits`] | how many descriptors a process may have, and has |

#![cfg(unix)]

pub mod limits;
pub mod tokio_kinds;
pub mod world;
pub mod worlds;
