//! One structure under one scheduler: programs, histories, verdicts.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::history::History;
use super::jobs::Job;
use super::program::Program;
use super::subject::Subject;

/// How many schedules each program gets. The schedulers learn from the first
/// schedules how long a program is, so one each would be too few; what one
/// program can show is soon exhausted, so many would be a waste. Not measured.
const SCHEDULES_PER_PROGRAM: usize = 25;

/// What came of it.
pub(crate) struct Report {
    /// How many histories were checked, the rejected one included.
    pub(crate) histories: usize,
    pub(crate) elapsed: Duration,
    /// How often each kind of outcome was seen.
    pub(crate) seen: BTreeMap<String, u64>,
    pub(crate) verdict: Verdict,
}

/// What is known after the histories.
pub(crate) enum Verdict {
    /// All of them are allowed.
    Holds,
    /// One of them is not.
    Rejected(String),
    /// A thread panicked.
    Panicked(String),
}

impl Job<Subject> {
    /// Runs programs until there are enough histories, or one is rejected.
    pub(crate) fn run(&self) -> Report {
        let start = Instant::now();
        let mut report = Report {
            histories: 0,
            elapsed: Duration::ZERO,
            seen: BTreeMap::new(),
            verdict: Verdict::Holds,
        };
        let mut seed = self
            .name()
            .bytes()
            .fold(self.seed, |seed, byte| mixed(seed ^ u64::from(byte)));
        while report.histories < self.runs && matches!(report.verdict, Verdict::Holds) {
            seed = mixed(seed);
            self.run_program(seed, &mut report);
        }
        report.elapsed = start.elapsed();
        report
    }

    fn run_program(&self, seed: u64, report: &mut Report) {
        let program = Arc::new(self.subject.program(seed));
        let histories = Arc::new(Mutex::new(Vec::new()));
        let (subject, running, recorded) =
            (self.subject, Arc::clone(&program), Arc::clone(&histories));
        let schedules = SCHEDULES_PER_PROGRAM.min(self.runs - report.histories);
        let ended = self.strategy.run(seed, schedules, move || {
            let history = subject.run(&running);
            recorded
                .lock()
                .expect("no one panics with the lock")
                .push(history);
        });
        let histories = mem::take(&mut *histories.lock().expect("no one panics with the lock"));
        for history in &histories {
            report.histories += 1;
            for record in history.threads.iter().flatten() {
                *report.seen.entry(record.label()).or_default() += 1;
            }
            if !(self.subject.allows)(program.shape, history) {
                report.verdict = Verdict::Rejected(rejection(&program, history));
                return;
            }
        }
        if let Err(message) = ended {
            report.histories += 1;
            let text = format!("  {program:?}\n  panicked: {message}");
            report.verdict = Verdict::Panicked(text);
        }
    }
}

fn rejection(program: &Program, history: &History) -> String {
    format!(
        "  {:?}; no order of these calls is allowed:\n{history}",
        program.shape
    )
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014) after one step:
/// neighbouring seeds give unrelated programs.
fn mixed(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
