//! Subjects: structures to run programs on, right ones and planted wrong ones.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use ws_core::FastRand;
use ws_core::sync::atomic::{AtomicBool, Ordering};
use ws_core::sync::thread;

use super::checker::{self, Specification};
use super::history::{History, Outcome, Record};
use super::jobs;
use super::program::{Call, Item, Program, Shape, Usage};

/// One half of a structure, as one thread uses it.
pub(crate) trait Half: Send {
    /// Makes ready for the call, before its time begins.
    fn prepare(&mut self, _call: Call) {}

    /// Makes the call.
    fn call(&mut self, call: Call) -> Outcome;

    /// Fetches what the call put elsewhere, after its time has ended: the items
    /// of a stolen batch but the first, oldest first.
    fn fetch(&mut self) -> Vec<Item> {
        Vec::new()
    }
}

/// The halves of a structure: the owner's, and one for each thief.
pub(crate) type Halves = (Box<dyn Half>, Vec<Box<dyn Half>>);

/// A structure, with its use and its specification.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    /// What is special about it.
    pub(crate) about: &'static str,
    pub(crate) usage: &'static Usage,
    /// Makes an empty structure with so many thieves.
    pub(crate) halves: fn(Shape, usize) -> Halves,
    /// Whether a history is allowed.
    pub(crate) allows: fn(Shape, &History) -> bool,
    /// What has to happen now and then, or the programs are too tame; see
    /// [`Record::label`].
    pub(crate) must_see: &'static [&'static str],
}

impl jobs::Subject for Subject {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }
}

/// The specification `S` as a function.
pub(crate) fn allowed_by<S: Specification>(shape: Shape, history: &History) -> bool {
    checker::is_linearizable::<S>(shape, history)
}

impl Subject {
    /// Draws a program for this structure.
    pub(crate) fn program(&self, seed: u64) -> Program {
        self.usage.program(&mut FastRand::new(seed))
    }

    /// Runs `program` once, under the scheduler that called us. The owner takes
    /// out everything that is left in the end, so that a lost item shows.
    pub(crate) fn run(&self, program: &Program) -> History {
        let clock = Arc::new(AtomicU32::new(0));
        let (owner, thieves) = (self.halves)(program.shape, program.thieves.len());
        let mut owner = Recorder::new(owner, &clock);
        owner.calls(&program.before);

        let mut threads = Vec::new();
        for (half, calls) in thieves.into_iter().zip(&program.thieves) {
            let mut thief = Recorder::new(half, &clock);
            let calls = calls.clone();
            threads.push(thread::spawn(move || {
                switch();
                thief.calls(&calls);
                thief.records
            }));
        }
        switch();
        owner.calls(&program.owner);
        let stolen: Vec<Vec<Record>> = threads
            .into_iter()
            .map(|thread| thread.join().expect("a thief has panicked"))
            .collect();
        while owner.calls(&[Call::Pop]) != Outcome::Empty {}

        let mut threads = vec![owner.records];
        threads.extend(stolen);
        History { threads }
    }
}

/// Lets the scheduler choose: a call on an empty structure may touch no atomic at
/// all, and PCT refuses a program without any choice.
fn switch() {
    AtomicBool::new(false).load(Ordering::SeqCst);
}

/// A half that keeps records of its calls.
struct Recorder {
    half: Box<dyn Half>,
    /// No atomic of shuttle's: the record must not add moments to switch at.
    clock: Arc<AtomicU32>,
    records: Vec<Record>,
}

impl Recorder {
    fn new(half: Box<dyn Half>, clock: &Arc<AtomicU32>) -> Self {
        Self {
            half,
            clock: Arc::clone(clock),
            records: Vec::new(),
        }
    }

    /// Makes the calls, and returns the last outcome.
    fn calls(&mut self, calls: &[Call]) -> Outcome {
        let mut last = Outcome::Done;
        for &call in calls {
            self.half.prepare(call);
            let invoked = self.tick();
            let mut outcome = self.half.call(call);
            let returned = self.tick();
            if let Outcome::Took(items) = &mut outcome {
                items.extend(self.half.fetch());
            }
            last.clone_from(&outcome);
            self.records.push(Record {
                call,
                outcome,
                invoked,
                returned,
            });
        }
        last
    }

    fn tick(&self) -> u32 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }
}
