//! How many ways there are to put eleven queens on a board: an irregular tree, in which
//! many branches end early.

use std::hint::black_box;

use crate::case::Case;
use crate::pool::Pool;

pub(crate) struct Queens;

const SIZE: u32 = 11;

impl Case for Queens {
    const REPEATS: usize = 2;

    type Input = ();

    fn name() -> String {
        format!("{SIZE} queens")
    }

    fn input() {}

    fn run<P: Pool>(scope: &mut P::Scope<'_>, (): &mut ()) -> u64 {
        let empty = Board {
            all: (1 << black_box(SIZE)) - 1,
            columns: 0,
            rising: 0,
            falling: 0,
        };
        ways::<P>(scope, empty)
    }
}

/// Which fields of the next row are attacked; a bit for each column.
#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    rising: u32,
    falling: u32,
}

impl Board {
    fn free(self) -> u32 {
        self.all & !(self.columns | self.rising | self.falling)
    }

    fn with_queen(self, field: u32) -> Self {
        Self {
            columns: self.columns | field,
            rising: (self.rising | field) << 1,
            falling: (self.falling | field) >> 1,
            ..self
        }
    }
}

/// The ways to fill the rest of the board.
fn ways<P: Pool>(scope: &mut P::Scope<'_>, board: Board) -> u64 {
    if board.columns == board.all {
        return 1;
    }
    ways_with::<P>(scope, board, board.free())
}

/// Those with a queen on one of the `free` fields of the next row.
fn ways_with<P: Pool>(scope: &mut P::Scope<'_>, board: Board, free: u32) -> u64 {
    let field = free & free.wrapping_neg();
    match free & !field {
        _ if field == 0 => 0,
        0 => ways::<P>(scope, board.with_queen(field)),
        others => {
            let (a, b) = P::join(
                scope,
                |scope| ways::<P>(scope, board.with_queen(field)),
                |scope| ways_with::<P>(scope, board, others),
            );
            a + b
        }
    }
}
