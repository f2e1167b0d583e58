//! Owns how much memory each command has at once, and how long it takes, on the largest reel. T is a
//! moment in its middle, U ten minutes later.

use crate::reels::Made;
use crate::table::millis;
use anyhow::{Context as _, Result};
use kubereel_tests::peak_memory;
use kubereel_tests::recording::program;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Runs each command on a reel, and prints a row for each.
pub(crate) fn show(made: &Made) -> Result<()> {
    let program = program()?;
    let middle = jiff::Timestamp::from_microsecond(made.middle.micros)?.to_string();
    let later = jiff::Timestamp::from_microsecond(made.middle.micros + 600_000_000)?.to_string();
    let reel = made.reel.to_str().context("a reel's path")?;
    let one = "clusteroperators/image-registry";
    let asked: [&[&str]; 12] = [
        &["info", reel],
        &["get", reel, one, "--at", &middle, "-o", "json"],
        &["get", reel, "pods", "-A", "--at", &middle],
        &["get", reel, "pods", "-A", "--at", &middle, "-o", "json"],
        &["get", reel, "events", "-A", "--at", &middle],
        &["history", reel, one],
        &["blame", reel, one, "--at", &middle],
        &["describe", reel, one, "--at", &middle],
        &["events", reel, "-A"],
        &["diff", reel, "--from", &middle, "--to", &later],
        &[
            "diff", reel, "--from", &middle, "--to", &later, "pods", "-A",
        ],
        &["export", reel],
    ];
    println!(
        "{:<60} {:>8} {:>10} {:>10} {:>8}",
        "command", "events", "took ms", "peak MB", "ended"
    );
    for args in asked {
        let started = Instant::now();
        let mut child = Command::new(&program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let watcher = peak_memory::watch(child.id())?;
        // Its end is seen by both: it stays there for the watcher until it is waited for.
        let status = child.wait()?;
        let took = started.elapsed();
        let peak = watcher.join().ok().flatten();
        let peak = peak.map_or_else(
            || "too short".to_owned(),
            |kib| format!("{:.1}", kib as f64 * 1024.0 / 1e6),
        );
        let words: Vec<&str> = args
            .iter()
            .map(|word| match *word {
                word if word == reel => "REEL",
                word if word == middle => "T",
                word if word == later => "U",
                word => word,
            })
            .collect();
        println!(
            "{:<60} {:>8} {:>10.0} {peak:>10} {:>8}",
            words.join(" "),
            made.events,
            millis(took),
            status
                .code()
                .map_or_else(|| "killed".to_owned(), |code| code.to_string()),
        );
    }
    Ok(())
}
