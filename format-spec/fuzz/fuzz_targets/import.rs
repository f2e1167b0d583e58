//! Any bytes as another tool's recording: events, objects or an error, never a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kubereel_import::fuzzing::read(bytes));
