//! Owns the first table: events a second on one core, from the socket to the file.

use crate::baseline;
use crate::cluster_life::{Life, STORAGES};
use crate::process::{Measured, SURE};
use anyhow::{Context as _, Result, ensure};
use kubereel_format::Reel;
use kubereel_tests::recording::settle;
use kubereel_tests::scripted::{Kubeconfig, ScriptedCluster};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Writes before the measurement, so that every object of it has its first version behind it.
const BEFORE: u64 = 5_000;

/// One run's times on processors, and the time by the clock.
#[derive(Debug, Clone, Copy)]
struct Run {
    ingest: Duration,
    finish: Duration,
    clock: Duration,
}

/// Measures and prints; leaves the last run's reel.
pub(crate) fn show(reel: &Path, events: u64, runs: u64) -> Result<()> {
    let mut ingests = Vec::new();
    let mut finishes = Vec::new();
    let mut clocks = Vec::new();
    for _ in 0..runs.max(1) {
        if reel.exists() {
            std::fs::remove_file(reel)?;
        }
        let run = run(reel, events)?;
        ingests.push(run.ingest);
        finishes.push(run.finish);
        clocks.push(run.clock);
    }
    let lines = baseline::watch_lines(reel)?;
    let skip = lines.len().saturating_sub(usize::try_from(events)?);
    let measured = lines.get(skip..).context("fewer lines than events")?;
    let parsings = (0..runs.max(1))
        .map(|_| baseline::parsing(measured))
        .collect::<Result<Vec<_>>>()?;
    let bytes: usize = measured.iter().map(Vec::len).sum();
    let rate = |time: Duration| events as f64 / time.as_secs_f64();
    let (ingest, parsing) = (rate(median(ingests)), rate(median(parsings)));
    println!(
        "{:<10} {:>8} {:>8} {:>12} {:>12} {:>6} {:>10} {:>12}",
        "ingest", "events", "MB", "ev/s a core", "Value ev/s", "ratio", "finish ms", "ev/s (clock)"
    );
    println!(
        "{:<10} {events:>8} {:>8.1} {ingest:>12.0} {parsing:>12.0} {:>6.2} {:>10.0} {:>12.0}",
        "generated",
        bytes as f64 / 1e6,
        ingest / parsing,
        median(finishes).as_secs_f64() * 1e3,
        rate(median(clocks)),
    );
    Ok(())
}

fn run(reel: &Path, events: u64) -> Result<Run> {
    let cluster = ScriptedCluster::start()?;
    let kubeconfig = reel.with_extension("kubeconfig");
    cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
    let mut life = Life::new();
    for _ in 0..BEFORE {
        life.step(&cluster)?;
    }
    let recorder = Measured::start(reel, &kubeconfig)?;
    settle_all(&cluster)?;
    let held = cluster.hold();
    let mut due = lines_sent(&cluster);
    for _ in 0..events {
        *due.entry(life.step(&cluster)?).or_default() += 1;
    }
    let (before, started) = (recorder.cpu()?, Instant::now());
    drop(held);
    cluster.wait_until("every line to be sent", SURE, |cluster| {
        let sent = lines_sent(cluster);
        due.iter()
            .all(|(storage, lines)| sent.get(storage) >= Some(lines))
            .then_some(())
    })?;
    settle_all(&cluster)?;
    let (after, clock) = (recorder.cpu()?, started.elapsed());
    let spent = recorder.finish()?;
    let kept = Reel::open(reel)?.event_count();
    ensure!(
        kept >= events,
        "only {kept} of {events} events were recorded"
    );
    Ok(Run {
        ingest: after.saturating_sub(before),
        finish: spent.cpu.saturating_sub(after),
        clock,
    })
}

/// How many lines went out on the last watch of each storage.
fn lines_sent(cluster: &ScriptedCluster) -> BTreeMap<&'static str, usize> {
    let requests = cluster.requests();
    let lines = |storage: &'static str| {
        let plural = storage.split('.').next().unwrap_or(storage);
        let mut watches = requests.iter().rev();
        let last = watches.find(|one| one.asked.is_watch() && one.asked.path.ends_with(plural));
        (storage, last.map_or(0, |one| one.progress().lines))
    };
    STORAGES.into_iter().map(lines).collect()
}

/// Brings the recorder to the end of everything written.
pub(crate) fn settle_all(cluster: &ScriptedCluster) -> Result<()> {
    for storage in STORAGES {
        settle(cluster, storage, SURE)?;
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
