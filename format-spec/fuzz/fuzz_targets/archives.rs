//! Any bytes as a compressed file, a tar and a zip archive, and as a reel inside one: files within
//! the limits or an error, never a panic, never more than the limits allow.
#![no_main]

use kubereel_unpack::{
    ArchiveFile, PlainInput, ReelCache, UnpackError, UnpackLimits, locate, walk_tar, walk_zip,
};
use std::io::{BufReader, Read, Write};

const LIMITS: UnpackLimits = UnpackLimits {
    files: 1000,
    bytes: 1 << 24,
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(mut plain) = PlainInput::open(bytes, LIMITS.bytes) {
        let read = std::io::copy(&mut plain, &mut std::io::sink());
        assert!(read.is_err() || read.is_ok_and(|read| read <= LIMITS.bytes.max(size(bytes))));
    }
    if let Ok(plain) = PlainInput::open(BufReader::new(bytes), LIMITS.bytes) {
        walk(|visit| walk_tar(plain, LIMITS, visit).map(drop));
    }
    walk(|visit| walk_tar(bytes, LIMITS, visit).map(drop));
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("room");
    walk(|visit| walk_zip(file.as_file(), LIMITS, visit).map(drop));
    let cache = ReelCache {
        folder: None,
        reel_bytes: LIMITS.bytes,
        all_bytes: LIMITS.bytes,
    };
    if let Ok(found) = locate(file.path(), &cache, |_| {}) {
        let found = std::fs::metadata(found.path()).expect("it is there").len();
        assert!(found <= LIMITS.bytes.max(size(bytes)), "{found} bytes");
    }
});

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).expect("a length")
}

/// Walks over all files, and counts what is handed out.
fn walk(
    each: impl FnOnce(
        &mut dyn FnMut(ArchiveFile<'_>) -> Result<(), UnpackError>,
    ) -> Result<(), UnpackError>,
) {
    let (mut files, mut sum) = (0, 0);
    let _ended = each(&mut |file| {
        files += 1;
        let read = std::io::copy(&mut file.content.take(LIMITS.bytes + 1), &mut std::io::sink());
        sum += read.unwrap_or(0);
        Ok(())
    });
    assert!(files <= LIMITS.files && sum <= LIMITS.bytes, "{files} files, {sum} bytes");
}
