//! Wall time and CPU time of the calling thread.
//!
//! Both are needed: wall time is what a user waits for, and has the resolution;
//! CPU time says whether the thread had its core for itself meanwhile. A sample
//! during which the scheduler ran something else says nothing and is thrown
//! away.

use std::time::{Duration, Instant};

use crate::os;

/// The part of its wall time that an undisturbed thread is on its core. Less
/// than one, as interrupts are not counted as the thread's time; not measured.
const UNDISTURBED: f64 = 0.95;

/// Runs from its start to any number of [laps](Lap).
///
/// ```
/// use benches::clock::Stopwatch;
/// let watch = Stopwatch::start();
/// let (first, second) = (watch.lap(), watch.lap());
/// assert!(first.wall <= second.wall);
/// ```
#[derive(Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: Option<Duration>,
}

impl Stopwatch {
    /// Starts to run, on the calling thread.
    pub fn start() -> Self {
        // The wall clock inside the other one, as its figure is the one shown.
        let cpu = os::thread_cpu_time();
        Self {
            wall: Instant::now(),
            cpu,
        }
    }

    /// Returns the wall time since the start.
    pub fn elapsed(&self) -> Duration {
        self.wall.elapsed()
    }

    /// Returns both times since the start; on the thread that started it.
    pub fn lap(&self) -> Lap {
        let wall = self.wall.elapsed();
        let cpu = os::thread_cpu_time();
        Lap {
            wall,
            cpu: cpu
                .zip(self.cpu)
                .map(|(now, start)| now.saturating_sub(start)),
        }
    }
}

/// What a [`Stopwatch`] says.
#[derive(Clone, Copy, Debug)]
pub struct Lap {
    /// The time that passed.
    pub wall: Duration,
    /// The time that the thread was on a core, if the system tells.
    pub cpu: Option<Duration>,
}

impl Lap {
    /// Returns whether the thread had its core for itself, as far as known.
    ///
    /// ```
    /// use std::time::Duration;
    /// use benches::clock::Lap;
    /// let wall = Duration::from_millis(4);
    /// assert!(Lap { wall, cpu: Some(wall) }.is_undisturbed());
    /// assert!(!Lap { wall, cpu: Some(wall / 2) }.is_undisturbed());
    /// ```
    pub fn is_undisturbed(&self) -> bool {
        self.cpu
            .is_none_or(|cpu| cpu >= self.wall.mul_f64(UNDISTURBED))
    }
}

/// Returns what timing a section costs by itself: the typical time between two
/// reads of the clock with nothing in between.
///
/// Short sections are shown without it.
pub fn overhead() -> Duration {
    let mut gaps: Vec<_> = (0..10_001)
        .map(|_| {
            let start = Instant::now();
            start.elapsed()
        })
        .collect();
    gaps.sort_unstable();
    gaps[gaps.len() / 2]
}
