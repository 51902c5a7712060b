//! Files: which words are the most frequent in a tree of files?
//!
//! The operating system has no "ready" for files: reading one blocks a thread, whichever
//! library one takes. Two ways keep that away from the workers, and this program goes both:
//!
//! - `async-fs`, smol's files: they look like sockets, and blocking happens on a pool of
//!   threads of that library;
//! - `spawn_blocking` around `std::fs`: a whole file at a time, on the pool of the executor.
//!
//! Counting the words is work, and done by the workers. `files PATH` looks there; without
//! it the program writes a few files into a temporary directory, and removes them.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs, io, process};

use futures::StreamExt;
use futures::future::try_join_all;
use ws_executor::{Task, block_on, spawn, spawn_blocking};

type Counts = HashMap<String, usize>;

fn main() -> ExitCode {
    let counted = match env::args_os().nth(1) {
        Some(path) => block_on(run(path.into())),
        None => Made::new().and_then(|made| block_on(run(made.0.clone()))),
    };
    match counted {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(root: PathBuf) -> io::Result<()> {
    let paths = paths(root).await?;
    let begun = Instant::now();
    let by_async_fs = count(&paths, |path| spawn(read_by_async_fs(path))).await?;
    println!("async-fs: {} files in {:?}", paths.len(), begun.elapsed());
    let begun = Instant::now();
    let read = |path| spawn_blocking(move || fs::read(path));
    let by_spawn_blocking = count(&paths, read).await?;
    let elapsed = begun.elapsed();
    println!("spawn_blocking: {} files in {elapsed:?}", paths.len());
    if by_async_fs != by_spawn_blocking {
        return Err(io::Error::other("the files changed meanwhile"));
    }

    let mut words: Vec<(&String, &usize)> = by_async_fs.iter().collect();
    words.sort_by(|(a, n), (b, m)| m.cmp(n).then(a.cmp(b)));
    for (word, n) in words.into_iter().take(5) {
        println!("{n:8} × {word}");
    }
    Ok(())
}

/// All files below `root`, by smol's way.
async fn paths(root: PathBuf) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut directories = vec![root];
    while let Some(directory) = directories.pop() {
        let mut entries = async_fs::read_dir(directory).await?;
        while let Some(entry) = entries.next().await {
            let entry = entry?;
            let kind = entry.file_type().await?;
            if kind.is_dir() {
                directories.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

async fn read_by_async_fs(path: PathBuf) -> io::Result<Vec<u8>> {
    async_fs::read(path).await
}

/// Counts the words of all files; a task for each file reads it by `read`, and counts.
async fn count(
    paths: &[PathBuf],
    read: impl Fn(PathBuf) -> Task<io::Result<Vec<u8>>>,
) -> io::Result<Counts> {
    let each = paths.iter().map(|path| {
        let bytes = read(path.clone());
        spawn(async move { io::Result::Ok(words(&bytes.await?)) })
    });
    let mut total = Counts::new();
    for counts in try_join_all(each).await? {
        for (word, n) in counts {
            *total.entry(word).or_default() += n;
        }
    }
    Ok(total)
}

fn words(bytes: &[u8]) -> Counts {
    let text = String::from_utf8_lossy(bytes);
    let mut counts = Counts::new();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
    {
        *counts.entry(word.to_lowercase()).or_default() += 1;
    }
    counts
}

/// Files to look at, which are removed in the end.
struct Made(PathBuf);

impl Made {
    const RHYME: &str = "One for sorrow,\ntwo for joy,\nthree for a girl,\nfour for a boy.\n";

    fn new() -> io::Result<Self> {
        let root = env::temp_dir().join(format!("ws-files-{}", process::id()));
        let made = Self(root.clone());
        for n in 0..100 {
            let directory = root.join(format!("{}", n % 4));
            fs::create_dir_all(&directory)?;
            fs::write(directory.join(format!("{n}.txt")), Self::RHYME)?;
        }
        Ok(made)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{} is left behind: {error}", self.0.display());
        }
    }
}
