//! The search for an order of the calls that the specification allows.
//!
//! A history is *linearizable* (Herlihy and Wing, *Linearizability: a
//! correctness condition for concurrent objects*, 1990) if every call can be
//! given one moment between its invocation and its return such that the calls,
//! done one after the other at these moments, would have had these outcomes. The
//! search is that of Wing and Gong (*Testing and verifying concurrent objects*,
//! 1993): take any call that no other call must precede, apply it to the state,
//! go on with the rest, come back if that fails. States seen before with the same
//! calls left are not searched again (Lowe, *Testing for linearizability*, 2017).
//!
//! One departure: a call is one or more *steps*, each with a moment of its own,
//! in order. What a call does to the contents is in one of them. The others say
//! what else the structure promises about the call as a whole: that a thief
//! which was turned away had a rival while it tried, or for how long the slots of
//! a stolen batch stay occupied. A batch that is documented as item by item has a
//! step for each.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

use super::history::{History, Record};
use super::program::{MAX_THREADS, Shape};

/// What a structure promises, as a machine that takes one step at a time.
pub(crate) trait Specification {
    /// A part of a call that happens at one moment.
    type Step: Debug;
    /// The contents, and what the steps of unfinished calls remember.
    type State: Clone + Eq + Hash;

    /// The state of a structure without items.
    fn initial(shape: Shape) -> Self::State;

    /// The steps of a call that had this outcome; `alone` if no other thread
    /// was calling meanwhile.
    fn steps(record: &Record, alone: bool) -> Vec<Self::Step>;

    /// Takes a step of `thread`; says whether it is allowed in this state.
    fn apply(state: &mut Self::State, thread: usize, step: &Self::Step) -> bool;
}

/// Whether there is an order of the steps that `S` allows.
pub(crate) fn is_linearizable<S: Specification>(shape: Shape, history: &History) -> bool {
    let mut threads: [Vec<Timed<S::Step>>; MAX_THREADS] = Default::default();
    for (thread, records) in history.threads.iter().enumerate() {
        for record in records {
            let steps = S::steps(record, history.is_alone(thread, record));
            let times = (record.invoked, record.returned);
            threads[thread].extend(steps.into_iter().map(|step| Timed { step, times }));
        }
    }
    let mut search = Search::<S> {
        threads: &threads,
        seen: HashSet::new(),
    };
    search.finds_order(S::initial(shape), [0; MAX_THREADS])
}

/// A step with the invocation and the return of its call.
struct Timed<Step> {
    step: Step,
    times: (u32, u32),
}

/// How many steps of each thread are done.
type Done = [usize; MAX_THREADS];

struct Search<'a, S: Specification> {
    threads: &'a [Vec<Timed<S::Step>>; MAX_THREADS],
    seen: HashSet<(Done, S::State)>,
}

impl<S: Specification> Search<'_, S> {
    /// Whether the steps that are not done have an order that is allowed.
    fn finds_order(&mut self, state: S::State, done: Done) -> bool {
        let next = |thread: usize| self.threads[thread].get(done[thread]);
        let pending = (0..MAX_THREADS).filter_map(next);
        // A call that was invoked after another one had returned must wait.
        let Some(deadline) = pending.map(|timed| timed.times.1).min() else {
            return true;
        };
        let threads = self.threads;
        for thread in 0..MAX_THREADS {
            let Some(timed) = threads[thread].get(done[thread]) else {
                continue;
            };
            if timed.times.0 > deadline {
                continue;
            }
            let mut state = state.clone();
            if !S::apply(&mut state, thread, &timed.step) {
                continue;
            }
            let mut done = done;
            done[thread] += 1;
            if self.seen.insert((done, state.clone())) && self.finds_order(state, done) {
                return true;
            }
        }
        false
    }
}
