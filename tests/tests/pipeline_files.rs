//! A pipeline from file to file loses nothing, whenever its process is killed.

mod pipeline_support;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use futures::executor::block_on;
use pipeline_support::assert_adds_up;
use tests::exec::until;
use tests::watchdog;
use ws_executor::pipeline::files::{AppendJson, AppendLines, JsonLines, Lines};
use ws_executor::pipeline::{self, Cause, Collect, Route};
use ws_executor::yield_now;

/// A directory that is removed with this.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("ws-pipeline-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Tells a child where its files are.
const PLACE: &str = "WS_TEST_FILES";
/// Tells a child to keep the order.
const ORDERED: &str = "WS_TEST_ORDERED";
const ITEMS: u64 = 20_000;
const IN_FLIGHT: usize = 64;
const COMMIT: usize = 100;

/// What is killed: numbers from one file, squares to another one, some to a third.
fn scene(place: &Path) {
    let executor = tests::exec::executor(2);
    let pipeline = pipeline::from_fn(&executor.handle(), |n: u64| async move {
        if n % 3 == 0 {
            yield_now().await;
        }
        if n % 10 == 0 {
            Err("round")
        } else {
            Ok((n, n * n))
        }
    })
    .source(JsonLines::new(
        Lines::open(place.join("in")).unwrap().commit_every(COMMIT),
    ))
    .in_flight(IN_FLIGHT)
    .ordered(env::var_os(ORDERED).is_some())
    .on_error(|_| Route::DeadLetter)
    .dead_letter(AppendJson::open(place.join("dead")).unwrap())
    .sink(AppendJson::open(place.join("out")).unwrap())
    .build()
    .unwrap();
    assert_adds_up(&block_on(pipeline.run()).unwrap());
}

fn start(place: &Path, ordered: bool) -> Child {
    let mut child = Command::new(env::current_exe().unwrap());
    if ordered {
        child.env(ORDERED, "");
    }
    child
        .args(["every_item_comes_at_least_once_through_kills", "--exact"])
        .env(PLACE, place)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// How often each first number of a line is in a file of pairs. The last line may be torn.
fn count(path: &Path) -> BTreeMap<u64, usize> {
    let text = fs::read_to_string(path).unwrap();
    let mut counts = BTreeMap::new();
    for line in text.split_inclusive('\n') {
        let pair = line.strip_suffix("]\n").expect("whole lines");
        let (n, square) = pair[1..].split_once(',').unwrap();
        let (n, square): (u64, u64) = (n.parse().unwrap(), square.parse().unwrap());
        assert_eq!(square, n * n);
        *counts.entry(n).or_insert(0) += 1;
    }
    counts
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| data.len())
}

#[test]
fn every_item_comes_at_least_once_through_kills() {
    if let Some(place) = env::var_os(PLACE) {
        return scene(Path::new(&place));
    }
    watchdog::guard("kills", || [false, true].into_iter().for_each(kills));
}

fn kills(ordered: bool) {
    let directory = Directory::new(if ordered { "ordered-kills" } else { "kills" });
    let input: String = (0..ITEMS).map(|n| format!("{n}\n")).collect();
    fs::write(directory.file("in"), input).unwrap();
    let out = directory.file("out");
    // Killed when it has written a little more than the one before.
    let mut kills = 0;
    for part in 1..=8 {
        let mut child = start(&directory.0, ordered);
        let enough = part * 30_000;
        until(|| size(&out) >= enough || child_is_done(&directory));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        kills += usize::from(!status.success());
    }
    assert!(kills >= 4, "only {kills} children were killed in time");
    assert!(start(&directory.0, ordered).wait().unwrap().success());

    let counts = count(&out);
    let expected: Vec<_> = (0..ITEMS).filter(|n| n % 10 != 0).collect();
    assert!(counts.keys().eq(&expected), "every item is in the output");
    let dead = fs::read_to_string(directory.file("dead")).unwrap();
    let letter = |n: u64| dead.contains(&format!("{{\"item\":{n},\"number\":"));
    assert!((0..ITEMS).step_by(10).all(letter), "or a dead letter");
    // And no more of them twice than a kill can cause. Without an order all that was
    // done after an item which stands still comes again with it.
    let again: usize = counts.values().map(|count| count - 1).sum();
    assert!(
        !ordered || again <= kills * (IN_FLIGHT + COMMIT + 256),
        "{again} of {kills}"
    );
}

fn child_is_done(directory: &Directory) -> bool {
    let offset = fs::read_to_string(directory.file("in.offset")).unwrap_or_default();
    offset.trim().parse() == Ok(size(&directory.file("in")))
}

#[test]
fn a_cancelled_run_goes_on_where_it_was() {
    watchdog::guard("cancelled run", || {
        let directory = Directory::new("cancelled");
        let path = directory.file("in");
        let input: String = (0..5000).map(|n| format!("line {n}\r\n")).collect();
        fs::write(&path, input).unwrap();
        let executor = tests::exec::executor(2);
        let mut seen = Vec::new();
        let mut reports = Vec::new();
        while seen.len() < 5000 {
            let results = Collect::new();
            // The first run cannot come to its end, however late it is cancelled.
            let first = reports.is_empty();
            let running = pipeline::from_fn(&executor.handle(), move |line: String| async move {
                yield_now().await;
                if first && line == "line 4999" {
                    std::future::pending::<()>().await;
                }
                Ok::<_, ()>(line)
            })
            .source(Lines::open(&path).unwrap())
            .in_flight(10)
            .ordered(true)
            .sink(results.clone())
            .build()
            .unwrap()
            .start();
            let half = (5000 - seen.len() as u64).div_ceil(2);
            until(|| running.progress().done >= half);
            reports.push(block_on(running.cancel()).unwrap());
            seen.extend(results.take());
        }
        // In order, and acknowledged as soon as the sink had it: nothing comes twice.
        let expected: Vec<_> = (0..5000).map(|n| format!("line {n}")).collect();
        assert_eq!(seen, expected);
        assert!(reports.len() > 1);
    });
}

#[test]
fn lines_that_cannot_be_used_end_the_run() {
    watchdog::guard("bad lines", || {
        let directory = Directory::new("bad");
        let path = directory.file("in");
        let executor = tests::exec::executor(1);
        let run = || {
            let echo =
                pipeline::from_fn(&executor.handle(), |n: u64| async move { Ok::<_, &str>(n) });
            let lines = JsonLines::new(Lines::open(&path).unwrap());
            block_on(echo.source(lines).build().unwrap().run())
        };
        fs::write(&path, "1\n2\nthree\n4\n").unwrap();
        let error = run().unwrap_err();
        assert!(matches!(error.cause, Cause::Source(_)));
        assert!(error.to_string().contains("before byte 10"), "{error}");
        assert_eq!(error.report.done, 2);
        // Corrected, the run goes on there.
        fs::write(&path, "1\n2\n3\n4\n").unwrap();
        assert_eq!(run().unwrap().done, 2);
        // An offset that is not of this file is noticed.
        fs::write(directory.file("in.offset"), "3\n").unwrap();
        assert!(run().unwrap_err().to_string().contains("no line of"));
        // It is left as it was, to be looked at: the next run notices it, too.
        assert!(run().unwrap_err().to_string().contains("no line of"));
        fs::write(directory.file("in.offset"), "many\n").unwrap();
        assert!(run().unwrap_err().to_string().contains("holds no offset"));
    });
}

#[test]
fn a_torn_line_is_removed_however_long() {
    let directory = Directory::new("torn");
    for (before, after) in [
        (String::new(), String::new()),
        ("torn".into(), String::new()),
        ("whole\n".into(), "whole\n".into()),
        (format!("a\nb\n{}", "x".repeat(10_000)), "a\nb\n".into()),
        ("y".repeat(4096), String::new()),
    ] {
        let path = directory.file("out");
        fs::write(&path, before).unwrap();
        drop(AppendLines::open(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
    }
}
