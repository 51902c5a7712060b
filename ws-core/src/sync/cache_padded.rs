//! Keeps two hot words off one cache line.

use core::ops::Deref;

/// Aligns its content so that no other data shares its cache line.
///
/// The alignment is 128 bytes on x86-64 and AArch64. There the prefetcher fetches lines
/// in pairs (Intel 64 and IA-32 Architectures Optimization Reference Manual, on the
/// spatial prefetcher), or lines have that size (Apple's cores). It is 64 bytes elsewhere.
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64"), repr(align(128)))]
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    repr(align(64))
)]
#[derive(Debug, Default)]
pub struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    /// Pads `value`.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
