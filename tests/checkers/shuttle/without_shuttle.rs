//! The build without shuttle: it checks nothing and must not look like success.

use std::process::ExitCode;

/// Says how to run the check, and fails.
pub(crate) fn main() -> ExitCode {
    eprintln!(
        "this binary was built without shuttle and would check nothing; run it with\n    \
         .ci/schedules\nor\n    \
         RUSTFLAGS=\"--cfg ws_shuttle\" CARGO_TARGET_DIR=target/shuttle \
         cargo run --profile model -p tests --bin schedules"
    );
    ExitCode::from(2)
}
