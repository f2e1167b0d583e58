//! Any bytes as a k8shark capture, a SimKube trace, an audit log, a git bundle, and as files of a
//! must-gather: their content or an error, never a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kubereel_import::fuzzing::formats(bytes);
    // Names and contents in turn, split at zeros.
    let words: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    let files: Vec<(String, Vec<u8>)> = words
        .chunks(2)
        .map(|pair| {
            let name = pair.first().copied().unwrap_or_default();
            let content = pair.get(1).copied().unwrap_or_default();
            (String::from_utf8_lossy(name).into_owned(), content.to_vec())
        })
        .collect();
    kubereel_import::fuzzing::gathered(&files);
});
