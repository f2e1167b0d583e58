//! Any bytes as any part of a reel: an error or a value, never a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kubereel_format::fuzzing::decode(bytes));
