//! Each item once: who saw which of many numbered items.
//!
//! Every thread marks the items that it saw in a [`Census`] of its own, one bit
//! per item, so that counting adds no synchronisation to what is tested. At the
//! end the censuses are put together.

/// The items that one thread saw.
#[derive(Clone, Debug)]
pub struct Census {
    bits: Vec<u64>,
    items: u64,
    seen: u64,
}

impl Census {
    /// An empty census of the items `0..items`.
    pub fn of(items: u64) -> Self {
        Self {
            bits: vec![0; usize::try_from(items.div_ceil(64)).expect("one bit per item fits")],
            items,
            seen: 0,
        }
    }

    /// Marks `item`.
    ///
    /// # Panics
    ///
    /// If it is no item, or was seen by this thread before.
    pub fn see(&mut self, item: u64) {
        assert!(item < self.items, "{item} was never pushed");
        let word = &mut self.bits[(item / 64) as usize];
        let bit = 1 << (item % 64);
        assert_eq!(*word & bit, 0, "item {item} was seen twice by one thread");
        *word |= bit;
        self.seen += 1;
    }

    /// How many items were seen.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Checks that each item was seen by exactly one thread.
    ///
    /// # Panics
    ///
    /// If an item was seen by two threads, or by none.
    pub fn assert_each_once(censuses: impl IntoIterator<Item = Census>) {
        let mut censuses = censuses.into_iter();
        let mut all = censuses.next().expect("at least one thread");
        for census in censuses {
            assert_eq!(census.items, all.items, "censuses of the same items");
            for (word, more) in all.bits.iter_mut().zip(census.bits) {
                assert_eq!(*word & more, 0, "an item was seen by two threads");
                *word |= more;
            }
            all.seen += census.seen;
        }
        assert_eq!(all.seen, all.items, "items were lost");
    }
}

/// How many items a stress test moves: `WS_STRESS_ITEMS`, or `normal`.
///
/// # Panics
///
/// If the variable is set to something that is no number.
pub fn stress_items(normal: u64) -> u64 {
    match std::env::var("WS_STRESS_ITEMS") {
        Ok(text) => text.parse().expect("WS_STRESS_ITEMS is a number of items"),
        Err(_) => normal,
    }
}

/// As [`stress_items`], for tests whose rounds are as much work as a thousand items.
///
/// # Panics
///
/// As there.
pub fn stress_rounds(normal: u64) -> u64 {
    stress_items(normal * 1_000).div_ceil(1_000)
}

#[cfg(test)]
mod tests {
    use super::Census;

    fn seen(items: &[u64]) -> Census {
        let mut census = Census::of(100);
        items.iter().for_each(|&item| census.see(item));
        census
    }

    #[test]
    fn complete() {
        let odd: Vec<u64> = (0..100).filter(|n| n % 2 == 1).collect();
        let even: Vec<u64> = (0..100).filter(|n| n % 2 == 0).collect();
        Census::assert_each_once([seen(&odd), seen(&even)]);
    }

    #[test]
    #[should_panic(expected = "twice by one thread")]
    fn twice_by_one() {
        seen(&[7, 7]);
    }

    #[test]
    #[should_panic(expected = "seen by two threads")]
    fn twice_by_two() {
        Census::assert_each_once([seen(&[1]), seen(&[1])]);
    }

    #[test]
    #[should_panic(expected = "items were lost")]
    fn lost() {
        let most: Vec<u64> = (0..99).collect();
        Census::assert_each_once([seen(&most)]);
    }
}
