//! What is done with each line.

use std::fmt;
use std::sync::Arc;

use ws_executor::Handle;
use ws_executor::pipeline::{self, Builder, PerItem};

use crate::access_log::{Entry, NoLogLine, parse};
use crate::lookup::Client;

pub(crate) use ws_executor::pipeline::Route;

/// A row of the database.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) entry: Entry,
    pub(crate) country: String,
}

/// Why there is no row for a line.
#[derive(Debug)]
pub(crate) enum Fault {
    NoLogLine(NoLogLine),
    UnknownClient,
    Lookup(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLogLine(error) => error.fmt(f),
            Self::UnknownClient => f.write_str("nobody knows where the client is"),
            Self::Lookup(error) => write!(f, "the lookup failed: {error}"),
        }
    }
}

impl std::error::Error for Fault {}

/// What all lines use.
pub(crate) struct Shared {
    pub(crate) lookup: Client,
}

async fn ingest(line: String, shared: Arc<Shared>) -> Result<Row, Fault> {
    let entry = parse(&line).map_err(Fault::NoLogLine)?;
    let country = shared.lookup.country(entry.client).await?;
    Ok(Row { entry, country })
}

/// The pipeline, without its ends.
pub(crate) fn pipeline(
    handle: &Handle,
    shared: Shared,
) -> Builder<impl PerItem<Item = String, Output = Row, Error = Fault> + use<>, Handle> {
    let shared = Arc::new(shared);
    pipeline::from_fn(handle, move |line| ingest(line, shared.clone()))
}
