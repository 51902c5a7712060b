//! The lines of a file as a source.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::sync_directory;
use crate::pipeline::{BoxError, PullResult, Source};

/// The offset file is written again after this many acknowledged lines. After a crash, the
/// lines of about a second or less of a fast run come again. Not measured.
const COMMIT: usize = 4096;

/// The lines of a file, from the position up to which earlier runs are done.
///
/// A line ends with `\n`. Bytes after the last `\n` are not a line yet, and are left for the
/// next run. The position is stored in a file beside this one, whose name ends with `.offset`,
/// unless [`offset_file`](Self::offset_file) sets another. See the
/// [module](crate::pipeline::files) for the guarantees.
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::pipeline::{self, Collect, files::Lines};
///
/// # let directory = std::env::temp_dir().join(format!("ws-lines-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let path = directory.join("names");
/// std::fs::write(&path, "ada\ngrace\nbarb")?; // the last one is still being written
///
/// let executor = Executor::new();
/// let run = || {
///     let names = Collect::new();
///     let echo = pipeline::from_fn(&executor.handle(), |name: String| async { Ok::<_, ()>(name) });
///     let echo = echo.source(Lines::open(&path)?).ordered(true).sink(names.clone());
///     executor.block_on(echo.build().unwrap().run()).unwrap();
///     Ok::<_, std::io::Error>(names.take())
/// };
/// assert_eq!(run()?, ["ada", "grace"]);
/// std::fs::write(&path, "ada\ngrace\nbarbara\n")?;
/// assert_eq!(run()?, ["barbara"]);
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    offsets: PathBuf,
    commit_every: usize,
    /// The open file, from the first pull on.
    reader: Option<BufReader<File>>,
    /// The end of the last line that was read.
    position: u64,
    /// The positions of lines that were read and are not done. There are no more of them than
    /// items in flight, even if many later lines are done.
    open: BTreeSet<u64>,
    /// The position in the offset file.
    committed: u64,
    /// The number of lines acknowledged since the offset file was written.
    since: usize,
}

impl Lines {
    /// Opens a file; see the example at [`Lines`].
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        drop(File::open(&path)?);
        let mut offsets = path.clone().into_os_string();
        offsets.push(".offset");
        Ok(Self {
            path,
            offsets: offsets.into(),
            commit_every: COMMIT,
            reader: None,
            position: 0,
            open: BTreeSet::new(),
            committed: 0,
            since: 0,
        })
    }

    /// Stores the position in this file.
    ///
    /// ```
    /// use ws_executor::pipeline::files::Lines;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let lines = Lines::open("Cargo.toml")?.offset_file("/var/lib/indexer/position");
    /// # drop(lines);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn offset_file(mut self, path: impl AsRef<Path>) -> Self {
        self.offsets = path.as_ref().to_owned();
        self
    }

    /// Writes the offset file after this many acknowledged lines, and at the end of the run.
    ///
    /// ```
    /// use ws_executor::pipeline::files::Lines;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let lines = Lines::open("Cargo.toml")?.commit_every(100);
    /// # drop(lines);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn commit_every(mut self, lines: usize) -> Self {
        self.commit_every = lines.max(1);
        self
    }

    /// Returns the file, at the position from which lines are read.
    fn reader(&mut self) -> io::Result<&mut BufReader<File>> {
        if self.reader.is_none() {
            let offset = read_offset(&self.offsets)?;
            let mut file = File::open(&self.path)?;
            if !is_line_start(&mut file, offset)? {
                let text = format!(
                    "no line of {} begins at {}, where {} says that the last run ended",
                    self.path.display(),
                    offset,
                    self.offsets.display()
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            // Both at once, and only now: a run that cannot begin must leave the offset file
            // unchanged.
            (self.committed, self.position) = (offset, offset);
            self.reader = Some(BufReader::new(file));
        }
        Ok(self.reader.as_mut().expect("opened above"))
    }

    /// Reads the next line and its position, if there is a complete one.
    pub(super) fn next(&mut self) -> io::Result<Option<(String, u64)>> {
        let mut line = Vec::new();
        let length = self.reader()?.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Ok(None);
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let start = self.position;
        self.position += length as u64;
        self.open.insert(start);
        let line = String::from_utf8(line).map_err(|error| {
            let text = format!("{}, byte {}: {error}", self.path.display(), self.position);
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        Ok(Some((line, start)))
    }

    /// The end of the last line that was read, for messages.
    #[cfg(feature = "json")]
    pub(super) fn place(&self) -> String {
        format!("{}, before byte {}", self.path.display(), self.position)
    }

    /// Notes that the line at this position is done.
    pub(super) fn acknowledged(&mut self, start: u64) -> io::Result<()> {
        self.open.remove(&start);
        self.since += 1;
        if self.since >= self.commit_every {
            self.commit()?;
        }
        Ok(())
    }

    /// Replaces the offset file, if the position has changed.
    pub(super) fn commit(&mut self) -> io::Result<()> {
        // All lines before this position are done.
        let done = self.open.first().copied().unwrap_or(self.position);
        if done != self.committed {
            write_offset(&self.offsets, done)?;
            self.committed = done;
        }
        self.since = 0;
        Ok(())
    }
}

/// Lines that a cancelled run has finished must not come again.
impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.commit(); // If it fails, these lines come again.
    }
}

impl Source for Lines {
    type Item = String;
    type Ack = u64;

    fn poll_pull(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        Poll::Ready(self.next().map_err(BoxError::from).transpose())
    }

    fn acknowledge(mut self: Pin<&mut Self>, start: u64) -> Result<(), BoxError> {
        Ok(self.acknowledged(start)?)
    }

    fn poll_close(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(self.commit().map_err(BoxError::from))
    }
}

/// Reads the position in an offset file; 0 if there is no such file.
fn read_offset(path: &Path) -> io::Result<u64> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    text.trim().parse().map_err(|error| {
        let text = format!("{} holds no offset: {error}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

/// Replaces an offset file. A reader finds the old position or this one, even after a crash.
fn write_offset(path: &Path, offset: u64) -> io::Result<()> {
    let mut next = path.to_owned().into_os_string();
    next.push(".next");
    let mut file = File::create(&next)?;
    writeln!(file, "{offset}")?;
    file.sync_all()?;
    fs::rename(&next, path)?;
    sync_directory(path)
}

/// Whether a line begins at this position. Leaves the file there.
fn is_line_start(file: &mut File, offset: u64) -> io::Result<bool> {
    let Some(before) = offset.checked_sub(1) else {
        return Ok(true);
    };
    file.seek(SeekFrom::Start(before))?;
    let mut byte = [0];
    Ok(file.read(&mut byte)? == 1 && byte == *b"\n")
}
