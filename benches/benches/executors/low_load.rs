//! A nearly idle executor: 1,000 small tasks a second, from outside.
//!
//! What counts here is how much is done beside the tasks: how often workers wake
//! up and go to sleep, and what time they spend looking for work. After tokio
//! issue 8065.
//!
//! Context switches are those of all threads but the one that submits, which
//! sleeps between tasks, for everybody alike. CPU time is that of the whole
//! process: a spawn is part of the cost.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use benches::outcome::as_text;
use benches::progress;
use benches::usage::Usage;
use serde::Serialize;

use crate::contender::{Contender, Kind, with_contender};

/// The tasks come one by one, in even time.
const PERIOD: Duration = Duration::from_millis(1);
/// Contenders alternate after so many tasks: once a second.
const SLICE: usize = 1_000;
/// Workers have gone to sleep after this.
const SETTLE: Duration = Duration::from_millis(5);

/// What one contender used, per task.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct LowLoad {
    #[serde(rename = "name", serialize_with = "as_text")]
    pub(crate) kind: Kind,
    pub(crate) voluntary: f64,
    pub(crate) involuntary: f64,
    pub(crate) cpu_us: f64,
}

type Slice = Box<dyn FnMut() -> Option<Usage>>;

/// Measures every contender for that many seconds; none where the system does not
/// tell what a process used.
pub(crate) fn measure(kinds: &[Kind], workers: usize, seconds: usize) -> Vec<LowLoad> {
    let start = |kind| with_contender!(kind, C => slice_of::<C>(workers));
    let mut contenders: Vec<_> = kinds
        .iter()
        .filter(|&&kind| kind != Kind::Floor)
        .map(|&kind| (kind, start(kind), Usage::default()))
        .collect();
    for _ in 0..seconds {
        for (kind, slice, sum) in &mut contenders {
            let Some(used) = progress::watch(*kind, slice) else {
                return Vec::new();
            };
            *sum += used;
        }
    }
    let tasks = (seconds * SLICE) as f64;
    let per_task = |(kind, _, used): (Kind, Slice, Usage)| LowLoad {
        kind,
        voluntary: used.voluntary as f64 / tasks,
        involuntary: used.involuntary as f64 / tasks,
        cpu_us: used.cpu.as_nanos() as f64 / 1_000.0 / tasks,
    };
    contenders.into_iter().map(per_task).collect()
}

fn slice_of<C: Contender>(workers: usize) -> Slice {
    let contender = C::new(workers);
    Box::new(move || {
        let (process, thread) = (Usage::of_process()?, Usage::of_thread()?);
        let start = Instant::now();
        for number in 0..SLICE {
            let due = start + PERIOD * number as u32;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            contender.detach(async { small_work() });
        }
        thread::sleep(SETTLE);
        let process = Usage::of_process()?.since(process);
        let thread = Usage::of_thread()?.since(thread);
        Some(Usage {
            cpu: process.cpu,
            ..process.since(thread)
        })
    })
}

/// About two microseconds.
fn small_work() {
    let mut state = black_box(1_u64);
    for _ in 0..1_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).rotate_left(7);
    }
    black_box(state);
}
