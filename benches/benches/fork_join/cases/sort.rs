//! A merge sort whose merges are divided, too, so that nothing in it is sequential.

use ws_core::FastRand;

use crate::case::Case;
use crate::pool::Pool;

pub(crate) struct MergeSort;

const ITEMS: usize = 1_000_000;

/// Pieces of this length are sorted, and merged, without joins.
const PIECE: usize = 2_048;

pub(crate) struct Input {
    data: Vec<u32>,
    buffer: Vec<u32>,
}

impl Case for MergeSort {
    const REPEATS: usize = 1;

    type Input = Input;

    fn name() -> String {
        "merge sort of 10^6".into()
    }

    fn input() -> Input {
        let mut input = Input {
            data: vec![0; ITEMS],
            buffer: vec![0; ITEMS],
        };
        Self::prepare(&mut input);
        input
    }

    fn prepare(input: &mut Input) {
        let mut rand = FastRand::new(7);
        input.data.fill_with(|| rand.next_u32());
    }

    fn run<P: Pool>(scope: &mut P::Scope<'_>, input: &mut Input) -> u64 {
        sort::<P>(scope, &mut input.data, &mut input.buffer);
        // Its time is a thousandth of that of the sort.
        let weigh = |sum: u64, (place, &item): (usize, &u32)| {
            sum.wrapping_add(u64::from(item).wrapping_mul(place as u64))
        };
        input.data.iter().enumerate().fold(0, weigh)
    }
}

/// Sorts `data`; `buffer` is as long.
fn sort<P: Pool>(scope: &mut P::Scope<'_>, data: &mut [u32], buffer: &mut [u32]) {
    if data.len() <= PIECE {
        return data.sort_unstable();
    }
    let middle = data.len() / 2;
    let (left, right) = data.split_at_mut(middle);
    let (left_out, right_out) = buffer.split_at_mut(middle);
    P::join(
        scope,
        |scope| sort_into::<P>(scope, left, left_out),
        |scope| sort_into::<P>(scope, right, right_out),
    );
    merge::<P>(scope, left_out, right_out, data);
}

/// Sorts `data` into `out`, which is as long.
fn sort_into<P: Pool>(scope: &mut P::Scope<'_>, data: &mut [u32], out: &mut [u32]) {
    if data.len() <= PIECE {
        out.copy_from_slice(data);
        return out.sort_unstable();
    }
    let middle = data.len() / 2;
    let (left, right) = data.split_at_mut(middle);
    let (left_buffer, right_buffer) = out.split_at_mut(middle);
    P::join(
        scope,
        |scope| sort::<P>(scope, left, left_buffer),
        |scope| sort::<P>(scope, right, right_buffer),
    );
    merge::<P>(scope, left, right, out);
}

/// Merges two sorted pieces: all up to the median of the longer one, and all beyond.
fn merge<P: Pool>(scope: &mut P::Scope<'_>, a: &[u32], b: &[u32], out: &mut [u32]) {
    if out.len() <= PIECE {
        return merge_here(a, b, out);
    }
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let middle = long.len() / 2;
    let same = short.partition_point(|&item| item < long[middle]);
    let (long_low, long_high) = long.split_at(middle);
    let (short_low, short_high) = short.split_at(same);
    let (low, high) = out.split_at_mut(middle + same);
    P::join(
        scope,
        |scope| merge::<P>(scope, long_low, short_low, low),
        |scope| merge::<P>(scope, long_high, short_high, high),
    );
}

fn merge_here<'a>(mut a: &'a [u32], mut b: &'a [u32], out: &mut [u32]) {
    for place in out {
        let from = match (a.first(), b.first()) {
            (Some(x), Some(y)) if y < x => &mut b,
            (Some(_), _) => &mut a,
            (None, _) => &mut b,
        };
        *place = from[0];
        *from = &from[1..];
    }
}
