//! Real servers for tests: PostgreSQL and Redis, as they are installed, each in a temporary
//! directory and on a Unix socket there, so that tests do not meet each other, nor a server
//! that the machine runs anyway.
//!
//! Where a server is not installed, its tests say so and pass; `.ci/packages` installs both.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod directory;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use self::directory::Directory;

/// How long a server may take to start or to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running server; dropping it stops it and removes its files.
pub struct Server {
    child: Child,
    directory: Directory,
}

impl Server {
    /// Starts PostgreSQL with an empty database; `None` if it is not installed, after
    /// saying so.
    ///
    /// # Panics
    ///
    /// If it is installed, but does not start.
    #[must_use]
    pub fn postgres() -> Option<Self> {
        let (Some(initdb), Some(postgres)) = (find("initdb"), find("postgres")) else {
            return skip("postgres", "postgresql");
        };
        let directory = Directory::new("postgres");
        let user = directory::is_root().then_some("postgres");
        if let Some(user) = user {
            directory.give_to(user);
        }
        let data = directory.path().join("data");
        let mut create = command(&initdb, user);
        create.args(["--auth=trust", "--username=postgres", "--no-sync", "-D"]);
        let output = create.arg(&data).output().expect("initdb starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "initdb failed: {errors}");

        let mut serve = command(&postgres, user);
        serve.arg("-D").arg(&data).arg("-k").arg(directory.path());
        serve.args(["-c", "listen_addresses=", "-c", "fsync=off"]);
        let is_ready = |directory: &Path| {
            // It answers before it is ready, with an error; this file says that it is.
            fs::read_to_string(directory.join("data/postmaster.pid"))
                .is_ok_and(|text| text.lines().any(|line| line.trim() == "ready"))
        };
        Some(Self::start(serve, directory, is_ready))
    }

    /// Starts Redis, empty and without files; `None` if it is not installed, after saying
    /// so.
    ///
    /// # Panics
    ///
    /// If it is installed, but does not start.
    #[must_use]
    pub fn redis() -> Option<Self> {
        let Some(redis) = find("redis-server") else {
            return skip("redis-server", "redis-server");
        };
        let directory = Directory::new("redis");
        let mut serve = command(&redis, None);
        serve.args(["--port", "0", "--save", "", "--appendonly", "no"]);
        serve.arg("--dir").arg(directory.path());
        serve
            .arg("--unixsocket")
            .arg(directory.path().join("socket"));
        let is_ready = |directory: &Path| {
            std::os::unix::net::UnixStream::connect(directory.join("socket")).is_ok()
        };
        Some(Self::start(serve, directory, is_ready))
    }

    /// Where its socket is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    fn start(mut serve: Command, directory: Directory, is_ready: impl Fn(&Path) -> bool) -> Self {
        let log = directory.path().join("log");
        let file = File::create(&log).expect("a file in a directory of ours");
        let output = file.try_clone().expect("one more descriptor");
        serve.stdin(Stdio::null()).stdout(output).stderr(file);
        let child = serve.spawn().expect("the server starts");
        let mut server = Self { child, directory };
        let begun = Instant::now();
        while !is_ready(server.directory()) {
            let ended = server.child.try_wait().expect("it is our child");
            let text = || fs::read_to_string(&log).unwrap_or_default();
            assert!(ended.is_none(), "the server ended:\n{}", text());
            assert!(begun.elapsed() < PATIENCE, "the server hangs:\n{}", text());
            thread::sleep(Duration::from_millis(10));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGINT: both end at once, and in order.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &pid]).status();
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn skip(what: &str, package: &str) -> Option<Server> {
    let text = format!("skipped: {what} is not installed (Debian: apt-get install {package})\n");
    // Not by a macro, whose output is not shown if a test passes.
    let _ = io::stderr().write_all(text.as_bytes());
    None
}

/// `program`, which ends when this process does, as `user` if one is given.
fn command(program: &Path, user: Option<&str>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "INT"]);
    if let Some(user) = user {
        command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
    }
    command.arg(program);
    command
}

/// Looks for a program where the shell does, and where Debian puts PostgreSQL's.
fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = Vec::new();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        places.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    // The newest one first.
    places.sort_by(|a, b| b.cmp(a));
    places.extend(std::env::split_paths(&path));
    places
        .into_iter()
        .map(|place| place.join(program))
        .find(|path| path.is_file())
}
