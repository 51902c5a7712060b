//! The chaos build: a point delays its thread at random.
//!
//! `WS_CHAOS` contains name prefixes, separated by commas. Only points whose name
//! starts with one of these prefixes delay. If `WS_CHAOS` is unset or empty, all points
//! delay. `WS_CHAOS_SEED` fixes the delays of each thread, in the order in which the
//! threads first reach a point.

use std::cell::RefCell;
use std::string::String;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread_local;
use std::time::{Duration, Instant};
use std::vec::Vec;

use crate::FastRand;

/// The longest delay. Six microseconds raised the detection rate of a planted
/// lost wake-up from 6 in 200,000 to about 1 in 10.
const MAX_DELAY_NANOS: u32 = 6_000;

/// One point in this many delays at all, so that orders in which only one
/// thread is slow are frequent, too.
const DELAY_ONE_IN: u32 = 3;

/// One delay in this many yields the processor instead of spinning, so that
/// races between more threads than cores are found as well.
const YIELD_ONE_IN: u32 = 16;

static CHOSEN: LazyLock<Vec<String>> = LazyLock::new(|| {
    let list = std::env::var("WS_CHAOS").unwrap_or_default();
    let names = list.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(String::from)
        .collect()
});

static NEXT_SEED: LazyLock<AtomicU64> = LazyLock::new(|| {
    let seed = std::env::var("WS_CHAOS_SEED").ok();
    AtomicU64::new(seed.and_then(|text| text.parse().ok()).unwrap_or(1))
});

thread_local! {
    static RAND: RefCell<FastRand> =
        RefCell::new(FastRand::new(NEXT_SEED.fetch_add(1, Ordering::Relaxed)));
}

/// Marks a moment between two steps of a protocol and delays the thread there.
pub fn point(name: &'static str) {
    if !CHOSEN.is_empty()
        && !CHOSEN
            .iter()
            .any(|prefix| name.starts_with(prefix.as_str()))
    {
        return;
    }
    // A point does nothing while this thread's thread-locals are destroyed.
    let _ = RAND.try_with(|rand| {
        let mut rand = rand.borrow_mut();
        if rand.below(DELAY_ONE_IN) != 0 {
            return;
        }
        if rand.below(YIELD_ONE_IN) == 0 {
            std::thread::yield_now();
            return;
        }
        let delay = Duration::from_nanos(rand.below(MAX_DELAY_NANOS).into());
        let start = Instant::now();
        while start.elapsed() < delay {
            std::hint::spin_loop();
        }
    });
}
