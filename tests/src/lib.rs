//! What the tests share; the promises themselves are files under `tests`.
//!
//! | module | what it is |
//! |---|---|
//! | [`watchdog`] | ends a test that hangs, and says what every thread was doing |
//! | [`census`] | shows that each of many numbered items was seen exactly once |
//! | [`stress`] | a little scheduler that moves numbers through queues and counts them |
//! | [`oracle`] | does what a string of bytes says to queues and to a `VecDeque` |
//! | [`drops`] | items that count their drops, and items whose drop panics |
//! | [`timers`] | a driver with timers |
//! | [`exec`] | an executor under test, and what many tests do with it |
//! | [`child`] | a test in a process of its own |

pub mod census;
pub mod child;
pub mod drops;
pub mod exec;
pub mod oracle;
pub mod stress;
pub mod timers;
pub mod watchdog;

/// Compiles and runs the program in the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
