//! Histories: what was called when, and what came back.

use std::fmt;

use super::program::{Call, Item};

/// What came back from a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The push went in.
    Done,
    /// So many items of a batch went in, and the rest came back.
    Pushed(u32),
    /// The item came back: there was no room.
    Full,
    /// Items were handed to the owner by its own push, oldest first: a ring's
    /// overflow, or what a push into a slot evicted.
    Shed(Vec<Item>),
    /// Items were taken, oldest first.
    Took(Vec<Item>),
    /// There was nothing.
    Empty,
    /// Another thread was in the way.
    Retry,
    /// The answer to a look at the length.
    Count(usize),
    /// The answer to a look at whether there is anything.
    Answer(bool),
}

/// A call with its outcome. Times are those of one clock that ticks at every
/// invocation and every return.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) call: Call,
    pub(crate) outcome: Outcome,
    pub(crate) invoked: u32,
    pub(crate) returned: u32,
}

impl Record {
    /// Whether neither call was over when the other one began.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.invoked < other.returned && other.invoked < self.returned
    }

    /// The kind of call and the kind of outcome, for counting.
    pub(crate) fn label(&self) -> String {
        let call = match self.call {
            Call::Push(_) => "push",
            Call::PushOrOverflow(_) => "push or overflow",
            Call::PushBatch(..) => "push batch",
            Call::Pop => "pop",
            Call::Steal => "steal",
            Call::StealHalf { .. } => "steal half",
            Call::IsEmpty => "is_empty",
            Call::Len => "len",
            Call::SpareCapacity => "spare_capacity",
        };
        let outcome = match &self.outcome {
            Outcome::Done => "done",
            Outcome::Pushed(_) => "pushed",
            Outcome::Full => "full",
            Outcome::Shed(items) if items.len() > 1 => "shed several",
            Outcome::Shed(_) => "shed one",
            Outcome::Took(items) if items.len() > 1 => "took several",
            Outcome::Took(_) => "took one",
            Outcome::Empty => "empty",
            Outcome::Retry => "retry",
            Outcome::Count(_) | Outcome::Answer(_) => "answered",
        };
        format!("{call}: {outcome}")
    }
}

/// The owner's number among the threads.
pub(crate) const OWNER: usize = 0;

/// The records of every thread, in the thread's order; [`OWNER`] comes first.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) threads: Vec<Vec<Record>>,
}

impl History {
    /// Whether `record`, of `thread`, overlaps no call of another thread.
    pub(crate) fn is_alone(&self, thread: usize, record: &Record) -> bool {
        let others = self
            .threads
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != thread);
        !others
            .flat_map(|(_, records)| records)
            .any(|other| other.overlaps(record))
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: Vec<(usize, &Record)> = Vec::new();
        for (thread, records) in self.threads.iter().enumerate() {
            rows.extend(records.iter().map(|record| (thread, record)));
        }
        rows.sort_by_key(|(_, record)| record.invoked);
        for (thread, record) in rows {
            let name = if thread == OWNER {
                "owner".to_owned()
            } else {
                format!("thief {thread}")
            };
            writeln!(
                f,
                "    {name:<8} {:>3}..{:<3} {:?} -> {:?}",
                record.invoked, record.returned, record.call, record.outcome
            )?;
        }
        Ok(())
    }
}
