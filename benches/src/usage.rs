//! What the process and its threads used: time on a core, and how often a thread
//! gave its core up.
//!
//! Both clocks count every thread, also those that have ended. So a contender
//! cannot hide work in threads of its own, and threads that spin while they wait
//! for work are seen.

use std::time::Duration;

use crate::os;

/// How long all threads of the process have been on a core; `None` where the
/// system does not tell.
///
/// ```
/// let (start, mut sum) = (benches::usage::process_cpu_time(), 0_u64);
/// (0..100_000).for_each(|n| sum = std::hint::black_box(sum + n));
/// assert!(benches::usage::process_cpu_time() >= start);
/// ```
pub fn process_cpu_time() -> Option<Duration> {
    os::process_cpu_time()
}

/// Time on a core, and context switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The time on a core, in user code and in the system.
    pub cpu: Duration,
    /// How often a thread gave its core up because it had to wait.
    pub voluntary: u64,
    /// How often the system took the core away.
    pub involuntary: u64,
}

impl Usage {
    /// Returns what all threads of the process have used so far.
    ///
    /// ```
    /// use std::time::Duration;
    /// use benches::usage::Usage;
    /// if let Some(start) = Usage::of_process() {
    ///     std::thread::sleep(Duration::from_millis(1));
    ///     let used = Usage::of_process().unwrap().since(start);
    ///     assert!(used.voluntary >= 1);
    /// }
    /// ```
    pub fn of_process() -> Option<Self> {
        os::process_usage()
    }

    /// Returns what the calling thread has used so far.
    ///
    /// ```
    /// use benches::usage::Usage;
    /// let (thread, process) = (Usage::of_thread(), Usage::of_process());
    /// assert!(thread.map(|used| used.voluntary) <= process.map(|used| used.voluntary));
    /// ```
    pub fn of_thread() -> Option<Self> {
        os::thread_usage()
    }

    /// Returns what was used since `start`, or beside it: the difference.
    ///
    /// ```
    /// use benches::usage::Usage;
    /// let start = Usage { voluntary: 3, ..Usage::default() };
    /// let end = Usage { voluntary: 5, ..start };
    /// assert_eq!(end.since(start).voluntary, 2);
    /// ```
    pub fn since(self, start: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(start.cpu),
            voluntary: self.voluntary.saturating_sub(start.voluntary),
            involuntary: self.involuntary.saturating_sub(start.involuntary),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.cpu += more.cpu;
        self.voluntary += more.voluntary;
        self.involuntary += more.involuntary;
    }
}
