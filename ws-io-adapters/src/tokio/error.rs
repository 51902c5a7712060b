//! Why an executor with a runtime could not be built.

use std::error;
use std::fmt;
use std::io;

use ws_executor::BuildError;

/// Why an executor with a tokio runtime could not be built; from
/// [`executor`](super::executor).
///
/// ```
/// use ws_executor::Executor;
///
/// let error = ws_io_adapters::tokio::executor(Executor::builder().workers(0)).unwrap_err();
/// assert!(error.is_build() && !error.is_reactor());
/// ```
#[derive(Debug)]
pub struct Error(Kind);

#[derive(Debug)]
enum Kind {
    Reactor(io::Error),
    Build(BuildError),
}

impl Error {
    pub(super) fn reactor(error: io::Error) -> Self {
        Self(Kind::Reactor(error))
    }

    pub(super) fn build(error: BuildError) -> Self {
        Self(Kind::Build(error))
    }

    /// Returns whether the system refused the reactor; the source is its error.
    #[must_use]
    pub fn is_reactor(&self) -> bool {
        matches!(self.0, Kind::Reactor(_))
    }

    /// Returns whether the executor could not be built; the source is its error.
    #[must_use]
    pub fn is_build(&self) -> bool {
        matches!(self.0, Kind::Build(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Reactor(_) => "could not start the tokio runtime's reactor",
            Kind::Build(_) => "could not build the executor",
        })
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(match &self.0 {
            Kind::Reactor(error) => error,
            Kind::Build(error) => error,
        })
    }
}
