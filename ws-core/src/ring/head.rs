//! The packed head: two positions that move in one atomic step.

use core::fmt;

/// `[steal | real]`: where thieves have finished copying, and where the next
/// item is taken.
///
/// Both are positions of an endless sequence, cut to 32 bits. Only the difference
/// between two positions has a meaning. The slots in `steal..real` belong to the one
/// thief that claimed them, except the slots that the owner has popped meanwhile.
///
/// | transition | from | to | by |
/// |---|---|---|---|
/// | [`popped`](Head::popped) | `[r \| r]` | `[r+1 \| r+1]` | the owner |
/// | [`popped`](Head::popped) | `[s \| r]` | `[s \| r+1]` | the owner, while a thief copies |
/// | [`claimed`](Head::claimed) | `[r \| r]` | `[r \| r+n]` | a thief, or the owner for an overflow |
/// | [`finished`](Head::finished) | `[s \| r]` | `[r \| r]` | the thief that claimed |
/// | (a store of the old head) | `[r \| r+1]` | `[r \| r]` | the owner, at the end of an overflow |
#[derive(Clone, Copy, PartialEq, Eq)]
#[must_use = "a transition changes nothing by itself"]
pub(super) struct Head(u64);

impl Head {
    /// Both positions at `position`: no steal is under way.
    #[inline(always)]
    pub(super) const fn at(position: u32) -> Self {
        Self::pack(position, position)
    }

    #[inline(always)]
    const fn pack(steal: u32, real: u32) -> Self {
        Self(((steal as u64) << 32) | real as u64)
    }

    /// Reads a head out of its atomic.
    #[inline(always)]
    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The form that goes into the atomic.
    #[inline(always)]
    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    /// The oldest slot that the owner must not fill yet.
    #[inline(always)]
    pub(super) const fn steal(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The next item to take.
    #[inline(always)]
    pub(super) const fn real(self) -> u32 {
        self.0 as u32
    }

    /// Whether a thread holds claimed slots: a thief, or the owner in an overflow.
    #[inline(always)]
    pub(super) const fn is_claimed(self) -> bool {
        self.steal() != self.real()
    }

    /// The head after the owner has popped one item.
    #[inline(always)]
    pub(super) const fn popped(self) -> Self {
        let real = self.real().wrapping_add(1);
        if self.is_claimed() {
            Self::pack(self.steal(), real)
        } else {
            Self::at(real)
        }
    }

    /// The head after `count` items were claimed. They stay in their slots until
    /// [`finished`](Self::finished).
    #[inline(always)]
    pub(super) const fn claimed(self, count: u32) -> Self {
        Self::pack(self.steal(), self.real().wrapping_add(count))
    }

    /// The head after the claimed slots, and the slots that the owner popped meanwhile,
    /// were given back to the owner.
    #[inline(always)]
    pub(super) const fn finished(self) -> Self {
        Self::at(self.real())
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[steal {} | real {}]", self.steal(), self.real())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions_wrap() {
        let head = Head::at(u32::MAX);
        assert_eq!(head.popped(), Head::at(0));
        let claimed = head.claimed(2);
        assert_eq!((claimed.steal(), claimed.real()), (u32::MAX, 1));
        assert!(claimed.is_claimed());
        assert_eq!(claimed.popped().steal(), u32::MAX);
        assert_eq!(claimed.popped().finished(), Head::at(2));
    }

    #[test]
    fn debug_decodes() {
        let text = alloc::format!("{:?}", Head::at(3).claimed(2));
        assert_eq!(text, "[steal 3 | real 5]");
    }
}
