//! A file that results are appended to.

use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;

use super::sync_directory;
use crate::pipeline::{BoxError, Sink};

/// Appends each result to a file, as a line.
///
/// A push is complete when its lines were written, or, with [`synced`](Self::synced), when they
/// are on the disk. If the last line of the file does not end with `\n`, a crash cut it off.
/// Such a line is removed when the file is opened, because its item comes again.
///
/// ```
/// use ws_executor::Executor;
/// use ws_executor::pipeline::{self, files::AppendLines};
///
/// # let directory = std::env::temp_dir().join(format!("ws-append-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let path = directory.join("squares");
/// std::fs::write(&path, "0\n1\n4\n9\n1")?;
///
/// let executor = Executor::new();
/// let squares = pipeline::from_fn(&executor.handle(), |n: u32| async move { Ok::<_, ()>(n * n) });
/// let squares = squares.iter(4..6).ordered(true).sink(AppendLines::open(&path)?.synced());
/// executor.block_on(squares.build().unwrap().run()).unwrap();
/// assert_eq!(std::fs::read_to_string(&path)?, "0\n1\n4\n9\n16\n25\n");
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AppendLines {
    file: Arc<File>,
    synced: bool,
}

impl AppendLines {
    /// Opens a file, or creates it; see the example at [`AppendLines`].
    ///
    /// # Errors
    /// If the file cannot be opened, read and written.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let mut file = options.create(true).read(true).append(true).open(&path)?;
        remove_torn_line(&mut file)?;
        if file.metadata()?.len() == 0 {
            sync_directory(path.as_ref())?; // It may have been created just now.
        }
        Ok(Self {
            file: Arc::new(file),
            synced: false,
        })
    }

    /// Waits for the disk after each push; see the example at [`AppendLines`].
    ///
    /// Each push takes all results that gathered during the one before, so there are few
    /// pushes.
    #[must_use]
    pub fn synced(mut self) -> Self {
        self.synced = true;
        self
    }

    /// Appends whole lines.
    pub(super) async fn append(&mut self, lines: String) -> Result<(), BoxError> {
        (&*self.file).write_all(lines.as_bytes())?;
        if self.synced {
            self.sync().await?;
        }
        Ok(())
    }

    pub(super) async fn sync(&mut self) -> Result<(), BoxError> {
        let file = self.file.clone();
        Ok(crate::spawn_blocking(move || file.sync_data()).await?)
    }
}

/// Removes the bytes after the last `\n`.
fn remove_torn_line(file: &mut File) -> io::Result<()> {
    /// Most lines are shorter; longer lines take several steps.
    const STEP: u64 = 4096;
    let mut end = file.seek(SeekFrom::End(0))?;
    let length = end;
    while end > 0 {
        let start = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(start))?;
        let mut part = Vec::new();
        (&*file).take(end - start).read_to_end(&mut part)?;
        if let Some(last) = part.iter().rposition(|&byte| byte == b'\n') {
            end = start + last as u64 + 1;
            break;
        }
        end = start;
    }
    if end < length {
        file.set_len(end)?;
    }
    Ok(())
}

impl<T: fmt::Display + Send + 'static> Sink<T> for AppendLines {
    async fn push(&mut self, results: Vec<T>) -> Result<(), BoxError> {
        let mut lines = String::new();
        for result in results {
            writeln!(lines, "{result}")?;
        }
        self.append(lines).await
    }

    async fn close(&mut self) -> Result<(), BoxError> {
        self.sync().await
    }
}
