//! What questions to a reel take, beside a replay that reads everything, in the same run.
//!
//! `cargo bench -p kubereel-tests --bench queries`. The reels are made once of the demo's
//! recording, and kept in the cache folder until the lines or the format have other bytes.
//! `KUBEREEL_BENCH_SIZES` (for example `200000,1000000`) asks for other sizes,
//! `KUBEREEL_BENCH_ASKED` for another number of questions. Times are times on a processor; only
//! those of whole commands are times of the clock.
//!
//! How much memory each command has at once, and how long it takes, on the largest reel. T is a
//! moment in its middle, U ten minutes later.
//!
//! The sizes of reels of real recordings, beside `zstd -19 --long=27` of the lines that they
//! export: what an import drops is in neither.
//!
//! The rows that are printed.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

use crate::naive::{Naive, replay};
use crate::questions::{
    Chance, StateTimes, millis, objects, open, percentile, spent, state, states,
};
use crate::reels::BenchReel;
use anyhow::{Context as _, Result, ensure};
use kubereel_format::Seq;
use kubereel_history::{Cut, Exported, Timeline, Track};
use kubereel_tests::peak_memory;
use kubereel_tests::recording::program;
use kubereel_tests::shared_data::shared_data;
use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod naive;
mod questions;
mod reels;
#[path = "../baseline/zstd_19.rs"]
mod zstd_19;

fn main() -> Result<()> {
    let sizes = std::env::var("KUBEREEL_BENCH_SIZES").unwrap_or_else(|_| "200000,1000000".into());
    let asked = match std::env::var("KUBEREEL_BENCH_ASKED") {
        Ok(count) => count.parse().context("KUBEREEL_BENCH_ASKED")?,
        Err(_) => 1_000,
    };
    let mut largest = None;
    head();
    for size in sizes.split(',') {
        let events = size.trim().parse().context("KUBEREEL_BENCH_SIZES")?;
        let made = reels::get(events)?;
        let naive = replay(&made.lines, |ts| {
            let at: jiff::Timestamp = ts.trim_matches('"').parse()?;
            Ok(at.as_microsecond() > made.middle.micros)
        })?;
        show_questions(&made, &naive, asked)?;
        largest = Some(made);
    }
    println!();
    show_sizes()?;
    if let Some(made) = &largest {
        println!();
        show_commands(made)?;
    }
    Ok(())
}

/// How often a reel is opened.
const OPENED: usize = 5;

/// Asks everything, and prints the rows.
pub(crate) fn show_questions(made: &BenchReel, naive: &Naive, asked: u64) -> Result<()> {
    let row = |question, times, promised_millis| Row {
        question,
        events: made.events,
        times,
        naive: naive.took,
        promised_millis,
    };
    let opened = (0..OPENED)
        .map(|_| open(&made.reel, made.middle))
        .collect::<Result<Vec<_>>>()?;
    row("open, to the first answer", opened, Some(300.0)).print();
    let timeline = Timeline::open(&made.reel)?;
    check(&timeline, made, naive)?;
    let objects = objects(&timeline, asked)?;
    row("an object at a time", objects, Some(10.0)).print();
    for (jump, step, is_forward) in [
        ("a jump and a step forward", "a further step forward", true),
        ("a jump and a step back", "a further step back", false),
    ] {
        // A reel opened anew: what was left in memory must not help.
        let fresh = Timeline::open(&made.reel)?;
        let Walked { jumps, steps } = walk(&fresh, asked, is_forward)?;
        row(jump, jumps, Some(10.0)).print();
        row(step, steps, None).print();
    }
    for (question, with_events) in [
        ("the whole state", true),
        ("the whole state without Events", false),
    ] {
        let StateTimes { times, live } = states(&timeline, with_events)?;
        let bound = |live: Option<&usize>| live.copied().unwrap_or_default();
        println!(
            "  {} to {} objects live:",
            bound(live.first()),
            bound(live.last())
        );
        row(question, times, Some(250.0)).print();
    }
    Ok(())
}

/// How many steps are taken from each place.
const STEPS: u64 = 20;

/// What a walk took.
struct Walked {
    /// To a place anywhere, and the first step from there: nothing around it was read before.
    jumps: Vec<Duration>,
    /// The further ones.
    steps: Vec<Duration>,
}

/// Steps from places all over the reel: each step with the body that came and the one before it.
fn walk(timeline: &Timeline, asked: u64, is_forward: bool) -> Result<Walked> {
    let mut chance = Chance::new();
    let end = timeline.reel().end().0;
    let mut walked = Walked {
        jumps: Vec::new(),
        steps: Vec::new(),
    };
    for _ in 0..asked / STEPS {
        let below = Seq(chance.between(STEPS, end - STEPS));
        let wall = timeline.reel().stamp(below).context("no such record")?.wall;
        let cut = Cut::Arrival { below, wall };
        let mut started = spent();
        let mut cursor = timeline.cursor(Track::Everything, cut);
        for place in 0..=STEPS {
            let step = if is_forward {
                cursor.forward()
            } else {
                cursor.back()
            };
            let Some(step) = step else { break };
            std::hint::black_box(timeline.step_bodies(&step)?);
            let now = spent();
            let took = now.saturating_sub(started);
            if place == 0 {
                walked.jumps.push(took);
            } else {
                walked.steps.push(took);
            }
            started = now;
        }
    }
    Ok(walked)
}

/// The fast answer must be the slow one's.
fn check(timeline: &Timeline, made: &BenchReel, naive: &Naive) -> Result<()> {
    let expected: HashSet<&[u8]> = naive.state.values().map(|body| body.as_bytes()).collect();
    let found = AtomicUsize::new(0);
    let all = state(timeline, made.middle, true, |body| {
        found.fetch_add(usize::from(expected.contains(body)), Ordering::Relaxed);
    })?;
    let found = found.into_inner();
    ensure!(
        all == expected.len() && found == all,
        "{found} of {all} objects are as in the naive replay, which has {}",
        expected.len()
    );
    Ok(())
}

/// Runs each command on a reel, and prints a row for each.
pub(crate) fn show_commands(made: &BenchReel) -> Result<()> {
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
pub(crate) fn show_sizes() -> Result<()> {
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

/// Returns the length of the lines, and of what `zstd -19 --long=27` makes of them.
fn compress(reel: &Path) -> Result<(u64, u64)> {
    let timeline = Timeline::open(reel)?;
    let mut lines = Vec::new();
    Exported::write_jsonl(&timeline, &mut lines, |_| {})?;
    let compressed_bytes = zstd_19::zstd_19(|out| Ok(out.write_all(&lines)?))?;
    Ok((u64::try_from(lines.len())?, compressed_bytes))
}

/// A question, and how long answers took.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) question: &'a str,
    pub(crate) events: u64,
    pub(crate) times: Vec<Duration>,
    /// What reading everything takes to the same answer.
    pub(crate) naive: Duration,
    /// What was promised of the 99th percentile, in milliseconds.
    pub(crate) promised_millis: Option<f64>,
}

pub(crate) fn head() {
    println!(
        "{:<34} {:>8} {:>6} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}",
        "question",
        "events",
        "asked",
        "p50 ms",
        "p99 ms",
        "max ms",
        "naive ms",
        "naive/p50",
        "at most"
    );
}

impl Row<'_> {
    pub(crate) fn print(mut self) {
        self.times.sort_unstable();
        let at = |hundredths| percentile(&self.times, hundredths);
        let naive = millis(self.naive);
        let promised = self
            .promised_millis
            .map_or_else(String::new, |most| format!("{most} ms"));
        println!(
            "{:<34} {:>8} {:>6} {:>10.3} {:>10.3} {:>10.3} {naive:>10.1} {:>9.0} {promised:>9}",
            self.question,
            self.events,
            self.times.len(),
            at(50),
            at(99),
            at(100),
            naive / at(50),
        );
    }
}
