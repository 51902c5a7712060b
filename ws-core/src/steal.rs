//! The outcome of an attempt to steal: an enum of three.

/// The outcome of an attempt to steal.
///
/// `Retry` is an outcome of its own: a worker that confuses "another thread was
/// faster" with "the queue is empty" may park although there is work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a stolen item is lost when the result is ignored"]
pub enum Steal<T> {
    /// The queue was empty at one moment during the call.
    Empty,
    /// One item, which now belongs to the caller.
    Success(T),
    /// Another thread was in the way. The queue may hold items.
    Retry,
}

impl<T> Steal<T> {
    /// Returns the stolen item, if there is one.
    ///
    /// ```
    /// use ws_core::Steal;
    /// assert_eq!(Steal::Success(7).success(), Some(7));
    /// assert_eq!(Steal::<u8>::Retry.success(), None);
    /// ```
    #[must_use]
    pub fn success(self) -> Option<T> {
        match self {
            Steal::Success(item) => Some(item),
            Steal::Empty | Steal::Retry => None,
        }
    }

    /// Applies `change` to the stolen item, if there is one.
    ///
    /// ```
    /// use ws_core::Steal;
    /// assert_eq!(Steal::Success(7).map(|n| n + 1), Steal::Success(8));
    /// assert_eq!(Steal::<u8>::Retry.map(|n| n + 1), Steal::Retry);
    /// ```
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Steal<U> {
        match self {
            Steal::Success(item) => Steal::Success(change(item)),
            Steal::Empty => Steal::Empty,
            Steal::Retry => Steal::Retry,
        }
    }

    /// Returns whether the queue was seen empty.
    ///
    /// ```
    /// use ws_core::Steal;
    /// assert!(Steal::<u8>::Empty.is_empty());
    /// assert!(!Steal::<u8>::Retry.is_empty()); // it may hold items
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self, Steal::Empty)
    }

    /// Returns whether an item was stolen.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self, Steal::Success(_))
    }

    /// Returns whether another thread was in the way.
    #[must_use]
    pub const fn is_retry(&self) -> bool {
        matches!(self, Steal::Retry)
    }

    /// Tries `next` unless this attempt succeeded. A `Retry` is remembered.
    ///
    /// A chain over several victims is `Empty` only if every victim was empty:
    ///
    /// ```
    /// use ws_core::Steal;
    /// let none = Steal::<u8>::Empty;
    /// assert_eq!(none.or_else(|| Steal::Success(1)), Steal::Success(1));
    /// assert_eq!(none.or_else(|| Steal::Empty), Steal::Empty);
    /// assert_eq!(Steal::Retry.or_else(|| none), Steal::Retry);
    /// ```
    pub fn or_else(self, next: impl FnOnce() -> Self) -> Self {
        match self {
            Steal::Success(_) => self,
            Steal::Empty => next(),
            Steal::Retry => match next() {
                Steal::Empty => Steal::Retry,
                other => other,
            },
        }
    }
}

/// Tries one victim after the other until an attempt succeeds.
///
/// The iterator is not advanced after a success, so a lazy chain of attempts
/// steals once:
///
/// ```
/// use ws_core::{FastRand, Steal, chase_lev};
///
/// let (owners, stealers): (Vec<_>, Vec<_>) = (0..4).map(|_| chase_lev::new()).unzip();
/// owners.iter().for_each(|owner| owner.push("work"));
///
/// let victims = FastRand::new(1).victims(4, 0);
/// let found: Steal<_> = victims.map(|victim| stealers[victim].steal()).collect();
/// assert_eq!(found, Steal::Success("work"));
/// assert_eq!(owners.iter().filter(|owner| owner.is_empty()).count(), 1);
/// ```
impl<T> FromIterator<Steal<T>> for Steal<T> {
    fn from_iter<I: IntoIterator<Item = Steal<T>>>(attempts: I) -> Self {
        let mut outcome = Steal::Empty;
        for attempt in attempts {
            outcome = outcome.or_else(|| attempt);
            if outcome.is_success() {
                break;
            }
        }
        outcome
    }
}
