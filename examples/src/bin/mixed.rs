//! A server and a report on one pool of workers.
//!
//! Small requests come in all the time, each of them a task. In the middle someone asks
//! for a report, for which a million numbers are sorted: `compute` gives that to the same
//! workers, and `par_sort_unstable` divides it among them. Requests are answered
//! meanwhile, if not as quickly; how quickly is printed, and what each worker did.
//! `mixed 3` runs three workers; by default there is one for each processor.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use ws_core::FastRand;
use ws_executor::{BuildError, Executor, Handle, Metrics, par, yield_now};

/// How many numbers the report sorts.
const NUMBERS: usize = 1_000_000;

/// The time between two requests.
const PAUSE: Duration = Duration::from_micros(500);

/// How long requests come in before the report, and after it.
const QUIET: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let workers = match std::env::args().nth(1).map(|text| text.parse()) {
        None => thread::available_parallelism().map_or(1, usize::from),
        Some(Ok(workers @ 1..=256)) => workers,
        Some(_) => {
            eprintln!("usage: mixed [workers, 1 to 256]");
            return ExitCode::FAILURE;
        }
    };
    match run(workers) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(workers: usize) -> Result<(), BuildError> {
    let executor = Executor::builder().workers(workers).build()?;
    let handle = executor.handle();
    let (reporting, closing) = (AtomicBool::new(false), AtomicBool::new(false));
    let (answers, answered) = mpsc::channel();
    let (sent, report) = thread::scope(|threads| {
        let clients = threads.spawn(|| {
            let mut sent = 0;
            loop {
                send(&handle, answers.clone(), reporting.load(Ordering::Relaxed));
                sent += 1;
                if closing.load(Ordering::Relaxed) {
                    break sent;
                }
                thread::sleep(PAUSE);
            }
        });
        thread::sleep(QUIET);
        reporting.store(true, Ordering::Relaxed);
        let report = executor.block_on(handle.compute(report));
        reporting.store(false, Ordering::Relaxed);
        thread::sleep(QUIET);
        closing.store(true, Ordering::Relaxed);
        (clients.join().expect("clients do not panic"), report)
    });
    drop(answers);
    let answers: Vec<Answer> = answered.iter().collect();
    println!("Answered {} of {sent} requests.", answers.len());
    print_waits("before and after the report", &answers, false);
    print_waits("during the report", &answers, true);
    println!(
        "The report took {:.0} ms: the median of {NUMBERS} numbers is {}.",
        report.took.as_secs_f64() * 1e3,
        report.median
    );
    print_workers(&executor.metrics());
    Ok(())
}

/// One answer to a request.
struct Answer {
    /// How long the request was on its way.
    waited: Duration,
    during_report: bool,
}

/// A request: a task that has to wait once, and then answers.
fn send(handle: &Handle, answers: Sender<Answer>, during_report: bool) {
    let sent = Instant::now();
    let task = handle.spawn(async move {
        yield_now().await;
        let answer = Answer {
            waited: sent.elapsed(),
            during_report,
        };
        // Nobody listens if the program is about to end.
        let _ = answers.send(answer);
    });
    task.detach();
}

struct Report {
    median: u32,
    took: Duration,
}

fn report() -> Report {
    let start = Instant::now();
    let mut rand = FastRand::new(1);
    let mut numbers: Vec<u32> = (0..NUMBERS).map(|_| rand.next_u32()).collect();
    par::par_sort_unstable(&mut numbers);
    Report {
        median: numbers[NUMBERS / 2],
        took: start.elapsed(),
    }
}

fn print_waits(when: &str, answers: &[Answer], during_report: bool) {
    let mut waits: Vec<Duration> = answers
        .iter()
        .filter(|answer| answer.during_report == during_report)
        .map(|answer| answer.waited)
        .collect();
    waits.sort_unstable();
    let (Some(worst), Some(median)) = (waits.last(), waits.get(waits.len() / 2)) else {
        return println!("No request came in {when}.");
    };
    println!(
        "Requests {when}: {}, answered after {median:.0?}, {worst:.0?} at worst.",
        waits.len()
    );
}

fn print_workers(metrics: &Metrics) {
    for (number, worker) in metrics.workers().iter().enumerate() {
        println!(
            "Worker {number}: {} polls, ran {} parts for others, busy for {:.0?}",
            worker.polls, worker.forks_stolen, worker.busy
        );
    }
    println!(
        "While all of them computed, a spare thread did {} polls.",
        metrics.spare_polls()
    );
}
