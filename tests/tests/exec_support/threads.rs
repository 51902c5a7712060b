//! What Linux says about the threads of this process.

use std::fs;

/// All threads, one line each: number, name, state and system call.
pub(crate) fn describe() -> String {
    let threads = fs::read_dir("/proc/self/task").expect("Linux lists the threads");
    let line = |thread: fs::DirEntry| {
        let read = |file: &str| fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        let (stat, call) = (read("stat"), read("syscall"));
        // The rest of `stat` is accounting.
        let state: Vec<&str> = stat.split(' ').take(3).collect();
        format!("  {} | system call {}\n", state.join(" "), call.trim())
    };
    threads.flatten().map(line).collect()
}
