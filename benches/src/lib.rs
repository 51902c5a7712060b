//! Comparisons with peers; the only place where they are dependencies.
//!
//! ```sh
//! cargo bench -p benches --bench deques               # about a minute
//! cargo bench -p benches --bench deques -- --quick    # a few seconds, coarse
//! cargo bench -p benches --bench deques -- thief      # the cases with this word
//! cargo bench -p benches --bench executors            # about eight minutes
//! cargo bench -p benches --bench executors -- --quick # about a minute, coarse
//! cargo bench -p benches --bench io                   # about three minutes
//! cargo bench -p benches --bench io -- --quick        # half a minute, coarse
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
//! | [`usage`] | CPU time and context switches of all threads |
//! | [`counting`] | what work allocates |
//! | [`pin`] | tying a thread to a core |
//! | [`rounds`] | alternating rounds: every contender once a round, in rotating order |
//! | [`progress`] | where a run is, and what it is stuck in |
//! | [`table`] | an aligned text table |
//! | [`bars`] | a bar chart |
//! | [`json`] | the same figures for programs |
//! | [`output`] | where files go |
//!
//! Figures are compared within one run only: machines are noisy and differ, but
//! contenders that alternate suffer alike.

pub mod bars;
pub mod clock;
pub mod counting;
pub mod json;
pub mod options;
pub mod output;
pub mod pin;
pub mod progress;
pub mod rounds;
pub mod table;
pub mod usage;

#[cfg(target_os = "linux")]
#[path = "os_linux.rs"]
mod os;

#[cfg(not(target_os = "linux"))]
#[path = "os_unknown.rs"]
mod os;
