//! The command line, and the tables.

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::job::{Job, Report, Verdict};
use super::portfolio::PORTFOLIO;
use super::subject::Subject;
use super::{deque_canaries, ring_canaries, slot_canaries, structures};

const USAGE: &str = "\
usage: linearizability [--seed N] [--histories N] [NAME]...
    --seed N        where programs and schedules are drawn from; by default the clock
    --histories N   histories of each structure under each scheduler; by default 100000
    NAME            a structure, a canary, or one scheduler of it: `ring`, `ring/pct3`";

/// Histories of each structure under each scheduler: all in all half a minute on
/// two cores.
const HISTORIES: usize = 100_000;

/// Histories after which a scheduler gives a canary up. Together the portfolio
/// needs some hundred at most.
const CANARY_HISTORIES: usize = 5_000;

const CANARIES: &[&[Subject]] = &[
    ring_canaries::CANARIES,
    deque_canaries::CANARIES,
    slot_canaries::CANARIES,
];

struct Arguments {
    seed: u64,
    histories: usize,
    names: Vec<String>,
}

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    match parse(env::args().skip(1)) {
        Ok(arguments) => run(&arguments),
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut arguments = Arguments {
        seed: since_epoch.map_or(0, |time| time.as_micros() as u64),
        histories: HISTORIES,
        names: Vec::new(),
    };
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words.next().and_then(|value| value.parse().ok());
            value.ok_or_else(|| format!("`{word}` needs a number"))
        };
        match word.as_str() {
            "--seed" => arguments.seed = number()?,
            "--histories" => arguments.histories = number()? as usize,
            option if option.starts_with('-') => return Err(format!("unknown option `{option}`")),
            _ => arguments.names.push(word),
        }
    }
    Ok(arguments)
}

fn run(arguments: &Arguments) -> ExitCode {
    let structures = arguments.jobs(structures::SUBJECTS, arguments.histories);
    let canaries: Vec<Job> = CANARIES
        .iter()
        .flat_map(|canaries| arguments.jobs(canaries, CANARY_HISTORIES))
        .collect();
    if structures.is_empty() && canaries.is_empty() {
        eprintln!("{:?} choose nothing\n{USAGE}", arguments.names);
        return ExitCode::from(2);
    }

    let start = Instant::now();
    println!("seed {}", arguments.seed);
    let mut tally = Tally::default();
    check_structures(&structures, &mut tally);
    check_canaries(&canaries, &mut tally);
    println!(
        "\n{} histories, {:.0} seconds",
        tally.histories,
        start.elapsed().as_secs_f64()
    );
    if tally.failed > 0 {
        println!(
            "the same again: .ci/linearizability --seed {} NAME...",
            arguments.seed
        );
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    ExitCode::from(u8::from(tally.failed > 0))
}

impl Arguments {
    /// The jobs of `subjects` that the names choose, all when there are none.
    fn jobs(&self, subjects: &'static [Subject], histories: usize) -> Vec<Job> {
        let seed = self.seed;
        let all = subjects.iter().flat_map(|subject| {
            PORTFOLIO.iter().map(move |&strategy| Job {
                subject,
                strategy,
                histories,
                seed,
            })
        });
        let is_chosen = |job: &Job| {
            let named = |name: &String| *name == job.name() || *name == job.subject.name;
            self.names.is_empty() || self.names.iter().any(named)
        };
        all.filter(is_chosen).collect()
    }
}

#[derive(Default)]
struct Tally {
    histories: usize,
    passed: u32,
    failed: u32,
}

impl Tally {
    fn count(&mut self, passed: bool) {
        if passed {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }
}

/// Every structure must hold under every scheduler, and show what it can do.
fn check_structures(jobs: &[Job], tally: &mut Tally) {
    println!(
        "\n{:<12} {:<9} {:>9} {:>8}  outcome",
        "structure", "scheduler", "histories", "seconds"
    );
    let reports = in_parallel(jobs, |job, report| {
        println!(
            "{:<12} {:<9} {:>9} {:>8.1}  {}",
            job.subject.name,
            job.strategy.name(),
            report.histories,
            report.elapsed.as_secs_f64(),
            match report.verdict {
                Verdict::Holds => "holds",
                Verdict::Rejected(_) => "REJECTED",
                Verdict::Panicked(_) => "PANICKED",
            }
        );
    });

    let mut seen: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    for (job, report) in jobs.iter().zip(&reports) {
        tally.histories += report.histories;
        tally.count(matches!(report.verdict, Verdict::Holds));
        if let Verdict::Rejected(why) | Verdict::Panicked(why) = &report.verdict {
            println!(
                "\n{} failed in history {}:\n{why}",
                job.name(),
                report.histories
            );
        }
        let seen = seen.entry(job.subject.name).or_default();
        for (label, count) in &report.seen {
            *seen.entry(label.clone()).or_default() += count;
        }
    }
    for subject in structures::SUBJECTS {
        let Some(seen) = seen.get(subject.name) else {
            continue;
        };
        let list: Vec<String> = seen
            .iter()
            .map(|(label, count)| format!("{label} {count}"))
            .collect();
        println!(
            "\n{} ({}):\n  {}",
            subject.name,
            subject.about,
            list.join(", ")
        );
        let missing: Vec<&&str> = subject
            .must_see
            .iter()
            .filter(|&&label| !seen.contains_key(label))
            .collect();
        tally.count(missing.is_empty());
        if !missing.is_empty() {
            println!("  never seen, so never checked: {missing:?}");
        }
    }
}

/// Every canary must be rejected under one scheduler at least.
fn check_canaries(jobs: &[Job], tally: &mut Tally) {
    let reports = in_parallel(jobs, |_, _| {});
    println!("\nhistories until a canary was rejected; `-` after {CANARY_HISTORIES} that were not");
    let names: Vec<String> = PORTFOLIO
        .iter()
        .map(|strategy| format!("{:>7}", strategy.name()))
        .collect();
    println!("{:<28} {}", "canary", names.join(""));
    let mut rest = jobs.iter().zip(&reports).peekable();
    while let Some((job, _)) = rest.peek() {
        let subject = job.subject;
        let mut row = vec!["       ".to_owned(); PORTFOLIO.len()];
        let mut caught = false;
        while let Some((job, report)) = rest.next_if(|(job, _)| job.subject.name == subject.name) {
            let column = PORTFOLIO
                .iter()
                .position(|&strategy| strategy == job.strategy);
            let after = match &report.verdict {
                Verdict::Holds => "-".to_owned(),
                Verdict::Rejected(_) => report.histories.to_string(),
                Verdict::Panicked(_) => "panic".to_owned(),
            };
            row[column.expect("jobs are of the portfolio")] = format!("{after:>7}");
            caught |= matches!(report.verdict, Verdict::Rejected(_));
            tally.histories += report.histories;
        }
        tally.count(caught);
        let verdict = if caught { "" } else { "NOT CAUGHT: " };
        println!(
            "{:<28} {}  {verdict}{}",
            subject.name,
            row.join(""),
            subject.about
        );
    }
}

/// Runs the jobs on as many threads as there are cores; `done` is told about
/// each as it ends.
fn in_parallel(jobs: &[Job], done: impl Fn(&Job, &Report) + Sync) -> Vec<Report> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let next = Mutex::new(jobs.iter().enumerate());
    let reports = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let job = next.lock().expect("no one panics with the lock").next();
                    let Some((index, job)) = job else {
                        break;
                    };
                    let report = job.run();
                    done(job, &report);
                    reports
                        .lock()
                        .expect("no one panics with the lock")
                        .push((index, report));
                }
            });
        }
    });
    let mut reports = reports.into_inner().expect("no one panics with the lock");
    reports.sort_by_key(|(index, _)| *index);
    reports.into_iter().map(|(_, report)| report).collect()
}
