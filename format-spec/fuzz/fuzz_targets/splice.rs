//! Any two texts: the delta returns the second from the first.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kubereel_format::fuzzing::splice(bytes));
