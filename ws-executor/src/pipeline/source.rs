//! Sources: items are pulled from them one by one, and acknowledged when they are done.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::failure::{BoxError, message};
use crate::base::panics::contain;

/// The source of a pipeline's items.
///
/// Every `Stream` is a source whose items need no acknowledgement. Implement this trait for
/// sources that can give an item again after a crash, such as a broker or a file. Items are
/// pulled only when there is room for them. An item is acknowledged only when the sink has taken
/// its results, when it was skipped, or when the sink of dead letters has it. Items that a
/// cancelled run cuts off are never acknowledged.
///
/// A pipeline calls these methods one at a time, from any of its lanes. A panic in one of them
/// counts as an error.
///
/// ```
/// use std::pin::Pin;
/// use std::sync::{Arc, Mutex};
/// use std::task::{Context, Poll};
/// use ws_executor::Executor;
/// use ws_executor::pipeline::{self, BoxError, Source};
///
/// /// Letters, each with its position.
/// struct Letters(u8, Arc<Mutex<Vec<u8>>>);
///
/// impl Source for Letters {
///     type Item = char;
///     type Ack = u8;
///
///     fn poll_pull(
///         mut self: Pin<&mut Self>,
///         _: &mut Context<'_>,
///     ) -> Poll<Option<Result<(char, u8), BoxError>>> {
///         let position = self.0;
///         self.0 += 1;
///         let letter = (position < 3).then(|| Ok((char::from(b'a' + position), position)));
///         Poll::Ready(letter)
///     }
///
///     fn acknowledge(self: Pin<&mut Self>, position: u8) -> Result<(), BoxError> {
///         self.1.lock().unwrap().push(position);
///         Ok(())
///     }
/// }
///
/// let executor = Executor::new();
/// let acknowledged = Arc::default();
/// let upper = pipeline::from_fn(&executor.handle(), |letter: char| async move {
///     Ok::<_, ()>(letter.to_ascii_uppercase())
/// });
/// let upper = upper.source(Letters(0, Arc::clone(&acknowledged))).in_flight(1).build().unwrap();
/// assert_eq!(executor.block_on(upper.run()).unwrap().done, 3);
/// assert_eq!(*acknowledged.lock().unwrap(), [0, 1, 2]);
/// ```
pub trait Source: Send + 'static {
    /// The type of the items.
    type Item: Send + 'static;
    /// The name by which an item is acknowledged: an offset, a delivery tag.
    type Ack: Send + 'static;

    /// Pulls the next item. `None` and an error both end the source: it is not polled again.
    ///
    /// See the example at [`Source`].
    ///
    /// # Errors
    /// Those of the source. The run finishes the items in flight, and then ends with the error.
    fn poll_pull(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PullResult<Self>>>;

    /// Acknowledges an item that is done, by its name.
    ///
    /// See the example at [`Source`]. Items are done in any order, unless the pipeline is
    /// ordered and drops none.
    ///
    /// # Errors
    /// Those of the source, with the same consequence as in [`poll_pull`](Self::poll_pull).
    fn acknowledge(self: Pin<&mut Self>, ack: Self::Ack) -> Result<(), BoxError> {
        drop(ack);
        Ok(())
    }

    /// Makes the acknowledgements durable. Called once, at the end of a run that was not
    /// cancelled.
    ///
    /// # Errors
    /// Those of the source.
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let _ = cx;
        Poll::Ready(Ok(()))
    }
}

/// An item of a source and the name under which it is acknowledged.
pub type PullResult<S> = Result<(<S as Source>::Item, <S as Source>::Ack), BoxError>;

impl<S> Source for S
where
    S: Stream + Send + 'static,
    S::Item: Send + 'static,
{
    type Item = S::Item;
    type Ack = ();

    fn poll_pull(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        self.poll_next(cx)
            .map(|next| next.map(|item| Ok((item, ()))))
    }
}

/// An iterator as a source.
pub(super) struct Iter<I>(pub(super) I);

impl<I> Source for Iter<I>
where
    I: Iterator + Send + Unpin + 'static,
    I::Item: Send + 'static,
{
    type Item = I::Item;
    type Ack = ();

    fn poll_pull(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<PullResult<Self>>> {
        Poll::Ready(self.0.next().map(|item| Ok((item, ()))))
    }
}

/// Why a pull ended.
pub(super) enum Pulled {
    /// As many items as there was room for were pulled.
    Full,
    /// The source has no items now, and more later.
    Pending,
    /// The source has ended.
    Ended,
    /// The source has ended, with this error.
    Failed(BoxError),
}

/// A source of any type. It numbers its items from 0, without gaps, in the order of the pulls.
pub(super) trait Feed<I>: Send {
    /// Pulls at most `room` items.
    fn pull(&mut self, cx: &mut Context<'_>, room: usize, into: &mut Vec<I>) -> Pulled;

    /// Acknowledges the items with these numbers; all of them, even after an error.
    fn acknowledge(&mut self, numbers: &[u64]) -> Result<(), BoxError>;

    /// [`Source::poll_close`].
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>>;
}

/// The queue of names may be this long even if it is mostly gaps. Not measured.
const SPARSE: usize = 1024;

/// The names of items in flight, by number.
///
/// Numbers have no gaps, so the names are in a queue; a name that was taken leaves a gap. An
/// item that takes much longer than later items would keep their gaps in the queue. Its name
/// moves to a map instead.
struct Names<A> {
    /// The number of the first name in the queue.
    first: u64,
    names: VecDeque<Option<A>>,
    /// The number of names in the queue that are not gaps.
    held: usize,
    aside: BTreeMap<u64, A>,
}

impl<A> Names<A> {
    fn new() -> Self {
        Self {
            first: 0,
            names: VecDeque::new(),
            held: 0,
            aside: BTreeMap::new(),
        }
    }

    fn add(&mut self, name: A) {
        self.names.push_back(Some(name));
        self.held += 1;
        while self.names.len() > SPARSE.max(2 * self.held) {
            if let Some(Some(name)) = self.names.pop_front() {
                self.aside.insert(self.first, name);
                self.held -= 1;
            }
            self.first += 1;
        }
    }

    fn take(&mut self, number: u64) -> Option<A> {
        let Some(index) = number.checked_sub(self.first) else {
            return self.aside.remove(&number);
        };
        let name = self.names.get_mut(usize::try_from(index).ok()?)?.take()?;
        self.held -= 1;
        while let Some(None) = self.names.front() {
            self.names.pop_front();
            self.first += 1;
        }
        Some(name)
    }
}

/// One source.
pub(super) struct Single<S: Source> {
    source: Pin<Box<S>>,
    names: Names<S::Ack>,
}

impl<S: Source> Single<S> {
    pub(super) fn new(source: S) -> Self {
        Self {
            source: Box::pin(source),
            names: Names::new(),
        }
    }
}

/// Calls a source or a sink; a panic in the call becomes an error.
pub(super) fn guarded<R>(call: impl FnOnce() -> R) -> Result<R, BoxError> {
    contain(call).map_err(|payload| format!("panicked: {}", message(payload)).into())
}

impl<S: Source> Feed<S::Item> for Single<S> {
    fn pull(&mut self, cx: &mut Context<'_>, room: usize, into: &mut Vec<S::Item>) -> Pulled {
        let Self { source, names } = self;
        let pulling = || {
            for _ in 0..room {
                match source.as_mut().poll_pull(cx) {
                    Poll::Ready(Some(Ok((item, name)))) => {
                        names.add(name);
                        into.push(item);
                    }
                    Poll::Ready(Some(Err(error))) => return Pulled::Failed(error),
                    Poll::Ready(None) => return Pulled::Ended,
                    Poll::Pending => return Pulled::Pending,
                }
            }
            Pulled::Full
        };
        guarded(pulling).unwrap_or_else(Pulled::Failed)
    }

    fn acknowledge(&mut self, numbers: &[u64]) -> Result<(), BoxError> {
        let mut outcome = Ok(());
        for &number in numbers {
            if let Some(name) = self.names.take(number) {
                let said = guarded(|| self.source.as_mut().acknowledge(name));
                outcome = outcome.and(said.and_then(|said| said));
            }
        }
        outcome
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match guarded(|| self.source.as_mut().poll_close(cx)) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

/// Several sources, which take turns.
pub(super) struct Merged<I> {
    feeds: Vec<MergedMember<I>>,
    /// The source of each item, and the item's number there.
    names: Names<(usize, u64)>,
    /// The index of the source that pulls next.
    turn: usize,
    /// The first error of closing the sources.
    unclosed: Option<BoxError>,
}

struct MergedMember<I> {
    feed: Box<dyn Feed<I>>,
    pulled: u64,
    state: MemberState,
}

#[derive(Clone, Copy, PartialEq)]
enum MemberState {
    Open,
    Ended,
    Closed,
}

impl<I> Merged<I> {
    pub(super) fn new(feeds: Vec<Box<dyn Feed<I>>>) -> Self {
        let member = |feed| MergedMember {
            feed,
            pulled: 0,
            state: MemberState::Open,
        };
        Self {
            feeds: feeds.into_iter().map(member).collect(),
            names: Names::new(),
            turn: 0,
            unclosed: None,
        }
    }
}

impl<I> Feed<I> for Merged<I> {
    /// Pulls an equal share from each source, and then more from those that have more.
    fn pull(&mut self, cx: &mut Context<'_>, room: usize, into: &mut Vec<I>) -> Pulled {
        let mut left = room;
        let share = room.div_ceil(self.feeds.len());
        let mut pending = vec![false; self.feeds.len()];
        loop {
            let open = |at: usize| self.feeds[at].state == MemberState::Open && !pending[at];
            let turns = (0..self.feeds.len()).map(|step| (self.turn + step) % self.feeds.len());
            let Some(at) = turns.into_iter().find(|&at| open(at)) else {
                let ended = |member: &MergedMember<I>| member.state != MemberState::Open;
                return if self.feeds.iter().all(ended) {
                    Pulled::Ended
                } else {
                    Pulled::Pending
                };
            };
            self.turn = (at + 1) % self.feeds.len();
            let before = into.len();
            let member = &mut self.feeds[at];
            let pulled = member.feed.pull(cx, share.min(left), into);
            for _ in before..into.len() {
                self.names.add((at, member.pulled));
                member.pulled += 1;
            }
            left -= into.len() - before;
            match pulled {
                Pulled::Full => {}
                Pulled::Pending => pending[at] = true,
                Pulled::Ended => member.state = MemberState::Ended,
                Pulled::Failed(error) => return Pulled::Failed(error),
            }
            if left == 0 {
                return Pulled::Full;
            }
        }
    }

    fn acknowledge(&mut self, numbers: &[u64]) -> Result<(), BoxError> {
        let mut outcome = Ok(());
        for &number in numbers {
            if let Some((at, number)) = self.names.take(number) {
                outcome = outcome.and(self.feeds[at].feed.acknowledge(&[number]));
            }
        }
        outcome
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        for member in &mut self.feeds {
            if member.state != MemberState::Closed {
                let Poll::Ready(outcome) = member.feed.poll_close(cx) else {
                    return Poll::Pending;
                };
                member.state = MemberState::Closed;
                self.unclosed = self.unclosed.take().or(outcome.err());
            }
        }
        Poll::Ready(self.unclosed.take().map_or(Ok(()), Err))
    }
}
