//! Owns the sizes of reels of real recordings, beside `zstd -19 --long=27` of the lines that they
//! export: what an import drops is in neither.

use crate::reels;
use anyhow::Result;
use kubereel_history::{Exported, Timeline};
use kubereel_tests::shared_data::shared_data;
use std::io::Write as _;
use std::path::Path;

/// What was promised of a finished reel.
const RATIO_MOST: f64 = 1.6;
/// The recordings, by their names.
const RECORDINGS: [(&str, &str); 2] = [
    (
        "okd412-sno-install",
        "okd412-sno-install-run1/events.jsonl.zst",
    ),
    ("cvo-upgrade", "cvo-upgrade/events.jsonl.zst"),
];

/// Prints a row for each recording; one that is not there is said to be missing.
pub(crate) fn show() -> Result<()> {
    println!(
        "{:<34} {:>10} {:>10} {:>10} {:>6} {:>9}",
        "finished reel", "lines", "reel", "zstd-19", "ratio", "at most"
    );
    for (name, file) in RECORDINGS {
        let Some(path) = shared_data(file) else {
            println!("{name:<34} skipped: there is no {file}");
            continue;
        };
        let folder = tempfile::tempdir()?;
        let reel = folder.path().join("real.reel");
        reels::import(&path, &reel)?;
        let reel_bytes = std::fs::metadata(&reel)?.len();
        let (lines_bytes, compressed_bytes) = compress(&reel)?;
        println!(
            "{name:<34} {lines_bytes:>10} {reel_bytes:>10} {compressed_bytes:>10} {:>6.2} {RATIO_MOST:>9}",
            reel_bytes as f64 / compressed_bytes as f64,
        );
    }
    Ok(())
}

/// The length of the lines, and of what `zstd -19 --long=27` makes of them.
fn compress(reel: &Path) -> Result<(u64, u64)> {
    let timeline = Timeline::open(reel)?;
    let mut lines = Vec::new();
    Exported::write_jsonl(&timeline, &mut lines, |_| {})?;
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 19)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(27)?;
    encoder.write_all(&lines)?;
    let lines_bytes = u64::try_from(lines.len())?;
    Ok((lines_bytes, u64::try_from(encoder.finish()?.len())?))
}
