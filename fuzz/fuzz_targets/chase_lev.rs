//! The Chase-Lev deque against its oracle, led by coverage.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tests::oracle::chase_lev::check(data));
