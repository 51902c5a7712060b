//! Uneven work on plain threads: a static split against work stealing.
//!
//! Four loads of 100, 100, 200 and 350 tasks are dealt out to the workers before
//! anything runs. With a static split each worker runs what it was dealt, and
//! the early ones sit idle while the last one works. With work stealing a worker
//! that has run out takes half of what another one has left.
//!
//! Both runs use the same deques and the same tasks, each about a millisecond
//! of computing. `uneven 3` runs three workers; by default there is one for
//! each processor.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use ws_core::chase_lev::{self, Owner, Stealer};
use ws_core::{Backoff, FastRand, Steal};

/// The loads of the workers, in tasks.
const LOADS: [u32; 4] = [100, 100, 200, 350];

/// The length of the longest bar.
const BAR: f64 = 36.0;

fn main() -> ExitCode {
    let workers = match std::env::args().nth(1).map(|text| text.parse()) {
        None => thread::available_parallelism().map_or(1, usize::from),
        Some(Ok(workers @ 1..=256)) => workers,
        Some(_) => {
            eprintln!("usage: uneven [workers, 1 to 256]");
            return ExitCode::FAILURE;
        }
    };
    let task = Task::of_about(Duration::from_millis(1));

    let split = run(workers, task, |_, _, _| None);
    let stealing = run(workers, task, steal);
    let longest = split.total.max(stealing.total);

    println!("Static partitioning with uneven work:");
    print_report(&split, longest, "done early, sits idle");
    println!("\nWork stealing with the same work:");
    print_report(&stealing, longest, "");

    let faster = split.total.as_secs_f64() / stealing.total.as_secs_f64();
    println!("\nWork stealing was {faster:.2} times as fast.");
    ExitCode::SUCCESS
}

/// A piece of pure computing.
#[derive(Clone, Copy)]
struct Task {
    rounds: u64,
}

impl Task {
    /// Finds out how many rounds take `time`.
    fn of_about(time: Duration) -> Self {
        let mut rounds = 1_000;
        loop {
            let start = Instant::now();
            Task { rounds }.run();
            if start.elapsed() >= time {
                return Task { rounds };
            }
            rounds += rounds / 4;
        }
    }

    fn run(self) {
        let mut rand = FastRand::new(self.rounds);
        for _ in 0..self.rounds {
            black_box(rand.next_u32());
        }
    }
}

/// What one worker did.
struct Worker {
    dealt: u32,
    ran: u32,
    stole: u32,
    busy: Duration,
}

struct Report {
    workers: Vec<Worker>,
    total: Duration,
}

/// Deals the loads out and lets every worker run until it finds nothing more.
///
/// `search` is what a worker does when its own deque is empty: given itself, its
/// deque and everyone's stealers it returns a task, or nothing to stop.
fn run<S>(workers: usize, task: Task, search: S) -> Report
where
    S: Fn(usize, &Owner<Task>, &[Stealer<Task>]) -> Option<Task> + Sync,
{
    let (owners, stealers): (Vec<_>, Vec<_>) = (0..workers).map(|_| chase_lev::new()).unzip();
    let loads = LOADS.len().max(workers);
    for load in 0..loads {
        let owner = &owners[load * workers / loads];
        (0..LOADS[load % LOADS.len()]).for_each(|_| owner.push(task));
    }

    // Before anybody steals.
    let dealt: Vec<u32> = owners.iter().map(|owner| owner.len() as u32).collect();

    let work = |me: usize, owner: Owner<Task>| {
        let mut worker = Worker {
            dealt: dealt[me],
            ran: 0,
            stole: 0,
            busy: Duration::ZERO,
        };
        loop {
            let own = owner.pop();
            let stolen = own.is_none();
            let Some(task) = own.or_else(|| search(me, &owner, &stealers)) else {
                return worker;
            };
            worker.ran += 1;
            worker.stole += u32::from(stolen);
            let start = Instant::now();
            task.run();
            worker.busy += start.elapsed();
        }
    };

    let start = Instant::now();
    let workers = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (owners.into_iter().enumerate())
            .map(|(me, owner)| scope.spawn(move || work(me, owner)))
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Worker>| thread.join();
        threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()
    });
    Report {
        workers: workers.expect("tasks do not panic"),
        total: start.elapsed(),
    }
}

/// Takes half of a random victim's tasks; gives up when all deques are empty,
/// as no task makes new ones here.
fn steal(me: usize, owner: &Owner<Task>, stealers: &[Stealer<Task>]) -> Option<Task> {
    let mut rand = FastRand::for_worker(0, me);
    let mut backoff = Backoff::new();
    loop {
        let victims = rand.victims(stealers.len(), me);
        match victims
            .map(|victim| stealers[victim].steal_into(owner))
            .collect()
        {
            Steal::Success(task) => return Some(task),
            Steal::Empty => return None,
            Steal::Retry => backoff.snooze(),
        }
    }
}

/// Prints what each worker did, with bars in which `longest` is a full one.
fn print_report(report: &Report, longest: Duration, idle_note: &str) {
    let total = report.total.as_secs_f64() * 1e3;
    let mut busy_sum = 0.0;
    for (me, worker) in report.workers.iter().enumerate() {
        let busy = worker.busy.as_secs_f64() * 1e3;
        busy_sum += busy;
        let bar = "=".repeat((BAR * worker.busy.as_secs_f64() / longest.as_secs_f64()) as usize);
        let note = match worker.stole {
            0 if busy < 0.9 * total && !idle_note.is_empty() => format!(" ({idle_note})"),
            0 => String::new(),
            times => format!(" (stole {times} ×)"),
        };
        let Worker { dealt, ran, .. } = worker;
        println!("Worker {me}: [{bar}] {busy:.0} ms, dealt {dealt} tasks, ran {ran}{note}");
    }
    let workers = report.workers.len();
    let utilization = 100.0 * busy_sum / (workers as f64 * total);
    println!("Total time: {total:.0} ms");
    println!("Utilization: {busy_sum:.0} / ({workers} * {total:.0}) = {utilization:.0} %");
}
