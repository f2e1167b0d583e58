//! Any bytes as a modelled block, and any texts as its bodies: they come back.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kubereel_format::fuzzing::model(bytes));
