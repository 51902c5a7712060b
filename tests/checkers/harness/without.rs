//! A checker that was built without its tool: it checks nothing and must not look like success.

use std::process::ExitCode;

/// Says how to run the check, and fails.
pub(crate) fn main() -> ExitCode {
    let name = env!("CARGO_BIN_NAME");
    eprintln!("built like this, `{name}` would check nothing; run it with\n    .ci/{name}");
    ExitCode::from(2)
}
