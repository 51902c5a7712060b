//! JSON files with one value in each line.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde::de::DeserializeOwned;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{AppendLines, Lines};
use crate::pipeline::{BoxError, DeadLetter, PullResult, Sink, Source};

/// [`Lines`] of JSON.
///
/// A line that is not a value of this type ends the run. To route such lines instead, use
/// [`Lines`] and parse them in the graph.
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::pipeline::files::{AppendJson, JsonLines, Lines};
/// use ws_executor::pipeline;
///
/// # let directory = std::env::temp_dir().join(format!("ws-json-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let (orders, totals) = (directory.join("orders"), directory.join("totals"));
/// std::fs::write(&orders, "[\"tea\", 2, 350]\n[\"milk\", 1, 120]\n")?;
///
/// let executor = Executor::new();
/// let add_up = pipeline::from_fn(&executor.handle(), |(name, count, price): (String, u32, u32)| {
///     async move { Ok::<_, ()>((name, count * price)) }
/// });
/// let pipeline = add_up
///     .source(JsonLines::new(Lines::open(&orders)?))
///     .ordered(true)
///     .sink(AppendJson::open(&totals)?)
///     .build()
///     .unwrap();
/// executor.block_on(pipeline.run()).unwrap();
/// assert_eq!(std::fs::read_to_string(&totals)?, "[\"tea\",700]\n[\"milk\",120]\n");
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<_, std::io::Error>(())
/// ```
pub struct JsonLines<T> {
    lines: Lines,
    values: PhantomData<fn() -> T>,
}

impl<T> JsonLines<T> {
    /// Parses these lines; see the example at [`JsonLines`].
    #[must_use]
    pub fn new(lines: Lines) -> Self {
        Self {
            lines,
            values: PhantomData,
        }
    }
}

impl<T> fmt::Debug for JsonLines<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonLines").field(&self.lines).finish()
    }
}

impl<T: DeserializeOwned + Send + 'static> JsonLines<T> {
    fn next(&mut self) -> Result<Option<(T, u64)>, BoxError> {
        let Some((line, start)) = self.lines.next()? else {
            return Ok(None);
        };
        match serde_json::from_str(&line) {
            Ok(value) => Ok(Some((value, start))),
            Err(error) => Err(format!("{}: {error}", self.lines.place()).into()),
        }
    }
}

impl<T: DeserializeOwned + Send + 'static> Source for JsonLines<T> {
    type Item = T;
    type Ack = u64;

    fn poll_pull(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        Poll::Ready(self.next().transpose())
    }

    fn acknowledge(mut self: Pin<&mut Self>, start: u64) -> Result<(), BoxError> {
        Ok(self.lines.acknowledged(start)?)
    }

    fn poll_close(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(self.lines.commit().map_err(BoxError::from))
    }
}

/// [`AppendLines`] for JSON: one line for each result. A result may be a dead letter.
///
/// See the example at [`JsonLines`].
#[derive(Debug)]
pub struct AppendJson(AppendLines);

impl AppendJson {
    /// Opens a file, or creates it; see the example at [`JsonLines`].
    ///
    /// # Errors
    /// If the file cannot be opened, read and written.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        AppendLines::open(path).map(Self)
    }

    /// Waits for the disk after each push, as [`AppendLines::synced`] does.
    #[must_use]
    pub fn synced(self) -> Self {
        Self(self.0.synced())
    }
}

impl<T: Serialize + Send + 'static> Sink<T> for AppendJson {
    async fn push(&mut self, results: Vec<T>) -> Result<(), BoxError> {
        let mut lines = String::new();
        for result in results {
            lines.push_str(&serde_json::to_string(&result)?);
            lines.push('\n');
        }
        self.0.append(lines).await
    }

    async fn close(&mut self) -> Result<(), BoxError> {
        self.0.sync().await
    }
}

/// `{"item": …, "number": 7, "node": "parse", "error": "…", "panic": null}`
impl<I: Serialize, E: fmt::Display> Serialize for DeadLetter<I, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let failure = &self.failure;
        let mut letter = serializer.serialize_struct("DeadLetter", 5)?;
        letter.serialize_field("item", &self.item)?;
        letter.serialize_field("number", &failure.number)?;
        letter.serialize_field("node", &failure.node)?;
        letter.serialize_field("error", &failure.error.as_ref().map(E::to_string))?;
        letter.serialize_field("panic", &failure.panic)?;
        letter.end()
    }
}
