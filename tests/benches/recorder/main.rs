//! The recorder as users run it, beside its baselines in the same run: how many events a second one
//! core takes in, how large the finished file is, how much memory it had at once.
//!
//! `cargo bench -p kubereel-tests --bench recorder`. Other work on the machine is not in the
//! numbers: times are times on a processor, and memory is the process's own.
//! `KUBEREEL_BENCH_EVENTS` and `KUBEREEL_BENCH_RUNS` ask for other than the usual counts.
//!
//! The second table: bytes for each event of finished files, beside `zstd -19 --long=27` over the exported lines.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

use anyhow::{Context as _, Result, ensure};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

mod life;
mod live_objects;
mod measured;
mod rates;
#[path = "../baseline/zstd_19.rs"]
mod zstd_19;

/// A number the caller may ask for.
fn asked(name: &str, usual: u64) -> Result<u64> {
    match std::env::var(name) {
        Ok(count) => count.parse().with_context(|| format!("{name}={count}")),
        Err(_) => Ok(usual),
    }
}

fn main() -> Result<()> {
    let events = asked("KUBEREEL_BENCH_EVENTS", 100_000)?;
    let runs = asked("KUBEREEL_BENCH_RUNS", 3)?;
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("churn.reel");
    rates::measure(&reel, events, runs)?.show(events);
    println!();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    show_sizes(&[("generated", &reel), ("demo.reel", &demo)])?;
    println!();
    live_objects::show_memory()
}

/// What the export of a reel weighs, and what `zstd -19 --long=27` makes of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exported {
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    pub(crate) compressed_bytes: u64,
}

/// Compresses what `kubereel export` writes.
pub(crate) fn exported(reel: &Path) -> Result<Exported> {
    let mut export = Command::new(kubereel_tests::recording::program()?)
        .arg("export")
        .arg(reel)
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = export.stdout.take().context("no pipe")?;
    let (mut events, mut bytes) = (0, 0);
    let compressed_bytes = zstd_19::zstd_19(|out| {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            out.write_all(&line)?;
            events += 1;
            bytes += u64::try_from(line.len())?;
            line.clear();
        }
        Ok(())
    })?;
    let status = export.wait()?;
    ensure!(status.success(), "export: {status}");
    Ok(Exported {
        events,
        bytes,
        compressed_bytes,
    })
}

/// Prints a row for each reel; one that is not there is said to be missing.
pub(crate) fn show_sizes(reels: &[(&str, &Path)]) -> Result<()> {
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
        let exported = exported(path)?;
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
