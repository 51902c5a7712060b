//! One call for many items: `batch(x, max = 500, within = "200ms")`.
//!
//! Items that reach the node gather in a *company*. It is complete when it has `max` items,
//! when its first item has waited `within`, or when all items of the pipeline wait for
//! company and no more come; then the node is called once with all of them, and each item
//! takes its answer.
//!
//! Nobody is spawned for that. The call belongs to the company, and one of its items, the
//! *leader*, polls it; the others wait. An item that is cancelled leaves: before the call
//! its value is not part of it, after that its answer is dropped. If it was the leader,
//! another item is woken to lead, and polls with its own waker. When the last item leaves,
//! the call goes with it. So a call lives as long as somebody wants an answer.
//!
//! | phase | what the leader does |
//! |---|---|
//! | `Gathering` | sleeps until `within` has passed |
//! | `Complete` | makes the call |
//! | `Calling` | polls the call |
//! | `Over` | nothing: the answers are there |
//!
//! Timers, calls, values and wakers are foreign code: they are polled and dropped outside
//! of the locks. The lock of the gate, for the company that gathers, is taken before that
//! of a company.
//!
//! [`company`] has what the items of a company share, [`member`] what each of them does, and
//! [`call`] how an item becomes one of them.

mod call;
mod company;
mod member;

use std::sync::OnceLock;
use std::time::Duration;

use ws_core::sync::Mutex;

use self::company::{AnyCompanies, Companies};

/// The gate of a node with a batch. Its types are known when the first item comes.
pub(super) struct BatchGate {
    max: usize,
    within: Duration,
    companies: OnceLock<Box<dyn AnyCompanies>>,
}

impl BatchGate {
    pub(super) fn new(max: usize, within: Duration) -> Self {
        assert!(max > 0, "a batch of 0 takes nobody");
        Self {
            max,
            within,
            companies: OnceLock::new(),
        }
    }

    /// How many items wait for company.
    pub(super) fn gathering(&self) -> usize {
        self.companies
            .get()
            .map_or(0, |companies| companies.gathering())
    }

    /// Whoever waits for company goes on without.
    pub(super) fn flush(&self) {
        if let Some(companies) = self.companies.get() {
            companies.flush();
        }
    }

    fn companies<In, Out, C>(&self) -> &Companies<In, Out, C>
    where
        In: Send + 'static,
        Out: Send + 'static,
        C: Send + Sync + 'static,
    {
        self.companies
            .get_or_init(|| Box::new(Companies::<In, Out, C>(Mutex::new(None))))
            .as_any()
            .downcast_ref()
            .expect("a node has one type")
    }
}
