//! One call for many items: `batch(x, max = 500, within = "200ms")`.
//!
//! Items that reach the node gather in a batch (`Company` in the code). The batch is complete
//! when it has `max` items, when its first item has waited for `within`, or when all items of
//! the pipeline wait and no more come. Then the node is called once with all of them, and each
//! item takes its answer.
//!
//! No task is spawned for this. The call belongs to the batch, and one of its items, the
//! *leader*, polls it; the others wait. A cancelled item leaves the batch: before the call its
//! value is not part of it, after that its answer is dropped. If the leader leaves, another
//! item is woken, becomes the leader, and polls with its own waker. The last item that leaves
//! drops the call. So a call lives as long as an item waits for its answer.
//!
//! | phase | what the leader does |
//! |---|---|
//! | `Gathering` | sleeps until `within` has passed |
//! | `Complete` | makes the call |
//! | `Calling` | polls the call |
//! | `Over` | nothing: the answers are there |
//!
//! Timers, calls, values and wakers are foreign code: they are polled and dropped outside the
//! locks. The lock of the gate protects the batch that gathers. It is taken before the lock of
//! a batch.
//!
//! [`company`] has what the items of a batch share, [`member`] what each of them does, and
//! [`call`] how an item joins.

mod call;
mod company;
mod member;

use std::sync::OnceLock;
use std::time::Duration;

use ws_core::sync::Mutex;

use self::company::{AnyCompanies, Companies};

/// The gate of a node with a batch. The first item determines its types.
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

    /// The number of items in the batch that gathers.
    pub(super) fn gathering(&self) -> usize {
        self.companies
            .get()
            .map_or(0, |companies| companies.gathering())
    }

    /// Completes the batch that gathers, as it is.
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
