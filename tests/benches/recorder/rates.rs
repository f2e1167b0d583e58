//! Events a second on one core, from the socket to the file, beside parsing every line into a `serde_json::Value`.

use crate::life::{Life, STORAGES};
use crate::measured::{Measured, SURE, own_cpu};
use anyhow::{Context as _, Result, ensure};
use kubereel_format::Reel;
use kubereel_tests::recording::settle;
use kubereel_tests::scripted::{Kubeconfig, ScriptedCluster};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// The lines of a reel as the server sent them on its watches.
fn watch_lines(reel: &Path) -> Result<Vec<Vec<u8>>> {
    let reel = Reel::open(reel)?;
    let lines = reel.scan().map(|event| {
        let event = event?;
        let mut line = format!(r#"{{"type":"{}","object":"#, event.head.kind.as_str()).into_bytes();
        line.extend_from_slice(&event.body);
        line.push(b'}');
        Ok(line)
    });
    lines.collect()
}

/// The time on a processor that parsing all the lines takes.
fn parsing(lines: &[Vec<u8>]) -> Result<Duration> {
    let started = own_cpu()?;
    for line in lines {
        let value: Value = serde_json::from_slice(line)?;
        std::hint::black_box(&value);
    }
    Ok(own_cpu()?.saturating_sub(started))
}

/// Writes before the measurement, so that every object of it has its first version behind it.
const BEFORE: u64 = 5_000;

/// One run's times on processors, and the time by the clock.
#[derive(Debug, Clone, Copy)]
struct Run {
    ingest: Duration,
    finish: Duration,
    clock: Duration,
}

/// What a recorder takes in, in events a second of a core, and what that was measured with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ingest {
    pub(crate) recorder: f64,
    /// Only parsing the same lines into values.
    pub(crate) parsing: f64,
    bytes: usize,
    finish: Duration,
    clock: f64,
}

/// Measures some runs, and returns what the median is; leaves the last run's reel.
pub(crate) fn measure(reel: &Path, events: u64, runs: u64) -> Result<Ingest> {
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
    let lines = watch_lines(reel)?;
    let skip = lines.len().saturating_sub(usize::try_from(events)?);
    let measured = lines.get(skip..).context("fewer lines than events")?;
    let parsings = (0..runs.max(1))
        .map(|_| parsing(measured))
        .collect::<Result<Vec<_>>>()?;
    let rate = |time: Duration| events as f64 / time.as_secs_f64();
    Ok(Ingest {
        recorder: rate(median(ingests)),
        parsing: rate(median(parsings)),
        bytes: measured.iter().map(Vec::len).sum(),
        finish: median(finishes),
        clock: rate(median(clocks)),
    })
}

impl Ingest {
    /// Prints a table.
    pub(crate) fn show(&self, events: u64) {
        println!(
            "{:<10} {:>8} {:>8} {:>12} {:>12} {:>6} {:>10} {:>12}",
            "ingest",
            "events",
            "MB",
            "ev/s a core",
            "Value ev/s",
            "ratio",
            "finish ms",
            "ev/s (clock)"
        );
        println!(
            "{:<10} {events:>8} {:>8.1} {:>12.0} {:>12.0} {:>6.2} {:>10.0} {:>12.0}",
            "generated",
            self.bytes as f64 / 1e6,
            self.recorder,
            self.parsing,
            self.recorder / self.parsing,
            self.finish.as_secs_f64() * 1e3,
            self.clock,
        );
    }
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
    wait_for_lines(&cluster, &due);
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

/// Waits until every line went out on the last watches, or no more do: a watch before the last may have sent a part.
fn wait_for_lines(cluster: &ScriptedCluster, due: &BTreeMap<&'static str, usize>) {
    let mut sent = lines_sent(cluster);
    let mut changed = Instant::now();
    while due
        .iter()
        .any(|(storage, lines)| sent.get(storage) < Some(lines))
        && changed.elapsed() < QUIET
    {
        std::thread::sleep(Duration::from_millis(2));
        let now = lines_sent(cluster);
        if now != sent {
            (sent, changed) = (now, Instant::now());
        }
    }
}

/// A recorder that is sent no line for this long has all that it asked for.
const QUIET: Duration = Duration::from_secs(2);

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
