//! The Chase-Lev deque against a `VecDeque`, whatever is called in whatever order.
//!
//! Three deques steal from each other and from themselves; they start with few
//! slots, so that they grow in every position, and their halves are cloned and
//! dropped in any order.

use ws_core::chase_lev;

use super::{Choices, Item, Ledger, Padding, stolen};

/// Does what `data` says and compares.
///
/// # Panics
///
/// If the two differ.
pub fn check(data: &[u8]) {
    let mut choices = Choices::new(data);
    match choices.below(4) {
        0 => run::<()>(choices),
        1 => run::<u8>(choices),
        2 => run::<[u8; 3]>(choices),
        _ => run::<[u64; 5]>(choices),
    }
}

type Halves<P> = super::Halves<chase_lev::Owner<Item<P>>, chase_lev::Stealer<Item<P>>>;

/// A deque and its oracle.
struct Deque<P> {
    halves: Halves<P>,
    /// The most items it has held, or the slots it began with.
    peak: usize,
}

fn run<P: Padding>(mut choices: Choices<'_>) {
    let ledger = Ledger::default();
    let mut deques: [Deque<P>; 3] = std::array::from_fn(|_| Deque::new(&mut choices));
    while let Some(operation) = choices.next_byte() {
        let (at, operation) = (operation as usize % 3, operation as usize / 3);
        let other = choices.below(3);
        match operation % 12 {
            0 => deques[at].push(&ledger, 1),
            1 => deques[at].push(&ledger, choices.below(20)),
            2 | 3 => deques[at].pop(),
            4 => deques[at].steal(),
            5 | 6 => steal_into(&mut deques, at, other, None),
            7 => steal_into(&mut deques, at, other, Some(choices.below(8))),
            8 => deques[at]
                .halves
                .one_more_stealer(chase_lev::Owner::stealer),
            9 => deques[at].halves.drop_stealer(&ledger),
            // Rarely, because not much happens without an owner.
            10 if other == 0 => deques[at].halves.drop_owner(&ledger),
            _ if deques[at].halves.is_gone() => deques[at] = Deque::new(&mut choices),
            _ => {}
        }
        deques.iter().for_each(Deque::check);
    }
    let left: usize = deques.iter().map(|deque| deque.halves.oracle.len()).sum();
    assert_eq!(ledger.alive(), left, "an item is lost");
    drop(deques);
    assert_eq!(ledger.alive(), 0, "an item is not dropped");
}

impl<P: Padding> Deque<P> {
    fn new(choices: &mut Choices<'_>) -> Self {
        // Indices of both signs, and such as do not fit 32 bits.
        let start = [0, -3, i64::from(u32::MAX) - 1, i64::from(i32::MAX) - 1][choices.below(4)];
        let capacity = 1 + choices.below(8);
        Self {
            halves: Halves::new(chase_lev::starting_at(start, capacity)),
            peak: capacity,
        }
    }

    fn push(&mut self, ledger: &Ledger, count: usize) {
        let Some(owner) = &self.halves.owner else {
            return;
        };
        for _ in 0..count {
            let item = ledger.item();
            self.halves.oracle.push_back(item.id);
            owner.push(item);
        }
        self.peak = self.peak.max(self.halves.oracle.len());
    }

    fn pop(&mut self) {
        let Some(owner) = &self.halves.owner else {
            return;
        };
        let item = owner.pop().map(|item| item.checked());
        assert_eq!(item, self.halves.oracle.pop_back());
    }

    fn steal(&mut self) {
        let Some(stealer) = self.halves.stealers.first() else {
            return;
        };
        assert_eq!(stolen(stealer.steal()), self.halves.oracle.pop_front());
    }

    fn check(&self) {
        let seen = (self.halves.oracle.len(), self.halves.oracle.is_empty());
        if let Some(owner) = &self.halves.owner {
            assert_eq!((owner.len(), owner.is_empty()), seen);
            // It grows when it must, and not before.
            assert_eq!(owner.capacity(), self.peak.next_power_of_two());
        }
        for stealer in &self.halves.stealers {
            assert_eq!((stealer.len(), stealer.is_empty()), seen);
        }
    }
}

/// Steals half of `deques[from]` into `deques[to]`, which may be the same.
fn steal_into<P: Padding>(
    deques: &mut [Deque<P>; 3],
    from: usize,
    to: usize,
    limit: Option<usize>,
) {
    let (Some(stealer), Some(thief)) = (
        deques[from].halves.stealers.last(),
        &deques[to].halves.owner,
    ) else {
        return;
    };
    let first = match limit {
        None => stealer.steal_into(thief),
        Some(limit) => stealer.steal_into_limited(thief, limit),
    };
    let half = deques[from].halves.oracle.len().div_ceil(2);
    let count = half.min(limit.unwrap_or(usize::MAX).max(1));
    let mut items = deques[from].halves.oracle.drain(..count);
    assert_eq!(stolen(first), items.next());
    let rest: Vec<u32> = items.collect();
    let target = &mut deques[to];
    target.halves.oracle.extend(rest);
    target.peak = target.peak.max(target.halves.oracle.len());
}
