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
//! cargo bench -p benches --bench fork_join            # about two minutes
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
//! | [`meter`] | wall time and CPU time of one sample, of all threads |
//! | [`pin`] | tying a thread to a core |
//! | [`rounds`] | alternating rounds: every contender once a round, in rotating order |
//! | [`limits`] | how long a case may take |
//! | [`progress`] | where a run is, and what it is stuck in |
//! | [`table`] | an aligned text table |
//! | [`bars`] | a bar chart |
//! | [`stats`] | quantiles and means |
//! | [`goal`] | a goal, and whether it was reached |
//! | [`json`] | the same figures for programs |
//! | [`output`] | where files go |
//!
//! Figures are compared within one run only: machines are noisy and differ, but
//! contenders that alternate suffer alike.

pub mod bars;
pub mod clock;
pub mod counting;
pub mod goal;
pub mod json;
pub mod limits;
pub mod meter;
pub mod options;
pub mod output;
pub mod pin;
pub mod progress;
pub mod rounds;
pub mod stats;
pub mod table;
pub mod usage;

#[cfg(target_os = "linux")]
#[path = "os_linux.rs"]
mod os;

#[cfg(not(target_os = "linux"))]
#[path = "os_unknown.rs"]
mod os;
