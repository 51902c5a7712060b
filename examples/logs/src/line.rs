//! What is done with each line.

use std::fmt;

use ws_executor::graph::TimedOut;
use ws_executor::task_graph;

use crate::access_log::{Entry, NoLogLine, parse};
use crate::lookup::Client;
use crate::store::Store;

/// A row of the database.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) entry: Entry,
    pub(crate) country: String,
}

/// Why there is no row for a line.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    NoLogLine(NoLogLine),
    UnknownClient,
    Lookup(String),
    Store(String),
}

impl Fault {
    /// Whether another attempt may help.
    fn is_transient(&self) -> bool {
        matches!(self, Self::Lookup(_))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLogLine(error) => error.fmt(f),
            Self::UnknownClient => f.write_str("nobody knows where the client is"),
            Self::Lookup(error) => write!(f, "the lookup failed: {error}"),
            Self::Store(error) => write!(f, "the database failed: {error}"),
        }
    }
}

impl std::error::Error for Fault {}

impl From<NoLogLine> for Fault {
    fn from(error: NoLogLine) -> Self {
        Self::NoLogLine(error)
    }
}

impl From<TimedOut> for Fault {
    fn from(late: TimedOut) -> Self {
        Self::Lookup(late.to_string())
    }
}

/// A line becomes a row; the rows of many lines go into the database together.
#[task_graph]
pub(crate) async fn ingest(
    line: String,
    #[shared] lookup: &Client,
    #[shared] store: &Store,
) -> Result<i64, Fault> {
    let entry = parse(&line)?;
    #[node(limit = 64, retry(2, backoff = "10ms..1s", when = Fault::is_transient), timeout = "5s")]
    let row = lookup.locate(&entry).await?;
    #[node(batch(row, max = 500, within = "50ms"), limit = 1)]
    let request: i64 = store.insert(row).await?;
    Ok(request)
}
