//! The ring against a `VecDeque`, whatever is called in whatever order.
//!
//! Three rings steal from each other and from themselves; their halves are
//! cloned and dropped in any order, and their positions start anywhere, also
//! shortly before they wrap.

use ws_core::ring;

use super::{Choices, Halves, Item, Ledger, Padding, stolen};

/// Does what `data` says and compares.
///
/// # Panics
///
/// If the two differ.
pub fn check(data: &[u8]) {
    let mut choices = Choices::new(data);
    match choices.below(6) {
        0 => run::<(), 4>(choices),
        1 => run::<[u64; 5], 4>(choices),
        2 => run::<(), 8>(choices),
        3 => run::<u8, 8>(choices),
        4 => run::<(), 256>(choices),
        _ => run::<[u64; 5], 256>(choices),
    }
}

/// A ring and its oracle.
type Ring<P, const N: usize> = Halves<ring::Owner<Item<P>, N>, ring::Stealer<Item<P>, N>>;

fn run<P: Padding, const N: usize>(mut choices: Choices<'_>) {
    let ledger = Ledger::default();
    let mut rings: [Ring<P, N>; 3] = std::array::from_fn(|_| make(&mut choices));
    while let Some(operation) = choices.next_byte() {
        let (at, operation) = (operation as usize % 3, operation as usize / 3);
        let other = choices.below(3);
        match operation % 12 {
            0 => rings[at].push(&ledger),
            1 => rings[at].push_or_overflow(&ledger),
            2 => rings[at].push_batch(&ledger, choices.below(N + 3)),
            3 => rings[at].pop(),
            4 => rings[at].steal(),
            5 | 6 => steal_into(&mut rings, at, other, None),
            7 => steal_into(&mut rings, at, other, Some(choices.below(N / 2 + 2))),
            8 => rings[at].one_more_stealer(ring::Owner::stealer),
            9 => rings[at].drop_stealer(&ledger),
            // Rarely, because not much happens without an owner.
            10 if other == 0 => rings[at].drop_owner(&ledger),
            _ if rings[at].is_gone() => rings[at] = make(&mut choices),
            _ => {}
        }
        rings.iter().for_each(Ring::check);
    }
    let left: usize = rings.iter().map(|ring| ring.oracle.len()).sum();
    assert_eq!(ledger.alive(), left, "an item is lost");
    drop(rings);
    assert_eq!(ledger.alive(), 0, "an item is not dropped");
}

/// A new ring, at zero, or so that the positions wrap within the next N pushes.
fn make<P: Padding, const N: usize>(choices: &mut Choices<'_>) -> Ring<P, N> {
    let position = 0u32.wrapping_sub(choices.below(N) as u32);
    Halves::new(ring::starting_at(position))
}

impl<P: Padding, const N: usize> Ring<P, N> {
    fn push(&mut self, ledger: &Ledger) {
        let Some(owner) = &self.owner else { return };
        let item = ledger.item();
        let id = item.id;
        match owner.push(item) {
            Ok(()) => {
                assert!(self.oracle.len() < N, "a push into a full ring succeeds");
                self.oracle.push_back(id);
            }
            Err(back) => {
                assert_eq!(self.oracle.len(), N, "a push fails though there is room");
                assert_eq!(back.checked(), id);
            }
        }
    }

    fn push_or_overflow(&mut self, ledger: &Ledger) {
        let Some(owner) = &self.owner else { return };
        let item = ledger.item();
        let id = item.id;
        match owner.push_or_overflow(item) {
            Ok(()) => {
                assert!(self.oracle.len() < N, "a push into a full ring succeeds");
                self.oracle.push_back(id);
            }
            Err(batch) => {
                assert_eq!(self.oracle.len(), N, "an overflow though there is room");
                assert_eq!(batch.len(), N / 2 + 1);
                let mut expected = self.oracle.split_off(N / 2);
                expected.push_back(id);
                assert!(
                    batch.map(|item| item.checked()).eq(expected),
                    "another half is shed"
                );
            }
        }
    }

    fn push_batch(&mut self, ledger: &Ledger, count: usize) {
        let Some(owner) = &self.owner else { return };
        let items: Vec<Item<P>> = (0..count).map(|_| ledger.item()).collect();
        let ids: Vec<u32> = items.iter().map(|item| item.id).collect();
        let fit = count.min(N - self.oracle.len());
        let rest: Vec<u32> = owner.push_batch(items).map(|item| item.checked()).collect();
        assert_eq!(rest, ids[fit..], "another rest comes back");
        self.oracle.extend(&ids[..fit]);
    }

    fn pop(&mut self) {
        let Some(owner) = &self.owner else { return };
        let item = owner.pop().map(|item| item.checked());
        assert_eq!(item, self.oracle.pop_front());
    }

    fn steal(&mut self) {
        let Some(stealer) = self.stealers.first() else {
            return;
        };
        assert_eq!(stolen(stealer.steal()), self.oracle.pop_front());
    }

    fn check(&self) {
        let (len, is_empty) = (self.oracle.len(), self.oracle.is_empty());
        let seen = (len, is_empty, N - len);
        if let Some(owner) = &self.owner {
            assert_eq!(
                (owner.len(), owner.is_empty(), owner.spare_capacity()),
                seen
            );
        }
        for stealer in &self.stealers {
            assert_eq!(
                (stealer.len(), stealer.is_empty(), stealer.spare_capacity()),
                seen
            );
        }
    }
}

/// Steals half of `rings[from]` into `rings[to]`, which may be the same.
fn steal_into<P: Padding, const N: usize>(
    rings: &mut [Ring<P, N>; 3],
    from: usize,
    to: usize,
    limit: Option<usize>,
) {
    let (Some(stealer), Some(thief)) = (rings[from].stealers.last(), &rings[to].owner) else {
        return;
    };
    let first = match limit {
        None => stealer.steal_into(thief),
        Some(limit) => stealer.steal_into_limited(thief, limit),
    };
    let room = N - rings[to].oracle.len() + 1;
    let half = rings[from].oracle.len().div_ceil(2);
    let count = half.min(room).min(limit.unwrap_or(N).max(1));
    let mut items = rings[from].oracle.drain(..count);
    assert_eq!(stolen(first), items.next());
    let rest: Vec<u32> = items.collect();
    rings[to].oracle.extend(rest);
}
