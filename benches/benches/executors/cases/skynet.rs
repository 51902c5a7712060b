//! Skynet: a tree of tasks, ten children each; a leaf returns its number, a node
//! the sum of its children's.
//!
//! After Atemerev's skynet benchmark. It shows what many short tasks cost that
//! are spawned and awaited on the workers themselves.

use std::pin::Pin;

use benches::meter::Meter;

use crate::case::{Case, Rules};
use crate::contender::{Contender, Spawn};

const CHILDREN: usize = 10;

pub(crate) struct Skynet<const LEAVES: usize>;

impl<const LEAVES: usize> Case for Skynet<LEAVES> {
    const UNIT: &'static str = "leaf";
    const RULES: Rules = Rules::WITH_FLOOR;

    fn name() -> String {
        format!("skynet {LEAVES}")
    }

    fn run<C: Contender>(contender: &C, meter: &mut Meter) {
        let repeats = 20_000_usize.div_ceil(LEAVES);
        let inside = contender.inside();
        let expected = (0..LEAVES as u64).sum::<u64>();
        meter.time(LEAVES * repeats, || {
            for _ in 0..repeats {
                let sum = contender.block_on(contender.spawn(node(inside.clone(), 0, LEAVES)));
                assert_eq!(sum, expected);
            }
        });
    }
}

/// The leaves from `first` on, so many of them. Leaves are plain tasks; the box of
/// a node breaks the cycle of types, and everybody pays for it.
fn node<S: Spawn + Clone + Send + Sync + 'static>(
    spawner: S,
    first: usize,
    leaves: usize,
) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        let share = leaves / CHILDREN;
        let mut children = Vec::with_capacity(CHILDREN);
        for child in 0..CHILDREN {
            let first = first + child * share;
            children.push(if share == 1 {
                spawner.spawn(async move { first as u64 })
            } else {
                spawner.spawn(node(spawner.clone(), first, share))
            });
        }
        let mut sum = 0;
        for child in children {
            sum += child.await;
        }
        sum
    })
}
