//! Any bytes as a damaged reel, and rows with valid headers behind them: no panic, and no event twice.
#![no_main]

use kubereel_format::{Reel, fuzzing, recover};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::LazyLock;

struct Place {
    hurt: PathBuf,
    new: PathBuf,
    _folder: tempfile::TempDir,
}

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    std::panic::set_hook(Box::new(|_| {}));
    let folder = tempfile::tempdir().expect("a temporary folder");
    Place {
        hurt: folder.path().join("hurt.reel"),
        new: folder.path().join("new.reel"),
        _folder: folder,
    }
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let place = &*PLACE;
    let mut file = bytes.to_vec();
    let (_, forged) = bytes.split_at(bytes.len().saturating_sub(256));
    for numbers in forged.chunks_exact(8) {
        let from = usize::from(numbers[4]) * 64;
        let content = bytes
            .get(from..from + usize::from(numbers[5]) * 16)
            .unwrap_or_default();
        file.extend(fuzzing::forged_row(
            [numbers[0], numbers[1], numbers[2], numbers[3]],
            content,
        ));
    }
    std::fs::write(&place.hurt, &file).expect("the hurt reel");
    let Ok(reel) = Reel::open(&place.hurt) else {
        return;
    };
    let mut seen = BTreeSet::new();
    for event in reel.scan().flatten() {
        assert!(seen.insert(event.head.seq), "an event twice");
        assert!(event.head.seq < reel.end());
    }
    // What can be read can be written, unless a forged name exceeds the limit.
    if recover(&reel, &place.new, |_| {}).is_ok() {
        let new = Reel::open(&place.new).expect("a recovered reel");
        assert!(new.damage().is_empty(), "{:?}", new.damage());
        std::fs::remove_file(&place.new).expect("removed");
    }
});
