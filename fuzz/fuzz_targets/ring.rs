//! The ring against its oracle, led by coverage.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tests::oracle::ring::check(data));
