//! The queues agree with a `VecDeque`, whatever is called in whatever order.

use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        // Failures are reported with their bytes; nothing is written to disk.
        failure_persistence: None,
        ..ProptestConfig::with_cases(2_000)
    })]

    #[test]
    fn the_ring_agrees(bytes in vec(any::<u8>(), 0..600)) {
        tests::oracle::ring::check(&bytes);
    }

    #[test]
    fn the_deque_agrees(bytes in vec(any::<u8>(), 0..600)) {
        tests::oracle::chase_lev::check(&bytes);
    }
}
