//! The build without loom: it explores nothing and must not look like success.

use std::process::ExitCode;

/// Says how to run the models, and fails.
pub(crate) fn main() -> ExitCode {
    eprintln!(
        "this binary was built without loom and would check nothing; run the models with\n    \
         .ci/models\nor\n    \
         RUSTFLAGS=\"--cfg ws_loom\" CARGO_TARGET_DIR=target/loom \
         cargo run --profile model -p tests --bin models"
    );
    ExitCode::from(2)
}
