//! Comparisons with peers; the only place where they are dependencies.
//!
//! ```sh
//! cargo bench -p benches --bench deques            # about a minute
//! cargo bench -p benches --bench deques -- --quick # a few seconds, coarse
//! cargo bench -p benches --bench deques -- thief   # the cases with this word
//! ```
//!
//! A benchmark here is a program (`harness = false`) under `benches/`. It puts
//! every contender behind one trait, measures all of them in one run, and says
//! at its end which of its targets were reached. What such programs share is in
//! this library:
//!
//! | module | what it is |
//! |---|---|
//! | [`options`] | what to run and how long |
//! | [`clock`] | wall time and CPU time, and whether the thread had its core for itself |
//! | [`pin`] | tying a thread to a core |
//! | [`rounds`] | alternating rounds: every contender once a round, in rotating order |
//! | [`table`] | an aligned text table |
//! | [`json`] | the same figures for programs |
//!
//! Figures are compared within one run only: machines are noisy and differ, but
//! contenders that alternate suffer alike.

pub mod clock;
pub mod json;
pub mod options;
pub mod pin;
pub mod rounds;
pub mod table;

#[cfg(target_os = "linux")]
#[path = "os_linux.rs"]
mod os;

#[cfg(not(target_os = "linux"))]
#[path = "os_unknown.rs"]
mod os;
