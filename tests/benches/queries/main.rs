//! What questions to a reel take, beside a replay that reads everything, in the same run.
//!
//! `cargo bench -p kubereel-tests --bench queries`. The reels are made once of the demo's
//! recording, and kept in the cache folder until the lines or the format have other bytes.
//! `KUBEREEL_BENCH_SIZES` (for example `200000,1000000`) asks for other sizes,
//! `KUBEREEL_BENCH_ASKED` for another number of questions. Times are times on a processor; only
//! those of whole commands are times of the clock.
//!
//! The questions that are asked within this process, and how long they take.
//!
//! How much memory each command has at once, and how long it takes, on the largest reel. T is a
//! moment in its middle, U ten minutes later.
//!
//! The replay that reads everything: the last body of each object up to a moment, in a map.
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

use crate::reels::BenchReel;
use anyhow::{Context as _, Result, ensure};
use kubereel_format::{ReadError, RecordedAt, Seq};
use kubereel_history::{
    Cursor, CursorStep, Cut, Exported, ObjectFilter, ResourceSnapshot, StepBodies, Timeline, Track,
};
use kubereel_tests::peak_memory;
use kubereel_tests::recording::program;
use kubereel_tests::shared_data::shared_data;
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod reels;

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
        let naive = replay(&made.lines, made.middle)?;
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
/// How often the whole state is asked for.
const STATES: u64 = 60;

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
        .map(|_| open(made))
        .collect::<Result<Vec<_>>>()?;
    row("open, to the first answer", opened, Some(300.0)).print();
    let timeline = Timeline::open(&made.reel)?;
    check(&timeline, made, naive)?;
    let objects = objects(&timeline, asked)?;
    row("an object at a time", objects, Some(10.0)).print();
    for (jump, step, lone, is_forward) in [
        (
            "a jump and a step forward",
            "a further step forward",
            "the same, nothing read ahead",
            true,
        ),
        (
            "a jump and a step back",
            "a further step back",
            "the same, nothing read ahead",
            false,
        ),
    ] {
        let Walked { jumps, steps } = walk(&timeline, asked, is_forward, Cursor::bodies)?;
        row(jump, jumps, Some(10.0)).print();
        row(step, steps, Some(1.0)).print();
        // A reel opened anew: what the walk above left in memory must not help.
        let fresh = Timeline::open(&made.reel)?;
        let alone = |_: &mut Cursor<'_>, step: &CursorStep| fresh.step_bodies(step);
        row(lone, walk(&fresh, asked, is_forward, alone)?.steps, None).print();
    }
    for (question, with_events) in [
        ("the whole state", true),
        ("the whole state without Events", false),
    ] {
        let times = states(&timeline, with_events)?;
        row(question, times, Some(250.0)).print();
    }
    Ok(())
}

fn at(timeline: &Timeline, wall: RecordedAt) -> Cut {
    let below = timeline.reel().seq_after(wall);
    Cut::Arrival { below, wall }
}

fn open(made: &BenchReel) -> Result<Duration> {
    let started = spent();
    let timeline = Timeline::open(&made.reel)?;
    object(&timeline, Seq(timeline.reel().end().0 / 2), made.middle)?;
    Ok(spent().saturating_sub(started))
}

/// Asks for the object of an event at a time.
fn object(timeline: &Timeline, event: Seq, wall: RecordedAt) -> Result<()> {
    let reel = timeline.reel();
    let Some(object) = reel.object_of(event) else {
        return Ok(());
    };
    let key = reel.key(object).context("no such object")?;
    let filter = ObjectFilter {
        namespace: Some(key.namespace),
        names: &[key.name.to_owned()],
    };
    let state = timeline.as_of(key.resource, at(timeline, wall), &filter);
    for held in &state.objects {
        std::hint::black_box(reel.body(held.seq)?);
    }
    Ok(())
}

fn objects(timeline: &Timeline, asked: u64) -> Result<Vec<Duration>> {
    let mut chance = Chance::new();
    let end = timeline.reel().end().0;
    let mut times = Vec::new();
    for _ in 0..asked {
        let event = Seq(chance.between(0, end));
        let stamp = timeline.reel().stamp(event).context("no such record")?;
        // A moment after the event, when the object may have changed again.
        let later = i64::try_from(chance.between(0, 60_000_000))?;
        let wall = RecordedAt::from_micros(stamp.wall.micros + later);
        let started = spent();
        object(timeline, event, wall)?;
        times.push(spent().saturating_sub(started));
    }
    Ok(times)
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
fn walk<'t>(
    timeline: &'t Timeline,
    asked: u64,
    is_forward: bool,
    read: impl Fn(&mut Cursor<'t>, &CursorStep) -> Result<StepBodies, ReadError>,
) -> Result<Walked> {
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
            std::hint::black_box(read(&mut cursor, &step)?);
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

/// All resources at a time, or all but Events, and the bodies of all their objects.
fn state(
    timeline: &Timeline,
    wall: RecordedAt,
    with_events: bool,
    mut take: impl FnMut(&[u8]),
) -> Result<usize> {
    let cut = at(timeline, wall);
    let below = timeline.reel().seq_after(wall);
    let resources = timeline.resources().iter();
    let states: Vec<ResourceSnapshot> = resources
        .filter(|info| with_events || info.plural != "events")
        .map(|info| timeline.as_of(info.id, cut, &ObjectFilter::default()))
        .collect();
    let mut held: Vec<_> = states.iter().flat_map(|state| &state.objects).collect();
    // In the order in which objects were first seen: so they lie in checkpoints.
    held.sort_unstable_by_key(|held| held.object);
    for held in &held {
        take(&timeline.reel().body_at(held.seq, below)?);
    }
    Ok(held.len())
}

fn states(timeline: &Timeline, with_events: bool) -> Result<Vec<Duration>> {
    let mut chance = Chance::new();
    let end = timeline.reel().end().0;
    let (mut times, mut live) = (Vec::new(), Vec::new());
    for _ in 0..STATES {
        // Once the cluster is full.
        let event = Seq(chance.between(end / 3, end));
        let wall = timeline.reel().stamp(event).context("no such record")?.wall;
        let started = spent();
        live.push(state(timeline, wall, with_events, |body| {
            std::hint::black_box(body);
        })?);
        times.push(spent().saturating_sub(started));
    }
    live.sort_unstable();
    println!(
        "  {} to {} objects live:",
        live.first().copied().unwrap_or_default(),
        live.last().copied().unwrap_or_default()
    );
    Ok(times)
}

/// The fast answer must be the slow one's.
fn check(timeline: &Timeline, made: &BenchReel, naive: &Naive) -> Result<()> {
    let expected: HashSet<&[u8]> = naive.state.values().map(|body| body.as_bytes()).collect();
    let mut found = 0;
    let all = state(timeline, made.middle, true, |body| {
        found += usize::from(expected.contains(body));
    })?;
    ensure!(
        all == expected.len() && found == all,
        "{found} of {all} objects are as in the naive replay, which has {}",
        expected.len()
    );
    Ok(())
}

/// A stream of numbers, the same in every run.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    const fn new() -> Self {
        Self(0x2545_f491_4f6c_dd1d)
    }

    /// A number from `least` up to, but without, `end`.
    fn between(&mut self, least: u64, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        least + self.0 % end.saturating_sub(least).max(1)
    }
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

/// What it came to.
#[derive(Debug)]
pub(crate) struct Naive {
    /// How long reading up to the moment took.
    pub(crate) took: Duration,
    /// The bodies of the objects that lived then, by uid.
    pub(crate) state: HashMap<String, Box<str>>,
}

#[derive(Deserialize)]
struct Line<'a> {
    ts: &'a str,
    r#type: &'a str,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    uid: &'a str,
}

/// Reads the lines up to a moment.
pub(crate) fn replay(lines: &Path, until: RecordedAt) -> Result<Naive> {
    let started = spent();
    let mut state: HashMap<String, Box<str>> = HashMap::new();
    let mut input = BufReader::with_capacity(
        1 << 20,
        zstd::stream::read::Decoder::new(File::open(lines)?)?,
    );
    let mut text = String::new();
    while input.read_line(&mut text)? > 0 {
        let line: Line<'_> = serde_json::from_str(&text)?;
        let at: jiff::Timestamp = line.ts.parse()?;
        if at.as_microsecond() > until.micros {
            break;
        }
        let object: Object<'_> = serde_json::from_str(line.object.get())?;
        if line.r#type == "DELETED" {
            state.remove(object.metadata.uid);
        } else {
            state.insert(object.metadata.uid.to_owned(), line.object.get().into());
        }
        text.clear();
    }
    Ok(Naive {
        took: spent().saturating_sub(started),
        state,
    })
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
        let at = |hundredths: usize| {
            let place = self.times.len().saturating_sub(1) * hundredths / 100;
            self.times.get(place).map_or(0.0, |time| millis(*time))
        };
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

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// This process's time on processors so far, all threads together: what else the machine does is
/// not in it.
pub(crate) fn spent() -> Duration {
    let at = clock_gettime(ClockId::ProcessCPUTime);
    // A process's own time is never negative.
    Duration::try_from(at).unwrap_or_default()
}
