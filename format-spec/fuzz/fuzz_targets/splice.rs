//! Any two texts: the delta gives the second back from the first.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kubereel_format::fuzzing::splice(bytes));
