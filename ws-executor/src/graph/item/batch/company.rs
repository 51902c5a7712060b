//! What the items of a batch share.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Waker;

use ws_core::sync::Mutex;

use crate::base::panics::ignore_panic;
use crate::graph::{Sleep, lock};

/// The batches of a node, for any types of its values.
pub(super) trait AnyCompanies: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn gathering(&self) -> usize;
    fn flush(&self);
}

/// The batch that gathers items, if there is one.
pub(super) struct Companies<In, Out, C>(pub(super) Mutex<Option<Arc<Company<In, Out, C>>>>);

/// A batch: items that share one call.
pub(super) struct Company<In, Out, C>(pub(super) Mutex<CompanyState<In, Out, C>>);

/// A call under way.
pub(super) type BatchCall<Out, C> = Pin<Box<dyn Future<Output = Result<Vec<Out>, C>> + Send>>;

/// The state of a batch. A *seat* is the index of an item in it.
pub(super) struct CompanyState<In, Out, C> {
    pub(super) phase: CompanyPhase<Out, C>,
    /// By seat; `None` if the item has left, or its value is in the call.
    pub(super) values: Vec<Option<In>>,
    /// By seat: the wakers of items that wait.
    pub(super) wakers: Vec<Option<Waker>>,
    /// The number of items that have not left.
    pub(super) present: usize,
    /// The seat of the leader. If it is `None`, the next item that is polled becomes the
    /// leader.
    pub(super) leader: Option<usize>,
}

/// The phase of a batch; see the table in the [module docs](super).
pub(super) enum CompanyPhase<Out, C> {
    /// The sleep is absent before it begins, and while it is polled.
    Gathering(Option<Sleep>),
    Complete,
    /// The call is absent while it is polled; then the seats of its items, in order.
    Calling(Option<BatchCall<Out, C>>, Vec<usize>),
    Over(Over<Out, C>),
}

/// The outcome of the call.
pub(super) enum Over<Out, C> {
    /// By seat.
    Answers(Vec<Option<Out>>),
    Failed(Arc<C>),
    Panicked(Arc<str>),
}

impl<In, Out, C> AnyCompanies for Companies<In, Out, C>
where
    In: Send + 'static,
    Out: Send + 'static,
    C: Send + Sync + 'static,
{
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn gathering(&self) -> usize {
        let open = lock(&self.0);
        open.as_ref().map_or(0, |company| lock(&company.0).present)
    }

    fn flush(&self) {
        let mut open = lock(&self.0);
        let Some(company) = open.take() else { return };
        let mut state = lock(&company.0);
        let sleep = state.complete();
        let waker = state.wake_leader();
        drop((state, open));
        drop(sleep);
        if let Some(waker) = waker {
            ignore_panic(|| waker.wake());
        }
    }
}

impl<In, Out, C> CompanyState<In, Out, C> {
    /// Ends the gathering.
    #[must_use]
    pub(super) fn complete(&mut self) -> Option<Sleep> {
        match std::mem::replace(&mut self.phase, CompanyPhase::Complete) {
            CompanyPhase::Gathering(sleep) => sleep,
            CompanyPhase::Complete | CompanyPhase::Calling(..) | CompanyPhase::Over(_) => {
                unreachable!("only what gathers becomes complete")
            }
        }
    }

    /// Returns the waker of the leader. Without a leader, makes an item that waits the leader.
    #[must_use]
    pub(super) fn wake_leader(&mut self) -> Option<Waker> {
        if let Some(waker) = self.leader.and_then(|seat| self.wakers[seat].take()) {
            return Some(waker);
        }
        // A leader without a waker is being polled, and reads the phase again before it waits.
        if self.leader.is_none() {
            self.leader = self.wakers.iter().position(Option::is_some);
            return self.leader.and_then(|seat| self.wakers[seat].take());
        }
        None
    }
}
