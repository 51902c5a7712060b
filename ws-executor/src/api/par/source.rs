//! What a parallel loop can run over.

use std::ops::Range;

/// Items that can be divided: slices and ranges of whole numbers.
///
/// It is implemented for `&[T]`, `&mut [T]`, and `Range` of the integer types up to the
/// size of a pointer. No other crate can implement it.
pub trait Source: Sized + Send + sealed::Sealed {
    /// What the loop's closure gets.
    type Item;

    /// How many items there are.
    #[doc(hidden)]
    fn count(&self) -> usize;

    /// The first `count` items, and the others.
    #[doc(hidden)]
    fn split_at(self, count: usize) -> (Self, Self);

    /// Folds the items, in order.
    #[doc(hidden)]
    fn fold<R>(self, first: R, code: impl FnMut(R, Self::Item) -> R) -> R;

    /// Calls `code` with each item, in order.
    #[doc(hidden)]
    fn for_each(self, mut code: impl FnMut(Self::Item)) {
        self.fold((), |(), item| code(item));
    }
}

mod sealed {
    pub trait Sealed {}
}

impl<T: Sync> sealed::Sealed for &[T] {}

impl<'a, T: Sync> Source for &'a [T] {
    type Item = &'a T;

    fn count(&self) -> usize {
        (**self).len()
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        self.split_at(count)
    }

    fn fold<R>(self, first: R, code: impl FnMut(R, &'a T) -> R) -> R {
        self.iter().fold(first, code)
    }
}

impl<T: Send> sealed::Sealed for &mut [T] {}

impl<'a, T: Send> Source for &'a mut [T] {
    type Item = &'a mut T;

    fn count(&self) -> usize {
        (**self).len()
    }

    fn split_at(self, count: usize) -> (Self, Self) {
        self.split_at_mut(count)
    }

    fn fold<R>(self, first: R, code: impl FnMut(R, &'a mut T) -> R) -> R {
        self.iter_mut().fold(first, code)
    }
}

macro_rules! ranges {
    ($($number:ty)*) => {$(
        impl sealed::Sealed for Range<$number> {}

        impl Source for Range<$number> {
            type Item = $number;

            fn count(&self) -> usize {
                if self.start >= self.end {
                    return 0;
                }
                // The difference fits the unsigned type of the same size, and that type
                // fits a `usize`.
                self.end.wrapping_sub(self.start).cast_unsigned_to_usize()
            }

            fn split_at(self, count: usize) -> (Self, Self) {
                // `count` is at most `len`, so the sum is at most `end`. It may wrap on the way.
                let middle = self.start.wrapping_add(count as $number);
                (self.start..middle, middle..self.end)
            }

            fn fold<R>(self, first: R, code: impl FnMut(R, $number) -> R) -> R {
                Iterator::fold(self, first, code)
            }
        }
    )*};
}

ranges!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

/// A difference of two numbers, as a count.
trait Difference {
    fn cast_unsigned_to_usize(self) -> usize;
}

macro_rules! differences {
    ($($number:ty as $unsigned:ty,)*) => {$(
        impl Difference for $number {
            #[inline]
            fn cast_unsigned_to_usize(self) -> usize {
                let difference = self as $unsigned;
                usize::try_from(difference).expect("a range of more items than memory has bytes")
            }
        }
    )*};
}

differences!(
    u8 as u8,
    u16 as u16,
    u32 as u32,
    u64 as u64,
    usize as usize,
    i8 as u8,
    i16 as u16,
    i32 as u32,
    i64 as u64,
    isize as usize,
);
