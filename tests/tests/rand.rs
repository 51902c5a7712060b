//! `FastRand`: its published values, its even spread, and a victim order that
//! prefers nobody.
//!
//! Spread is judged by Pearson's chi² against [`LIMIT`]. Every seed is fixed,
//! so a check passes or fails for ever; and for each kind of check a biased
//! variant is shown to fail it. What needs the generator's state (the exact
//! period, the exhaustive 8-bit reduction, the zero state) is a unit test in
//! `ws-core/src/rand.rs`.

use std::iter::FusedIterator;

use ws_core::{FastRand, Victims};

/// The seed that would give the zero state if nothing were done about it.
const ZERO_SEED: u64 = 0x61c8_8646_80b5_83eb;

const SEEDS: [u64; 4] = [0, 1, 0xdead_beef, ZERO_SEED];

/// From an independent implementation, in another language, by the definition.
#[rustfmt::skip]
const PUBLISHED: [(u64, [u32; 8]); 5] = [
    (
        0x0,
        [
            0x4349898a, 0xf1d3f59f, 0xc0f2ca84, 0x65290efd, 0x4858343f, 0xc638b0bc, 0xa9aef724, 0x4048cb34,
        ],
    ),
    (
        0x1,
        [
            0xcb47b935, 0xb4e99ebd, 0xfca0786a, 0x0822c731, 0x187a368b, 0x61414895, 0xded72ee0, 0xae1b1839,
        ],
    ),
    (
        0x2a,
        [
            0x27aeb3d1, 0xfcaaa3f3, 0x7e8ec89d, 0x3b04c631, 0x2bbf7e6e, 0x7dbca4d5, 0x507d7e41, 0x685334a9,
        ],
    ),
    (
        0xffffffffffffffff,
        [
            0x38c354f0, 0x7c5b7cc6, 0x71982d80, 0xfd1493cb, 0x352e4e42, 0x20272781, 0x8c74535b, 0xfb993e58,
        ],
    ),
    (
        0x61c8864680b583eb,
        [
            0xfa8657c6, 0x2aefe08e, 0x2186db5c, 0x2f9e7d7c, 0x55af44d7, 0x2b34df45, 0x7e912890, 0x90c9c6e6,
        ],
    ),
];

/// `below(n)` of seed 0, from the same source, which rejects by `2^32 % n`. The
/// row of 2^31 + 1 rejects nearly half of what it draws.
#[rustfmt::skip]
const BELOW: [(u32, [u32; 8]); 6] = [
    (1, [0, 0, 0, 0, 0, 0, 0, 0]),
    (3, [0, 2, 2, 1, 0, 2, 1, 0]),
    (10, [2, 9, 7, 3, 2, 7, 6, 2]),
    (100, [26, 94, 75, 39, 28, 77, 66, 25]),
    (2147483649, [1618568514, 848594814, 606870047, 1662802014, 1423408018, 369260537, 811273662, 1722705953]),
    (4294967295, [1128892809, 4057200030, 3237137027, 1697189628, 1213740094, 3325604027, 2846816035, 1078512435]),
];

/// How many standard deviations a chi² may be off: 4, which chance exceeds with
/// a probability of 3 in 100,000 on either side.
const LIMIT: f64 = 4.0;

/// Judges counts that should be even: too uneven is an error, and so is too
/// even, which a counter in place of a generator would be.
fn check_even(counts: &[u32]) -> Result<(), String> {
    let cells = counts.len() as f64;
    let expected = counts.iter().sum::<u32>() as f64 / cells;
    let deviation = |&count: &u32| (f64::from(count) - expected).powi(2) / expected;
    let chi2 = counts.iter().map(deviation).sum::<f64>();
    // Wilson and Hilferty (1931): the cube root of chi² / freedom is nearly normal.
    let freedom = cells - 1.0;
    let spread = 2.0 / (9.0 * freedom);
    let sigmas = ((chi2 / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
    // One cell holds everything: there is nothing to judge.
    if counts.len() == 1 || sigmas.abs() <= LIMIT {
        return Ok(());
    }
    Err(format!(
        "chi² = {chi2:.1} with {freedom} degrees of freedom: {sigmas:.1} standard deviations off",
    ))
}

/// Counts `per_cell * cells` draws.
fn count(cells: u32, per_cell: u32, mut draw: impl FnMut() -> u32) -> Vec<u32> {
    let mut counts = vec![0; cells as usize];
    for _ in 0..per_cell * cells {
        counts[draw() as usize] += 1;
    }
    counts
}

#[test]
fn first_values_are_the_published_ones() {
    for (seed, values) in PUBLISHED {
        let mut rand = FastRand::new(seed);
        assert_eq!(values.map(|_| rand.next_u32()), values, "seed {seed:#x}");
    }
    for (n, values) in BELOW {
        let mut rand = FastRand::new(0);
        assert_eq!(values.map(|_| rand.below(n)), values, "n = {n}");
    }
}

#[test]
fn the_seed_fixes_the_sequence() {
    let mut rand = FastRand::new(5);
    rand.next_u32();
    let mut copy = rand.clone();
    let mut worker = FastRand::for_worker(5, 0);
    worker.next_u32();
    for _ in 0..1000 {
        let value = rand.next_u32();
        assert_eq!(copy.next_u32(), value);
        assert_eq!(worker.next_u32(), value);
    }
}

#[test]
fn below_is_even_for_every_n_up_to_100() {
    for seed in SEEDS {
        let mut rand = FastRand::new(seed);
        for n in 1..=100 {
            let counts = count(n, 500, || rand.below(n));
            check_even(&counts).unwrap_or_else(|why| panic!("seed {seed:#x}, n = {n}: {why}"));
        }
    }
}

// Mutant: the remainder of a byte. 56 of the 100 results have 3 bytes, 44 have 2.
#[test]
fn a_biased_reduction_is_caught() {
    let mut rand = FastRand::new(0);
    check_even(&count(100, 500, || (rand.next_u32() >> 24) % 100)).unwrap_err();
}

// Mutant: a counter.
#[test]
fn a_generator_that_is_too_even_is_caught() {
    let mut counter = 0;
    let mut next = || {
        counter += 1;
        counter % 100
    };
    check_even(&count(100, 500, &mut next)).unwrap_err();
}

#[test]
fn neighbouring_seeds_and_workers_are_unrelated() {
    let first = |mut rand: FastRand, n| rand.below(n);

    let mut seeds = 0..;
    let counts = count(64, 500, || first(FastRand::new(seeds.next().unwrap()), 64));
    check_even(&counts).unwrap_or_else(|why| panic!("first draws of seeds 0, 1, 2 …: {why}"));

    let mut workers = 0..;
    let counts = count(64, 500, || {
        first(FastRand::for_worker(9, workers.next().unwrap()), 64)
    });
    check_even(&counts).unwrap_or_else(|why| panic!("first draws of workers 0, 1, 2 …: {why}"));

    for worker in 0..16 {
        let mut left = FastRand::for_worker(9, worker);
        let mut right = FastRand::for_worker(9, worker + 1);
        let counts = count(64, 500, || left.below(8) * 8 + right.below(8));
        check_even(&counts).unwrap_or_else(|why| panic!("worker {worker} and the next: {why}"));
    }
}

#[test]
fn no_seed_stays_at_zero() {
    let all_zero = |mut rand: FastRand| (0..4).all(|_| rand.next_u32() == 0);
    for seed in SEEDS {
        assert!(!all_zero(FastRand::new(seed)), "seed {seed:#x}");
    }
    // ZERO_SEED is minus the golden-ratio constant, and worker 2 adds that
    // constant twice: from this seed it comes to ZERO_SEED.
    let seed = ZERO_SEED.wrapping_mul(3);
    let mut worker = FastRand::for_worker(seed, 2);
    assert_eq!(worker.next_u32(), FastRand::new(ZERO_SEED).next_u32());
    assert!(!all_zero(worker));
    // A source of zeros alone would be rejected for ever.
    assert!(FastRand::new(ZERO_SEED).below(3) < 3);
}

#[test]
fn the_extremes_of_n_work() {
    let mut rand = FastRand::new(0);
    for _ in 0..10_000 {
        assert_eq!(rand.below(1), 0);
        assert!(rand.below(u32::MAX) < u32::MAX);
        // 2^31 + 1 is the n that rejects most.
        assert!(rand.below((1 << 31) + 1) <= 1 << 31);
    }
    // A power of two rejects nothing: it is the upper bits of each number.
    let mut bits = rand.clone();
    for _ in 0..10_000 {
        assert_eq!(rand.below(1 << 31), bits.next_u32() >> 1);
    }
}

#[test]
#[should_panic(expected = "below(0): no number is below 0")]
fn below_zero_panics() {
    FastRand::new(0).below(0);
}

#[test]
fn an_order_has_every_other_worker_once_around_the_circle() {
    let mut rand = FastRand::new(0);
    for workers in 1..=70 {
        for me in 0..workers {
            let order: Vec<usize> = rand.victims(workers, me).collect();
            let Some(&first) = order.first() else {
                assert_eq!(workers, 1);
                continue;
            };
            let circle = (first..workers).chain(0..first).filter(|&w| w != me);
            assert!(
                circle.eq(order.iter().copied()),
                "{workers} workers, me = {me}"
            );
        }
    }
}

#[test]
fn an_order_knows_its_length_and_stays_at_its_end() {
    fn promises<T: ExactSizeIterator + FusedIterator + Clone + Send + Sync + 'static>(_: &T) {}

    let mut victims: Victims = FastRand::new(0).victims(8, 3);
    promises(&victims);
    for left in (0..7).rev() {
        assert!(victims.next().is_some());
        assert_eq!(victims.len(), left);
    }
    assert_eq!(victims.next(), None);
    assert_eq!(victims.next(), None);
    assert_eq!(victims.size_hint(), (0, Some(0)));
}

/// Judges how often each other worker comes first, by its distance from `me`.
fn check_first(
    workers: usize,
    me: usize,
    mut first: impl FnMut(usize, usize) -> usize,
) -> Result<(), String> {
    let cells = workers as u32 - 1;
    let counts = count(cells, 1000, || {
        let victim = first(workers, me);
        ((victim + workers - me) % workers) as u32 - 1
    });
    check_even(&counts)
}

#[test]
fn every_other_worker_is_first_equally_often() {
    for seed in SEEDS {
        let mut rand = FastRand::new(seed);
        for workers in [2, 3, 8, 65] {
            for me in [0, workers / 2, workers - 1] {
                check_first(workers, me, |n, me| rand.victims(n, me).next().unwrap())
                    .unwrap_or_else(|why| panic!("seed {seed:#x}, {me} of {workers}: {why}"));
            }
        }
    }
}

// Mutant: a start among all workers, then past oneself. The successor comes
// first with a chance of 2/n. (Of two workers there is only one to choose.)
#[test]
fn an_order_that_skips_the_caller_late_is_caught() {
    let mut rand = FastRand::new(0);
    let mut skip_late = |workers: usize, me: usize| {
        let start = rand.below(workers as u32) as usize;
        if start == me {
            (start + 1) % workers
        } else {
            start
        }
    };
    for workers in [3, 8, 65] {
        for me in [0, workers / 2, workers - 1] {
            check_first(workers, me, &mut skip_late).unwrap_err();
        }
    }
}

#[test]
fn an_order_draws_one_number_and_none_when_alone() {
    let mut rand = FastRand::new(4);
    let mut copy = rand.clone();
    assert_eq!(rand.victims(1, 0).count(), 0);
    assert_eq!(
        rand.victims(1 << 10, 0).next(),
        Some(1 + copy.below(1023) as usize)
    );
    assert_eq!(rand.next_u32(), copy.next_u32());
}

#[test]
#[should_panic(expected = "worker 4 is not one of 4 workers")]
fn an_order_for_a_worker_outside_panics() {
    let _ = FastRand::new(0).victims(4, 4);
}

#[test]
#[should_panic(expected = "worker 0 is not one of 0 workers")]
fn an_order_among_no_workers_panics() {
    let _ = FastRand::new(0).victims(0, 0);
}

#[test]
#[cfg(target_pointer_width = "64")]
#[should_panic(expected = "at most 2^32 workers")]
fn an_order_among_too_many_workers_panics() {
    let _ = FastRand::new(0).victims((1 << 32) + 1, 0);
}
