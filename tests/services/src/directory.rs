//! A temporary directory.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A directory that is removed in the end, with what is in it.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new(name: &str) -> Self {
        static LAST: AtomicUsize = AtomicUsize::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let name = format!("ws-{name}-{}-{number}", process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a place for temporary files");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes `user` its owner.
    pub(crate) fn give_to(&self, user: &str) {
        let status = Command::new("chown").arg(user).arg(&self.0).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "no user {user}"
        );
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether this process may do everything; PostgreSQL refuses to run like that.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0)
}
