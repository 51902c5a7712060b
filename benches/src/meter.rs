//! Wall time and CPU time of one sample.
//!
//! CPU time is that of all threads of the process: of the workers, of those that
//! spawn from outside, and of anything a contender runs besides. Contenders
//! alternate in one process, so the time must be counted to the right one. A
//! worker that runs out of work may look around for a while before it sleeps;
//! therefore the clock of CPU time stops only after a pause in which the calling
//! thread sleeps and whoever is still awake is the contender just measured. The
//! wall clock stops before the pause.

use std::thread;
use std::time::{Duration, Instant};

use crate::usage;

/// The pause. All contenders are quiet well before its end: the longest search
/// seen before a worker sleeps is some tens of microseconds.
const SETTLE: Duration = Duration::from_millis(1);

/// What one contender did in one sample of a case.
#[derive(Debug, Default)]
pub struct Meter {
    units: usize,
    wall: Duration,
    /// `None` if it is not known, or says nothing.
    cpu: Option<Duration>,
    latencies: Vec<f64>,
}

impl Meter {
    /// Times `work`, which does so many units of what the case is about.
    pub fn time<R>(&mut self, units: usize, work: impl FnOnce() -> R) -> R {
        let cpu = usage::process_cpu_time();
        let result = self.time_beside(units, work);
        thread::sleep(SETTLE);
        let used = usage::process_cpu_time()
            .zip(cpu)
            .map(|(end, start)| end - start);
        if let Some(used) = used {
            *self.cpu.get_or_insert_default() += used;
        }
        result
    }

    /// Times `work` beside a load, or by a thread that does not block: the wall
    /// time only, as the CPU time is not the executor's.
    pub fn time_beside<R>(&mut self, units: usize, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.wall += start.elapsed();
        self.units += units;
        result
    }

    /// Notes how long one unit took, for a case that is about latency: its figures
    /// are then quantiles of these instead of a mean.
    pub fn latency(&mut self, latency: Duration) {
        self.latencies.push(latency.as_nanos() as f64);
    }

    /// Returns the wall time so far.
    pub fn wall(&self) -> Duration {
        self.wall
    }

    /// Returns the wall time and the CPU time per unit, in ns.
    pub fn per_unit(&self) -> [f64; 2] {
        let per_unit = |time: Duration| time.as_nanos() as f64 / self.units as f64;
        [per_unit(self.wall), self.cpu.map_or(f64::NAN, per_unit)]
    }

    /// Returns the latencies that were noted, in ns.
    pub fn into_latencies(self) -> Vec<f64> {
        self.latencies
    }
}
