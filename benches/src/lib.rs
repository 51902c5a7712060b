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
//! A benchmark here is a program (`harness = false`) under `benches/`; `-- --help` says
//! what it measures and which options it has. It puts every contender behind one trait,
//! measures all of them in one run, and says at its end which of its goals were reached.
//! A program has its cases and its contenders. What programs share is in this library:
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
//! | [`measure`] | all samples of one case |
//! | [`progress`] | where a run is, and what it is stuck in |
//! | [`stats`] | quantiles and means |
//! | [`outcome`] | what was measured of one case, and how contenders compare in it |
//! | [`goal`] | a goal, and whether it was reached |
//! | [`table`] | an aligned text table |
//! | [`bars`] | a bar chart |
//! | [`output`] | the end of a run, and where files go |
//!
//! Figures are compared within one run only: machines are noisy and differ, but
//! contenders that alternate suffer alike.

pub mod bars;
pub mod clock;
pub mod counting;
pub mod goal;
pub mod limits;
pub mod measure;
pub mod meter;
pub mod options;
pub mod outcome;
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
