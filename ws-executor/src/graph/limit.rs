//! Limits: how many runs may be in a node at once, and values that one node at a time changes.
//!
//! A [`Limit`] is a fair semaphore: waiters get permits in the order of their arrival. A permit
//! that is given back goes directly to the first waiter, so a later `acquire` cannot take it.
//! An [`Exclusive`] is a value behind a limit of one: the holder of the permit takes the value
//! out and puts it back.

use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use ws_core::sync::Mutex;

use super::lock;
use crate::base::panics::ignore_panic;

/// A fair semaphore.
pub struct Limit {
    queue: Mutex<LimitQueue>,
}

struct LimitQueue {
    free: usize,
    /// The waiters, by ascending number.
    waiting: VecDeque<(u64, Waker)>,
    /// The numbers of waiters that have a permit and were not polled since.
    granted: Vec<u64>,
    next: u64,
}

impl LimitQueue {
    /// The index of a waiter in the queue. Numbers ascend, so a binary search finds it: if many
    /// waiters are cancelled together, each search is short.
    fn position(&self, number: u64) -> Option<usize> {
        let search = self
            .waiting
            .binary_search_by_key(&number, |&(other, _)| other);
        search.ok()
    }
}

impl Limit {
    /// Makes a semaphore with this number of permits.
    ///
    /// # Panics
    /// If `permits` is 0.
    pub fn new(permits: usize) -> Self {
        assert!(permits > 0, "a limit of 0 lets nobody in");
        Self {
            queue: Mutex::new(LimitQueue {
                free: permits,
                waiting: VecDeque::new(),
                granted: Vec::new(),
                next: 0,
            }),
        }
    }

    /// Waits for a permit.
    pub fn acquire(&self) -> Acquire<'_> {
        Acquire {
            limit: self,
            number: None,
        }
    }

    /// Takes a free permit, if there is one. While a future waits, none is free.
    fn try_acquire(&self) -> bool {
        let mut queue = lock(&self.queue);
        let free = queue.free > 0;
        queue.free -= usize::from(free);
        free
    }

    /// Gives a permit to the first waiter, or makes it free if there is none.
    pub(in crate::graph) fn release(&self) {
        let mut queue = lock(&self.queue);
        let first = queue.waiting.pop_front();
        match &first {
            Some((number, _)) => queue.granted.push(*number),
            None => queue.free += 1,
        }
        drop(queue);
        if let Some((_, waker)) = first {
            ignore_panic(|| waker.wake()); // Foreign code: not under the lock.
        }
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = lock(&self.queue);
        write!(
            f,
            "Limit({} free, {} waiting)",
            queue.free,
            queue.waiting.len()
        )
    }
}

/// The future of [`Limit::acquire`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct Acquire<'a> {
    limit: &'a Limit,
    /// Its number, while it is in the queue.
    number: Option<u64>,
}

impl<'a> Future for Acquire<'a> {
    type Output = Permit<'a>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit<'a>> {
        let limit = self.limit;
        if self.number.is_none() && limit.try_acquire() {
            return Poll::Ready(Permit { limit });
        }
        let waker = cx.waker().clone(); // Foreign code: not under the lock.
        let mut queue = lock(&limit.queue);
        let old = match self.number {
            None if queue.free > 0 => {
                queue.free -= 1;
                drop(queue);
                return Poll::Ready(Permit { limit });
            }
            None => {
                let number = queue.next;
                queue.next += 1;
                queue.waiting.push_back((number, waker));
                self.number = Some(number);
                None
            }
            Some(number) => {
                if let Some(at) = queue.granted.iter().position(|&granted| granted == number) {
                    queue.granted.swap_remove(at);
                    drop(queue);
                    self.number = None;
                    return Poll::Ready(Permit { limit });
                }
                let own = queue.position(number);
                own.map(|at| std::mem::replace(&mut queue.waiting[at].1, waker))
            }
        };
        drop(queue);
        drop(old);
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut queue = lock(&self.limit.queue);
        if let Some(at) = queue.granted.iter().position(|&granted| granted == number) {
            // This waiter has a permit already: the next waiter gets it.
            queue.granted.swap_remove(at);
            drop(queue);
            self.limit.release();
        } else {
            let at = queue.position(number);
            let own = at.and_then(|at| queue.waiting.remove(at));
            drop(queue);
            drop(own);
        }
    }
}

/// A permit of a [`Limit`]. Dropping it gives it to the next waiter.
#[derive(Debug)]
pub struct Permit<'a> {
    limit: &'a Limit,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.limit.release();
    }
}

/// A value that one node at a time changes. A parallel run takes it for an input
/// `#[shared(exclusive)] db: &mut Db`.
///
/// Clones share the value, so several runs can use it.
///
/// ```
/// use ws_executor::graph::Exclusive;
/// use ws_executor::task_graph;
///
/// #[task_graph]
/// async fn log(#[shared(exclusive)] lines: &mut Vec<String>, line: String) -> usize {
///     let before = lines.len();
///     let _pushed = lines.push(line);
///     before
/// }
///
/// let executor = ws_executor::Executor::new();
/// let lines = Exclusive::new(Vec::new());
/// executor.block_on(async {
///     log::on(&executor.handle()).run(lines.clone(), "one".into()).await;
///     let before = log::on(&executor.handle()).run(lines.clone(), "two".into()).await;
///     assert_eq!(before, 1);
/// });
/// assert_eq!(lines.try_into_inner().unwrap(), ["one", "two"]);
/// ```
pub struct Exclusive<T>(Arc<ExclusiveShared<T>>);

struct ExclusiveShared<T> {
    turn: Limit,
    /// `None` while a [`Locked`] has it.
    value: Mutex<Option<T>>,
}

impl<T> Exclusive<T> {
    /// Wraps a value; see the example at [`Exclusive`].
    pub fn new(value: T) -> Self {
        Self(Arc::new(ExclusiveShared {
            turn: Limit::new(1),
            value: Mutex::new(Some(value)),
        }))
    }

    /// Returns the value, if this is the last clone.
    ///
    /// See the example at [`Exclusive`].
    ///
    /// # Errors
    /// Returns `self` if there are other clones.
    pub fn try_into_inner(self) -> Result<T, Self> {
        let shared = Arc::try_unwrap(self.0).map_err(Self)?;
        let value = lock(&shared.value).take();
        Ok(value.expect("whoever had it had a clone"))
    }

    /// Waits until the value is free, and locks it.
    ///
    /// ```
    /// let count = ws_executor::graph::Exclusive::new(1);
    /// ws_executor::block_on(async {
    ///     *count.lock().await += 1;
    ///     assert_eq!(*count.lock().await, 2);
    /// });
    /// ```
    pub async fn lock(&self) -> Locked<'_, T> {
        enter(self, self.0.turn.acquire().await)
    }
}

/// The limit in front of a value.
pub fn turn<T>(exclusive: &Exclusive<T>) -> &Limit {
    &exclusive.0.turn
}

/// Acquires several limits in the order of their addresses. All runs use the same order, so two
/// runs cannot deadlock.
///
/// # Panics
/// If two of the limits are the same: the second `acquire` would wait for ever.
pub async fn turns<'a, const N: usize>(turns: [&'a Limit; N]) -> [Permit<'a>; N] {
    let mut order: [usize; N] = std::array::from_fn(|index| index);
    order.sort_unstable_by_key(|&index| std::ptr::from_ref(turns[index]).addr());
    let same = |pair: &[usize]| std::ptr::eq(turns[pair[0]], turns[pair[1]]);
    assert!(
        !order.windows(2).any(same),
        "a node would wait for itself: two of its inputs are the same `Exclusive`"
    );
    let mut permits = [const { None }; N];
    for index in order {
        permits[index] = Some(turns[index].acquire().await);
    }
    permits.map(|permit| permit.expect("each was waited for"))
}

/// Takes the value, for the holder of the permit of its limit.
///
/// # Panics
/// If the permit is of another limit.
pub fn enter<'a, T>(exclusive: &'a Exclusive<T>, permit: Permit<'a>) -> Locked<'a, T> {
    let shared = &*exclusive.0;
    assert!(
        std::ptr::eq(permit.limit, &shared.turn),
        "the turn of another value"
    );
    let value = lock(&shared.value).take();
    Locked {
        value,
        shared,
        _permit: permit,
    }
}

impl<T> Clone for Exclusive<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Exclusive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusive")
            .field("turn", &self.0.turn)
            .finish_non_exhaustive()
    }
}

/// The locked value of an [`Exclusive`], until this is dropped; see [`Exclusive::lock`].
pub struct Locked<'a, T> {
    value: Option<T>,
    shared: &'a ExclusiveShared<T>,
    /// Dropped after the value was put back.
    _permit: Permit<'a>,
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("taken only when dropped")
    }
}

impl<T> DerefMut for Locked<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("taken only when dropped")
    }
}

impl<T> Drop for Locked<'_, T> {
    fn drop(&mut self) {
        *lock(&self.shared.value) = self.value.take();
    }
}

impl<T: fmt::Debug> fmt::Debug for Locked<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Limit;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn who_waits_first_is_first() {
        let limit = Limit::new(1);
        let Poll::Ready(permit) = poll(pin!(limit.acquire())) else {
            panic!("it is free")
        };
        let (mut second, mut third) = (pin!(limit.acquire()), Box::pin(limit.acquire()));
        assert!(poll(second.as_mut()).is_pending() && poll(third.as_mut()).is_pending());
        drop(permit);
        assert!(
            poll(pin!(limit.acquire())).is_pending(),
            "it belongs to the second"
        );
        let Poll::Ready(permit) = poll(second.as_mut()) else {
            panic!("its turn")
        };
        drop(permit);
        drop(third); // It had the permit, and gives it up.
        assert!(poll(pin!(limit.acquire())).is_ready());
    }
}
