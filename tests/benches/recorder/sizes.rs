//! Owns the second table: bytes for each event of finished files.

use crate::baseline;
use anyhow::Result;
use std::path::Path;

/// Prints a row for each reel; one that is not there is said to be missing.
pub(crate) fn show(reels: &[(&str, &Path)]) -> Result<()> {
    println!(
        "{:<10} {:>8} {:>8} {:>10} {:>8} {:>8} {:>6}",
        "size", "events", "MB", "reel bytes", "B/event", "zstd-19", "ratio"
    );
    for (name, path) in reels {
        if !path.exists() {
            println!("{name:<10} skipped: there is no {}", path.display());
            continue;
        }
        let file_bytes = std::fs::metadata(path)?.len();
        let exported = baseline::exported(path)?;
        let each = |bytes: u64| bytes as f64 / exported.events as f64;
        println!(
            "{name:<10} {:>8} {:>8.1} {file_bytes:>10} {:>8.1} {:>8.1} {:>6.2}",
            exported.events,
            exported.bytes as f64 / 1e6,
            each(file_bytes),
            each(exported.compressed_bytes),
            file_bytes as f64 / exported.compressed_bytes as f64,
        );
    }
    Ok(())
}
