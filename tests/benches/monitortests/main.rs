//! What all built-in monitortests, and the rules about problems alone, take over a reel, as it grows, beside an evaluation of every event.
//!
//! `cargo bench -p kubereel-tests --bench monitortests`. The reels are those of the queries' benchmark.
//! `KUBEREEL_BENCH_SIZES` (for example `100000,300000,1000000`) asks for other sizes,
//! `KUBEREEL_BENCH_NAIVE` for another largest size of the naive evaluation. Each row is a process of its
//! own, so that its memory is its own; times are times on a processor.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

#[path = "../queries/reels.rs"]
#[expect(dead_code, reason = "the queries ask for more of a reel")]
mod reels;
mod run;

use crate::run::{peak_mib, run, spent};
use anyhow::{Context as _, Result, ensure};
use kubereel_monitortests::{CaseVerdict as Verdict, MonitorTest, RuleSet, builtin_rule_files};
use kubereel_problems::{PROBLEMS_MONITOR, monitor_tests};
use std::path::Path;
use std::process::Command;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Tells a process which row is its own: tests and reel.
const ROW: &str = "KUBEREEL_BENCH_ROW";

fn main() -> Result<()> {
    if let Ok(row) = std::env::var(ROW) {
        let (tests, reel) = row.split_once(' ').context("a row is tests and a reel")?;
        return show(tests, Path::new(reel));
    }
    let sizes = std::env::var("KUBEREEL_BENCH_SIZES");
    let sizes = sizes.unwrap_or_else(|_| "100000,300000,1000000".into());
    let most_naive: u64 = match std::env::var("KUBEREEL_BENCH_NAIVE") {
        Ok(most) => most.parse().context("KUBEREEL_BENCH_NAIVE")?,
        Err(_) => 300_000,
    };
    println!(
        "{:<22} {:>8} {:>8} {:>9} {:>9} {:>11} {:>8} {:>8} {:>9} {:>7}",
        "tests",
        "events",
        "CPU s",
        "µs/event",
        "read",
        "of them told",
        "share",
        "asked",
        "cases",
        "MiB"
    );
    for size in sizes.split(',') {
        let events: u64 = size.trim().parse().context("KUBEREEL_BENCH_SIZES")?;
        let reel = reels::get(events)?.reel;
        row("intervals", &reel)?;
        row("all", &reel)?;
        row("rules", &reel)?;
        row("problems", &reel)?;
        if events <= most_naive {
            row("naive-rules", &reel)?;
        }
    }
    Ok(())
}

/// Lets a process of its own measure a row.
fn row(tests: &str, reel: &Path) -> Result<()> {
    let status = Command::new(std::env::current_exe()?)
        .env(ROW, format!("{tests} {}", reel.display()))
        .status()?;
    ensure!(status.success(), "{tests}: {status}");
    Ok(())
}

fn show(tests: &str, reel: &Path) -> Result<()> {
    let rules = RuleSet::read(builtin_rule_files())?;
    let chosen: Vec<Box<dyn MonitorTest>> = match tests {
        "all" => monitor_tests(),
        "rules" => rules.tests(),
        "problems" => {
            let mut tests = monitor_tests();
            tests.retain(|test| test.about().monitor == PROBLEMS_MONITOR);
            tests
        }
        "intervals" => Vec::new(),
        _ => rules.naive_tests(),
    };
    let started = spent();
    let report = run(reel, chosen)?;
    let took = spent().saturating_sub(started);
    let work = report.work;
    let share = work.told as f64 * 100.0 / work.events.max(1) as f64;
    println!(
        "{tests:<22} {:>8} {:>8.2} {:>9.2} {:>9} {:>11} {share:>7.1}% {:>8} {:>9} {:>7}",
        work.events,
        took.as_secs_f64(),
        took.as_secs_f64() * 1e6 / work.events.max(1) as f64,
        work.read,
        work.told,
        work.asked,
        report.outcomes.len(),
        peak_mib()?,
    );
    let wrong = report.count(Verdict::Error);
    ensure!(wrong == 0, "{wrong} cases are in error");
    Ok(())
}
