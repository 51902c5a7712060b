//! A small, fast PRNG: it chooses victims, and the order in which to try them.
//!
//! [`FastRand`] is xorshift64+ with the shifts [17, 7, 16] over two 32-bit
//! halves: the state is one 64-bit xorshift register (Marsaglia, *Xorshift
//! RNGs*, 2003), and the output is the sum of its two halves (Vigna, *Further
//! scramblings of Marsaglia's xorshift generators*, 2017). A step is a dozen
//! shifts, xors and one addition; there is no memory access and no division.
//!
//! The generator is **not for secrets**: a few outputs reveal the whole state.
//!
//! # The zero state
//!
//! The step is linear over bits, so (0, 0) is a fixed point. From every other state
//! the period is exactly 2⁶⁴ − 1: the order of the step's 64 × 64 bit matrix, which
//! a unit test computes. At (0, 0) the output would be constant, and
//! [`below`](FastRand::below) would reject zero for ever.
//!
//! # Seeding
//!
//! A seed becomes a state by one step of SplitMix64 (Steele, Lea, Flood, *Fast
//! splittable pseudorandom number generators*, 2014): add [`GOLDEN`], then
//! [`mix`]. Both are bijections of 64-bit words, so distinct seeds give
//! distinct states, and seeds that differ in one bit give unrelated ones.
//!
//! Exactly one seed, `0x61C8864680B583EB` (that is −[`GOLDEN`]), would give the
//! zero state. This seed has the state `mix(1 << 63)` instead, and so shares its
//! sequence with one other seed: 2⁶⁴ seeds cannot all have distinct states among
//! 2⁶⁴ − 1.
//!
//! Worker `i` is seeded as `seed + i * GOLDEN`, so the workers' states are
//! successive outputs of one SplitMix64. [`GOLDEN`] is odd, hence `i * GOLDEN`
//! is a bijection too, and no two workers share a state. The replacement for zero
//! does not change that: two workers would need indices whose difference `d` has
//! `d * GOLDEN == 1 << 63`, and the only such `d` is 2⁶³.
//!
//! # Published values
//!
//! `FastRand::new(0)` begins `4349898a f1d3f59f c0f2ca84 65290efd`, in
//! hexadecimal, on every platform. The sequence of a seed is part of the
//! public interface: a change of the sequence is a breaking change.

use core::iter::FusedIterator;

/// 2⁶⁴ divided by the golden ratio, made odd: the increment of SplitMix64.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The finaliser of SplitMix64: a bijection in which every input bit reaches
/// every output bit. `mix(0)` is 0.
const fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Defines Lemire's reduction (*Fast random integer generation in an interval*,
/// 2019) for one width of word.
///
/// A random word `w` is mapped to the upper half of the product `w * n`. That
/// alone is biased: 2^BITS words do not divide evenly among `n` results. Each
/// result has the products in one range of 2^BITS, and the lower half of a
/// product is its place in that range. Words whose place is below 2^BITS mod
/// `n` are rejected, which leaves every result exactly ⌊2^BITS / n⌋ words.
///
/// The remainder costs a division. The remainder is less than `n`, so it is computed
/// only if the place is below `n`. For small `n` that is nearly never the case.
///
/// The width is a parameter so that a test can try every word of the 8-bit
/// instance. Production uses the 32-bit instance of the same text.
macro_rules! lemire {
    ($name:ident, $word:ty, $wide:ty) => {
        /// A uniform word below `n`, which is not 0, from uniform words `next`.
        #[inline]
        fn $name(n: $word, mut next: impl FnMut() -> $word) -> $word {
            let mut product = <$wide>::from(next()) * <$wide>::from(n);
            if (product as $word) < n {
                // 2^BITS - n, which is congruent to 2^BITS, modulo n.
                let rejected = n.wrapping_neg() % n;
                while (product as $word) < rejected {
                    product = <$wide>::from(next()) * <$wide>::from(n);
                }
            }
            (product >> <$word>::BITS) as $word
        }
    };
}

lemire!(below_u32, u32, u64);

/// A fast pseudo-random number generator, fixed by its seed. Not for secrets.
///
/// It serves to choose among workers: see [`victims`](Self::victims). A generator
/// takes eight bytes, and a number one to two nanoseconds. Equal seeds give equal
/// sequences, so that a run can be repeated. Each worker has a generator of its own:
/// a shared generator would need a lock or an atomic.
///
/// The sequence of a seed does not change between versions or platforms. Its
/// period is 2⁶⁴ − 1.
///
/// ```
/// use ws_core::FastRand;
///
/// let mut rand = FastRand::new(0);
/// assert_eq!(rand.next_u32(), 0x4349_898a);
/// assert_eq!(rand.next_u32(), 0xf1d3_f59f);
///
/// let die = 1 + rand.below(6);
/// assert!((1..=6).contains(&die));
/// ```
#[derive(Clone, Debug)]
pub struct FastRand {
    // Invariant: not both are zero. `new` establishes the invariant. The step
    // preserves it, because the step is invertible and maps zero to zero.
    one: u32,
    two: u32,
}

impl FastRand {
    /// Creates the generator of `seed`; any seed is as good as any other.
    ///
    /// ```
    /// use ws_core::FastRand;
    /// let (mut a, mut b) = (FastRand::new(7), FastRand::new(7));
    /// assert_eq!(a.next_u32(), b.next_u32());
    /// ```
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        // Only zero is mixed to zero. No other worker of the same executor can have
        // 2⁶³ here (see the module docs).
        let state = match seed.wrapping_add(GOLDEN) {
            0 => mix(1 << 63),
            z => mix(z),
        };
        Self {
            one: (state >> 32) as u32,
            two: state as u32,
        }
    }

    /// Creates the generator of worker `index` of an executor seeded with `seed`.
    ///
    /// Two workers of one executor never start in the same state, whatever the seed,
    /// so they need no distinct seeds of their own. Worker 0 has the sequence of
    /// `new(seed)`.
    ///
    /// ```
    /// use ws_core::FastRand;
    /// let mut first = FastRand::for_worker(7, 0);
    /// let mut second = FastRand::for_worker(7, 1);
    /// assert_ne!(first.next_u32(), second.next_u32());
    /// ```
    #[must_use]
    pub const fn for_worker(seed: u64, index: usize) -> Self {
        Self::new(seed.wrapping_add((index as u64).wrapping_mul(GOLDEN)))
    }

    /// Returns the next 32 random bits.
    ///
    /// Over the whole period every value comes equally often, except 0, which comes
    /// once less: 0 is the sum of the halves of the missing zero state.
    ///
    /// ```
    /// use ws_core::FastRand;
    /// let mut rand = FastRand::new(1);
    /// assert_eq!(rand.next_u32(), 0xcb47_b935);
    /// ```
    #[inline]
    pub const fn next_u32(&mut self) -> u32 {
        let s0 = self.two;
        let mut s1 = self.one;
        s1 ^= s1 << 17;
        s1 = s1 ^ s0 ^ (s1 >> 7) ^ (s0 >> 16);
        self.one = s0;
        self.two = s1;
        s0.wrapping_add(s1)
    }

    /// Returns a random number below `n`, each with exactly the same chance.
    ///
    /// Plain multiply-and-shift would prefer some results, by 2 · 10⁻⁹ at
    /// `n = 10`. Lemire's rejection avoids this. It costs one compare, and draws a
    /// second number with a chance below `n / 2³²`.
    ///
    /// # Panics
    ///
    /// If `n` is 0, because there is no number to return.
    ///
    /// ```
    /// use ws_core::FastRand;
    /// let mut rand = FastRand::new(0);
    /// let digits: [u32; 8] = std::array::from_fn(|_| rand.below(10));
    /// assert_eq!(digits, [2, 9, 7, 3, 2, 7, 6, 2]);
    /// ```
    #[inline]
    #[track_caller]
    pub fn below(&mut self, n: u32) -> u32 {
        assert!(n != 0, "below(0): no number is below 0, expected n >= 1");
        below_u32(n, || self.next_u32())
    }

    /// Returns the order in which worker `me` of `workers` tries the others.
    ///
    /// Every other worker comes once, in ascending order around the circle
    /// from a random start. The start is drawn among the other workers, so each of
    /// them is first with the same chance. (To draw among all workers and skip the
    /// caller would give its successor two chances.) One number is drawn per order, and
    /// none if there is no other worker.
    ///
    /// # Panics
    ///
    /// If `me` is not below `workers` (so also if `workers` is 0), or if
    /// `workers` is above 2³².
    ///
    /// ```
    /// use ws_core::FastRand;
    ///
    /// let mut rand = FastRand::new(0);
    /// let order: Vec<usize> = rand.victims(4, 1).collect();
    /// assert_eq!(order, [0, 2, 3]);
    /// let order: Vec<usize> = rand.victims(4, 1).collect();
    /// assert_eq!(order, [3, 0, 2]);
    /// assert_eq!(rand.victims(1, 0).count(), 0);
    /// ```
    #[inline]
    #[track_caller]
    pub fn victims(&mut self, workers: usize, me: usize) -> Victims {
        assert!(me < workers, "worker {me} is not one of {workers} workers");
        let others = workers - 1;
        let drawn = u32::try_from(others).expect("expected at most 2^32 workers");
        let start = match drawn {
            0 => 0,
            n => self.below(n) as usize,
        };
        Victims {
            rank: start,
            left: others,
            others,
            me,
        }
    }
}

/// The order in which one worker tries all other workers, from
/// [`FastRand::victims`].
///
/// It borrows nothing, so the generator is free during the search. A step is two
/// compares and two additions.
///
/// ```
/// use ws_core::FastRand;
///
/// let mut victims = FastRand::new(3).victims(3, 2);
/// assert_eq!(victims.len(), 2);
/// let (first, second) = (victims.next().unwrap(), victims.next().unwrap());
/// assert_eq!(first.min(second), 0);
/// assert_eq!(first.max(second), 1);
/// assert_eq!(victims.next(), None);
/// ```
#[derive(Clone, Debug)]
#[must_use = "an order does nothing unless it is iterated"]
pub struct Victims {
    /// The next victim's place among the others, counted without `me`.
    rank: usize,
    /// How many victims are still to come.
    left: usize,
    others: usize,
    me: usize,
}

impl Iterator for Victims {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let victim = self.rank + usize::from(self.rank >= self.me);
        self.rank += 1;
        if self.rank == self.others {
            self.rank = 0;
        }
        Some(victim)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Victims {}

impl FusedIterator for Victims {}

#[cfg(test)]
mod tests {
    //! The tests that need the state or the 8-bit reduction. All else is tested from
    //! outside, in the `tests` member.

    use alloc::collections::BTreeSet;

    use super::*;

    lemire!(below_u8, u8, u16);

    /// The seed that golden-ratio seeding alone would send to the zero state.
    const ZERO_SEED: u64 = GOLDEN.wrapping_neg();

    fn state(rand: &FastRand) -> u64 {
        u64::from(rand.one) << 32 | u64::from(rand.two)
    }

    fn from_state(state: u64) -> FastRand {
        FastRand {
            one: (state >> 32) as u32,
            two: state as u32,
        }
    }

    fn step(s: u64) -> u64 {
        let mut rand = from_state(s);
        rand.next_u32();
        state(&rand)
    }

    /// Gives every 8-bit word once to a reduction, for every `n`, and counts
    /// the accepted words. Returns the first `n` whose results are not all
    /// accepted exactly ⌊256 / n⌋ times.
    fn first_uneven(reduce: impl Fn(u8, &mut dyn FnMut() -> u8) -> u8) -> Option<u8> {
        (1..=u8::MAX).find(|&n| {
            let mut accepted = [0_u32; 256];
            for word in 0..=u8::MAX {
                let mut draws = 0;
                // The words after the first are 255. The lower half of 255 * n
                // is 256 - n, which is congruent to 256 modulo n and so not
                // below 256 mod n: 255 is never rejected.
                let result = reduce(n, &mut || {
                    draws += 1;
                    if draws == 1 { word } else { u8::MAX }
                });
                if draws == 1 {
                    accepted[usize::from(result)] += 1;
                }
            }
            let (inside, outside) = accepted.split_at(usize::from(n));
            let even = inside.iter().all(|&count| count == 256 / u32::from(n));
            !even || outside.iter().any(|&count| count != 0)
        })
    }

    #[test]
    fn the_reduction_is_exactly_uniform() {
        assert_eq!(first_uneven(|n, next| below_u8(n, next)), None);
    }

    // Mutant: multiply and shift, without rejection.
    #[test]
    fn the_reduction_without_rejection_is_caught() {
        let plain =
            |n: u8, next: &mut dyn FnMut() -> u8| ((u16::from(next()) * u16::from(n)) >> 8) as u8;
        assert_eq!(first_uneven(plain), Some(3));
    }

    // Mutant: a threshold one too low.
    #[test]
    fn a_reduction_that_rejects_too_little_is_caught() {
        let lax = |n: u8, next: &mut dyn FnMut() -> u8| {
            loop {
                let product = u16::from(next()) * u16::from(n);
                if u16::from(product as u8) + 1 >= 256 % u16::from(n) {
                    return (product >> 8) as u8;
                }
            }
        };
        assert!(first_uneven(lax).is_some());
    }

    // Mutant: a generator that may be in the zero state.
    #[test]
    fn the_zero_state_is_a_fixed_point() {
        let mut zero = from_state(0);
        for _ in 0..1000 {
            assert_eq!(zero.next_u32(), 0);
        }
        assert_eq!(state(&zero), 0);
    }

    #[test]
    fn exactly_one_seed_needs_the_replacement_for_zero() {
        assert_eq!(ZERO_SEED, 0x61C8_8646_80B5_83EB);
        assert_eq!(mix(ZERO_SEED.wrapping_add(GOLDEN)), 0);
        assert_ne!(state(&FastRand::new(ZERO_SEED)), 0);
        // `unmix` undoes `mix`, so `mix` is a bijection, and no other seed
        // gives the zero state.
        for n in 0..10_000_u64 {
            let z = n.wrapping_mul(0xD134_2543_DE82_EF95) ^ (n << 50);
            assert_eq!(unmix(mix(z)), z);
            assert_eq!(mix(unmix(z)), z);
        }
        // `ZERO_SEED` shares its sequence with this seed, and with no other.
        let twin = ZERO_SEED ^ 1 << 63;
        assert_eq!(
            state(&FastRand::new(twin)),
            state(&FastRand::new(ZERO_SEED))
        );
    }

    fn unmix(z: u64) -> u64 {
        // The inverses of the odd factors, by Newton's iteration: in each round,
        // x * inv = 1 holds to twice as many bits.
        let inverse = |x: u64| {
            (0..6).fold(x, |inv, _| {
                inv.wrapping_mul(2_u64.wrapping_sub(x.wrapping_mul(inv)))
            })
        };
        let z = z ^ (z >> 31) ^ (z >> 62);
        let z = z.wrapping_mul(inverse(0x94D0_49BB_1331_11EB));
        let z = z ^ (z >> 27) ^ (z >> 54);
        let z = z.wrapping_mul(inverse(0xBF58_476D_1CE4_E5B9));
        z ^ (z >> 30) ^ (z >> 60)
    }

    #[test]
    fn workers_start_in_distinct_states() {
        // The last three seeds put a worker on the seed of the zero state.
        let last = ZERO_SEED.wrapping_sub(999_u64.wrapping_mul(GOLDEN));
        let third = ZERO_SEED.wrapping_sub(2_u64.wrapping_mul(GOLDEN));
        for seed in [0, 1, u64::MAX, GOLDEN, ZERO_SEED, third, last] {
            let states: BTreeSet<u64> = (0..1000)
                .map(|index| state(&FastRand::for_worker(seed, index)))
                .collect();
            assert_eq!(states.len(), 1000, "seed {seed:#x}");
            assert!(!states.contains(&0), "seed {seed:#x}");
        }
    }

    // The step is invertible, so a sequence can only cycle through its start.
    #[test]
    fn there_is_no_short_cycle() {
        for seed in (0..8).chain([u64::MAX, ZERO_SEED]) {
            let start = state(&FastRand::new(seed));
            let mut now = start;
            for steps in 1..=1_000_000 {
                now = step(now);
                assert!(now != start && now != 0, "seed {seed:#x}, {steps} steps");
            }
        }
    }

    /// A 64 × 64 matrix of bits: the images of the unit vectors.
    type Matrix = [u64; 64];

    fn apply(matrix: &Matrix, vector: u64) -> u64 {
        (0..64)
            .filter(|bit| vector >> bit & 1 == 1)
            .fold(0, |sum, bit| sum ^ matrix[bit])
    }

    fn power(mut base: Matrix, mut exponent: u64) -> Matrix {
        let mut result: Matrix = core::array::from_fn(|bit| 1 << bit);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.map(|column| apply(&base, column));
            }
            base = base.map(|column| apply(&base, column));
            exponent >>= 1;
        }
        result
    }

    // The order of the step's matrix divides 2⁶⁴ − 1 and no proper divisor of
    // it, so it is 2⁶⁴ − 1. Then all non-zero states form one cycle: had the
    // states two invariant parts of d and 64 − d bits, the order would be at
    // most (2ᵈ − 1)(2⁶⁴⁻ᵈ − 1), which is less; without such parts the powers
    // of the matrix are the non-zero elements of a field, and only the identity
    // among them maps a non-zero state to itself.
    #[test]
    fn the_period_is_exactly_two_to_the_64_less_one() {
        const ALL: u64 = u64::MAX;
        let primes = [3, 5, 17, 257, 641, 65_537, 6_700_417];
        assert_eq!(primes.iter().product::<u64>(), ALL);

        let unit: Matrix = core::array::from_fn(|bit| 1 << bit);
        let matrix = unit.map(step);
        assert_eq!(power(matrix, ALL), unit);
        for prime in primes {
            assert_ne!(power(matrix, ALL / prime), unit, "divided by {prime}");
        }
    }
}
