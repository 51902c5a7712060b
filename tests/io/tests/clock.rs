//! The time of day may be changed while timers run: they follow the monotonic clock.
//!
//! libfaketime changes it for a child process alone, as often as a file says so.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use futures::future::join_all;
use io_tests::world::World;
use io_tests::worlds::{AsyncStd, Attached, Smol, Tokio, Unaware};
use tests::child;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Where the time of day is said to be, relative to the true one.
struct Offset(PathBuf);

impl Offset {
    fn new() -> Self {
        let file = format!("clock-{}", std::process::id());
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(file))
    }

    /// Says where it is; it is there soon.
    fn set(&self, days: i8) {
        // Replaced as a whole: nobody reads half of it.
        let next = self.0.with_extension("next");
        fs::write(&next, format!("{days:+}d\n")).expect("a place for temporary files");
        fs::rename(&next, &self.0).expect("the same directory");
    }
}

/// Changes the time of day, from inside, and sees to it that it is changed.
fn jump(offset: &Offset, days: i8) {
    let (before, begun) = (SystemTime::now(), Instant::now());
    offset.set(days);
    loop {
        let expected = before + begun.elapsed();
        let now = SystemTime::now();
        let difference = now
            .duration_since(expected)
            .unwrap_or_else(|earlier| earlier.duration());
        if difference > DAY {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Short timers fire, in their time, and a long one does not, whatever the time of day is.
fn timers_are_unmoved<W: World>(offset: &Offset) {
    offset.set(0);
    let (executor, _keep) = W::start(2);
    let endless = executor.spawn(W::sleep(Duration::from_secs(3600)));
    for days in [10, -10, 10] {
        let short = Duration::from_millis(60);
        let begun = Instant::now();
        let timers: Vec<_> = (0..20).map(|_| executor.spawn(W::sleep(short))).collect();
        jump(offset, days);
        executor.block_on(join_all(timers));
        assert!(begun.elapsed() >= short, "a timer fired early");
        assert!(!endless.is_finished(), "an hour was skipped");
    }
}

fn libfaketime() -> Option<PathBuf> {
    let places = fs::read_dir("/usr/lib").ok()?.flatten();
    let library = |place: fs::DirEntry| place.path().join("faketime/libfaketimeMT.so.1");
    places.map(library).find(|path| path.is_file())
}

#[test]
fn the_time_of_day_jumps() {
    let Some(library) = libfaketime() else {
        let text = "skipped: there is no libfaketime (Debian: apt-get install libfaketime)\n";
        // Not by a macro, whose output is not shown if a test passes.
        let _ = std::io::stderr().write_all(text.as_bytes());
        return;
    };
    const FILE: &str = "FAKETIME_TIMESTAMP_FILE";
    // The child is told where.
    let offset = std::env::var_os(FILE).map_or_else(Offset::new, |path| Offset(path.into()));
    offset.set(0);
    let variables = [
        ("LD_PRELOAD", library.to_str().expect("a path in ASCII")),
        (FILE, offset.0.to_str().expect("a path in UTF-8")),
        // The file is read at every call.
        ("FAKETIME_NO_CACHE", "1"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    let ending = child::run_with("the_time_of_day_jumps", &variables, || {
        timers_are_unmoved::<Unaware>(&offset);
        timers_are_unmoved::<Smol>(&offset);
        timers_are_unmoved::<AsyncStd>(&offset);
        timers_are_unmoved::<Tokio>(&offset);
        timers_are_unmoved::<Attached>(&offset);
    });
    if let Some(ending) = ending {
        let _ = fs::remove_file(&offset.0);
        ending.assert_success();
    }
}
