//! The recorder as users run it, beside its baselines in the same run: how many events a second one
//! core takes in, how large the finished file is, how much memory it had at once.
//!
//! `cargo bench -p kubereel-tests --bench recorder`. Other work on the machine is not in the
//! numbers: times are times on a processor, and memory is the process's own.
//! `KUBEREEL_BENCH_EVENTS` and `KUBEREEL_BENCH_RUNS` ask for other than the usual counts.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

mod baseline;
mod cluster_life;
mod memory;
mod process;
mod rates;
mod sizes;

use anyhow::{Context as _, Result};
use std::path::Path;

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
    rates::show(&reel, events, runs)?;
    println!();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    sizes::show(&[("generated", &reel), ("demo.reel", &demo)])?;
    println!();
    memory::show()
}
