//! The lines of a file as a source.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::sync_directory;
use crate::pipeline::{BoxError, PullResult, Source};

/// How many lines are acknowledged before the offset file is written again: a second or
/// less of a fast run comes again after a crash. Not measured.
const COMMIT: usize = 4096;

/// The lines of a file, from where the last run was done with all of them.
///
/// A line ends with `\n`; what follows the last one is not a line yet, and left for the
/// next run. The position is kept beside the file, in one whose name ends with `.offset`,
/// unless [`offset_file`](Self::offset_file) says otherwise. See the
/// [module](crate::pipeline::files) for what is promised.
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
    /// From the first pull on.
    reader: Option<BufReader<File>>,
    /// The end of the last line that was read.
    position: u64,
    /// Where the lines begin that were read and are not done with: no more than are in
    /// flight, however many are done with after the first of them.
    open: BTreeSet<u64>,
    /// What the offset file says.
    committed: u64,
    /// Acknowledged since then.
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

    /// Keeps the position in this file.
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

    /// Writes the offset file when so many lines more are done with, and at the end.
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

    /// The file, from the position on.
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
            // Together, and only now: a run that cannot begin leaves the offset file alone.
            (self.committed, self.position) = (offset, offset);
            self.reader = Some(BufReader::new(file));
        }
        Ok(self.reader.as_mut().expect("opened above"))
    }

    /// The next line and where it begins, if there is a whole one.
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

    /// Where messages say that the last line ended.
    #[cfg(feature = "json")]
    pub(super) fn place(&self) -> String {
        format!("{}, before byte {}", self.path.display(), self.position)
    }

    /// The line that begins there is done with.
    pub(super) fn acknowledged(&mut self, start: u64) -> io::Result<()> {
        self.open.remove(&start);
        self.since += 1;
        if self.since >= self.commit_every {
            self.commit()?;
        }
        Ok(())
    }

    /// Replaces the offset file, if there is anything to say.
    pub(super) fn commit(&mut self) -> io::Result<()> {
        // All lines up to here are done with.
        let done = self.open.first().copied().unwrap_or(self.position);
        if done != self.committed {
            write_offset(&self.offsets, done)?;
            self.committed = done;
        }
        self.since = 0;
        Ok(())
    }
}

/// What a run that was cancelled is done with is not to come again.
impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.commit(); // at worst it does
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

/// The position in an offset file; 0 without one.
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

/// Replaces an offset file: whoever reads it finds the old position or this one, also
/// after a crash.
fn write_offset(path: &Path, offset: u64) -> io::Result<()> {
    let mut next = path.to_owned().into_os_string();
    next.push(".next");
    let mut file = File::create(&next)?;
    writeln!(file, "{offset}")?;
    file.sync_all()?;
    fs::rename(&next, path)?;
    sync_directory(path)
}

/// Whether a line begins at this position; leaves the file there.
fn is_line_start(file: &mut File, offset: u64) -> io::Result<bool> {
    let Some(before) = offset.checked_sub(1) else {
        return Ok(true);
    };
    file.seek(SeekFrom::Start(before))?;
    let mut byte = [0];
    Ok(file.read(&mut byte)? == 1 && byte == *b"\n")
}
