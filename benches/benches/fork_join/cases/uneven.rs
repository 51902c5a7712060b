//! A loop whose parts take 100, 100, 200 and 350 ms, scaled down to a tenth. Dealt out
//! beforehand to four workers it would keep them busy for 53 % of the time.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ws_core::FastRand;

use crate::case::{Case, Loop};
use crate::pool::Pool;

pub(crate) struct Uneven;

/// How long an item of each part takes, in µs.
const PARTS: [usize; 4] = [10, 10, 20, 35];

/// The items of a part.
const ITEMS: usize = 1_000;

pub(crate) const NAME: &str = "uneven loop";

impl Case for Uneven {
    const REPEATS: usize = 1;
    const LOOP: Option<Loop> = Some(Loop {
        items: ITEMS * PARTS.len(),
    });

    type Input = ();

    fn name() -> String {
        NAME.into()
    }

    fn input() {}

    fn run<P: Pool>(scope: &mut P::Scope<'_>, (): &mut ()) -> u64 {
        let microsecond = rounds_per_microsecond();
        P::for_each(scope, 0..ITEMS * PARTS.len(), &|item| {
            compute(PARTS[item / ITEMS] * microsecond);
        });
        0
    }
}

fn compute(rounds: usize) {
    let mut rand = FastRand::new(rounds as u64);
    for _ in 0..rounds {
        black_box(rand.next_u32());
    }
}

/// About as many rounds as take a microsecond; the same for everybody.
fn rounds_per_microsecond() -> usize {
    static ROUNDS: OnceLock<usize> = OnceLock::new();
    *ROUNDS.get_or_init(|| {
        const TRIED: usize = 100_000;
        let time = |_| {
            let start = Instant::now();
            compute(TRIED);
            start.elapsed()
        };
        // The quickest: whatever disturbs makes it slower.
        let least = (0..20).map(time).min().unwrap_or_default();
        let micros = least.max(Duration::from_micros(1)).as_secs_f64() * 1e6;
        (TRIED as f64 / micros) as usize
    })
}
