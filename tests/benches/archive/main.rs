//! What a reel must show as an archive, as one table: each measure beside its baseline of the same run, and its aim.
//!
//! `just bench-archive`, or only some parts: `just bench-archive sizes questions open ingest tests screen memory`.
//! The questions, reels, recorders and screens are those of the other benches; this one gathers them.
//!
//! The large scenario is a stream of an OpenShift cluster with the bodies of real objects, if the recordings that it is
//! made of lie beside the project, else the demo's recording over and over. `KUBEREEL_BENCH_SCALE` asks for another size
//! (1 are some 280,000 events), `KUBEREEL_BENCH_OPEN` for other reels that are opened (1000000), `KUBEREEL_BENCH_LIVE` for
//! another number of live objects (200000), and `KUBEREEL_BENCH_EVENTS` for another number of ingested events (50000).
//! Times are times on processors, and memory is that of a process of its own: other work on the machine is in neither,
//! apart from what it does to the processors' caches.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

use crate::live_objects::Population;
use crate::measure::{Aim, Measure, head};
use crate::naive::{Naive, replay};
use crate::questions::{millis, objects, open, percentile, spent, states};
use anyhow::{Context as _, Result, bail, ensure};
use kubereel_format::{RecordedAt, Reel, SealDensity, SealStats, Seq, seal};
use kubereel_history::Timeline;
use kubereel_problems::monitor_tests;
use kubereel_tests::scripted::WatchList;
use kubereel_tests::shared_data::shared_data;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[path = "../tui/keys.rs"]
#[expect(dead_code, reason = "shared with the bench of the screen")]
mod keys;
#[path = "../recorder/life.rs"]
mod life;
#[path = "../recorder/live_objects.rs"]
#[expect(dead_code, reason = "shared with the bench of the recorder")]
mod live_objects;
mod measure;
#[path = "../recorder/measured.rs"]
mod measured;
#[path = "../queries/naive.rs"]
#[expect(dead_code, reason = "shared with the bench of questions")]
mod naive;
#[path = "../queries/questions.rs"]
mod questions;
#[path = "../recorder/rates.rs"]
#[expect(dead_code, reason = "shared with the bench of the recorder")]
mod rates;
#[path = "../queries/reels.rs"]
#[expect(dead_code, reason = "shared with the bench of questions")]
mod reels;
#[path = "../monitortests/run.rs"]
#[expect(dead_code, reason = "shared with the bench of monitortests")]
mod run;
mod stream;
#[path = "../baseline/zstd_19.rs"]
mod zstd_19;

/// The parts of the table.
const PARTS: [&str; 7] = [
    "sizes",
    "questions",
    "open",
    "ingest",
    "tests",
    "screen",
    "memory",
];
/// Has this program measure one thing in a process of its own.
const ALONE: &str = "--alone";
/// How many questions of a kind are asked.
const ASKED: u64 = 1_000;
/// How often a reel is opened.
const OPENED: usize = 5;

fn main() -> Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    words.retain(|word| word != "--bench");
    if let [alone, what, reel] = words.as_slice()
        && alone == ALONE
    {
        return measure_alone(what, Path::new(reel));
    }
    if let Some(other) = words.iter().find(|word| !PARTS.contains(&word.as_str())) {
        bail!("no part {other}; there are {}", PARTS.join(", "));
    }
    let wants = |part: &str| words.is_empty() || words.iter().any(|word| word == part);
    head();
    let folder = tempfile::tempdir()?;
    if wants("sizes") {
        show_small_sizes(folder.path())?;
    }
    if wants("sizes") || wants("questions") || wants("open") {
        let large = large_scenario(folder.path())?;
        if wants("sizes") {
            let zstd = large.show_sizes(0.6)?;
            large.show_smallest(zstd)?;
        }
        if wants("questions") {
            large.show_questions()?;
        }
        if wants("open") {
            show_open(&format!("sealed {}", large.name), &large.sealed)?;
        }
    }
    if wants("open") {
        for reel in reels_to_open()? {
            show_open(&format!("{} events", reel.events), &reel.reel)?;
        }
    }
    if wants("ingest") {
        show_ingest(&folder.path().join("ingested.reel"))?;
    }
    if wants("tests") || wants("screen") {
        let reel = reels_to_open()?.pop().context("KUBEREEL_BENCH_OPEN")?;
        if wants("tests") {
            show_tests(&reel)?;
        }
        if wants("screen") {
            show_screen(&reel)?;
        }
    }
    if wants("memory") {
        show_memory()?;
    }
    Ok(())
}

/// A number that the caller may ask for.
fn asked<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    name: &str,
    usual: T,
) -> Result<T> {
    match std::env::var(name) {
        Ok(value) => value.parse().with_context(|| format!("{name}={value}")),
        Err(_) => Ok(usual),
    }
}

fn reels_to_open() -> Result<Vec<reels::BenchReel>> {
    let sizes = std::env::var("KUBEREEL_BENCH_OPEN").unwrap_or_else(|_| "1000000".to_owned());
    let sizes = sizes.split(',').map(|size| {
        let events = size.trim().parse().context("KUBEREEL_BENCH_OPEN")?;
        reels::get(events)
    });
    sizes.collect()
}

/// A reel that was sealed beside itself.
struct SealedPair {
    name: &'static str,
    reel: PathBuf,
    sealed: PathBuf,
    stats: SealStats,
    took: Duration,
}

impl SealedPair {
    fn make(name: &'static str, reel: PathBuf, folder: &Path) -> Result<Self> {
        let opened = Reel::open(&reel)?;
        ensure!(!opened.is_sealed(), "{} is sealed", reel.display());
        let sealed = folder.join(format!("{name}.sealed.reel"));
        let started = spent();
        let stats = seal(&opened, &sealed, SealDensity::Usual, |_| {})?;
        Ok(Self {
            name,
            reel,
            sealed,
            stats,
            took: spent().saturating_sub(started),
        })
    }

    /// Compresses the lines, too, prints what the lengths are, and returns that of the compressed lines.
    fn show_sizes(&self, aim: f64) -> Result<u64> {
        let reel = Reel::open(&self.reel)?;
        let zstd = zstd_19::zstd_19(|out| write_lines(&reel, out))?;
        let SealStats {
            events,
            bytes_before: unsealed,
            file_bytes: sealed,
            ..
        } = self.stats;
        Measure {
            what: "sealed ÷ zstd -19 --long=27",
            of: &format!("{}, {events} events", self.name),
            value: sealed as f64 / zstd as f64,
            unit: "",
            baseline: &format!("{sealed} ÷ {zstd} bytes"),
            aim: Aim::AtMost(aim),
        }
        .print();
        let took = self.took.as_secs_f64();
        Measure {
            what: "unsealed ÷ sealed",
            of: self.name,
            value: unsealed as f64 / sealed as f64,
            unit: "",
            baseline: &format!("{unsealed} ÷ {sealed} bytes; sealed in {took:.1} s"),
            aim: Aim::AtMost(2.0),
        }
        .print();
        Ok(zstd)
    }
}

/// Writes the events of a reel as lines: their number, type and object.
fn write_lines(reel: &Reel, out: &mut dyn Write) -> Result<()> {
    for event in reel.scan() {
        let event = event?;
        let kind = event.head.kind.as_str();
        write!(
            out,
            r#"{{"ts":{},"type":"{kind}","object":"#,
            event.head.seq.0
        )?;
        out.write_all(&event.body)?;
        out.write_all(b"}\n")?;
    }
    Ok(())
}

fn show_small_sizes(folder: &Path) -> Result<()> {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    SealedPair::make("demo", demo, folder)?.show_sizes(1.0)?;
    if let Some(lines) = shared_data(stream::RECORDING) {
        let reel = folder.join("okd.reel");
        reels::import(&lines, &reel)?;
        SealedPair::make("OKD installation", reel, folder)?.show_sizes(0.85)?;
    }
    Ok(())
}

/// Makes the large recording, finished and sealed.
fn large_scenario(folder: &Path) -> Result<SealedPair> {
    match stream::lines(asked("KUBEREEL_BENCH_SCALE", 1.0)?)? {
        Some(lines) => {
            let reel = folder.join("large.reel");
            reels::import(&lines, &reel)?;
            SealedPair::make("large scenario", reel, folder)
        }
        None => SealedPair::make("the demo over and over", reels::get(200_000)?.reel, folder),
    }
}

impl SealedPair {
    /// Seals it as small as possible, too.
    fn show_smallest(&self, zstd: u64) -> Result<()> {
        let to = self.sealed.with_extension("smallest");
        let started = spent();
        let stats = seal(&Reel::open(&self.reel)?, &to, SealDensity::Smallest, |_| {})?;
        let took = spent().saturating_sub(started).as_secs_f64();
        std::fs::remove_file(to)?;
        let sealed = stats.file_bytes;
        Measure {
            what: "the same, --smallest",
            of: self.name,
            value: sealed as f64 / zstd as f64,
            unit: "",
            baseline: &format!("{sealed} ÷ {zstd} bytes; sealed in {took:.1} s"),
            aim: Aim::AtMost(0.6),
        }
        .print();
        Ok(())
    }

    /// Asks for objects and states of the sealed reel, beside reading the lines up to its middle.
    fn show_questions(&self) -> Result<()> {
        let timeline = Timeline::open(&self.sealed)?;
        let naive = self.naive(timeline.reel())?;
        let naive = format!("replay of all lines: {:.0} ms", millis(naive.took));
        let mut times = objects(&timeline, ASKED)?;
        times.sort_unstable();
        for (hundredths, aim) in [(50, Aim::None), (99, Aim::AtMost(5.0))] {
            Measure {
                what: &format!("object at T, p{hundredths}"),
                of: &format!("sealed {}", self.name),
                value: percentile(&times, hundredths),
                unit: "ms",
                baseline: &naive,
                aim,
            }
            .print();
        }
        for (what, with_events) in [("whole state", true), ("state without Events", false)] {
            let mut asked = states(&timeline, with_events)?;
            asked.times.sort_unstable();
            let live = asked.live.get(asked.live.len() / 2).copied();
            for (hundredths, aim) in [(50, Aim::None), (99, Aim::AtMost(100.0))] {
                Measure {
                    what: &format!("{what}, p{hundredths}"),
                    of: &format!("sealed {}, {} objects", self.name, live.unwrap_or_default()),
                    value: percentile(&asked.times, hundredths),
                    unit: "ms",
                    baseline: &naive,
                    aim,
                }
                .print();
            }
        }
        Ok(())
    }

    fn naive(&self, reel: &Reel) -> Result<Naive> {
        let lines = self.sealed.with_extension("lines.zst");
        let mut out = zstd::stream::write::Encoder::new(File::create(&lines)?, 1)?;
        {
            let mut out = BufWriter::with_capacity(1 << 20, &mut out);
            write_lines(reel, &mut out)?;
            out.flush()?;
        }
        out.finish()?;
        let middle = reel.end().0 / 2;
        let naive = replay(&lines, |number| Ok(number.parse::<u64>()? > middle))?;
        std::fs::remove_file(lines)?;
        Ok(naive)
    }
}

/// What a process of its own took.
#[derive(Debug, Clone, Copy)]
struct Alone {
    took: Duration,
    megabytes: f64,
}

/// Measures one thing in a process of its own.
fn alone(what: &str, reel: &Path) -> Result<Alone> {
    let output = Command::new(std::env::current_exe()?)
        .args([ALONE, what])
        .arg(reel)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "{what}: {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let (micros, megabytes) = text.trim().split_once(' ').context("no two numbers")?;
    Ok(Alone {
        took: Duration::from_micros(micros.parse()?),
        megabytes: megabytes.parse()?,
    })
}

/// Measures one thing, and prints its microseconds and the most megabytes of this process.
fn measure_alone(what: &str, reel: &Path) -> Result<()> {
    let took = match what.split_once(OPEN_AT) {
        Some(("", micros)) => open(reel, RecordedAt::from_micros(micros.parse()?))?,
        _ => work_alone(what, reel)?,
    };
    let (_, most) = keys::memory("self");
    println!("{} {most:.1}", took.as_micros());
    Ok(())
}

/// What begins the request to open a reel and to ask for an object at a time, in microseconds.
const OPEN_AT: &str = "open at ";

fn work_alone(what: &str, reel: &Path) -> Result<Duration> {
    Ok(match what {
        "tests" => {
            let started = spent();
            run::run(reel, monitor_tests())?;
            spent().saturating_sub(started)
        }
        "first screen" => keys::first_screen(reel)?.cpu,
        "steps" => steps(reel)?,
        _ => bail!("{what}?"),
    })
}

fn micros_of(reel: &Reel, seq: u64) -> Result<i64> {
    let stamp = reel.stamp(Seq(seq)).context("no such record")?;
    Ok(stamp.wall.micros)
}

/// The 99th percentile of the steps to the frame, of the kind that takes longest.
fn steps(reel: &Path) -> Result<Duration> {
    let minutes = {
        let reel = Reel::open(reel)?;
        let last = micros_of(&reel, reel.end().0.saturating_sub(1))?;
        u64::try_from((last - micros_of(&reel, 0)?) / 60_000_000)?
    };
    let mut ui = keys::begin(reel)?;
    ui.settle()?;
    let mut slowest = Duration::ZERO;
    for (_, pressed) in keys::STEPS {
        let mut drawn = keys::everywhere(&mut ui, minutes, pressed)?.drawn;
        drawn.sort_unstable();
        let place = drawn.len().saturating_sub(1) * 99 / 100;
        slowest = slowest.max(drawn.get(place).copied().unwrap_or_default());
    }
    Ok(slowest)
}

/// Shows what was measured: what, how much, in which unit, and at most how much it may be.
fn show(of: &str, measured: &[(&str, f64, &str, f64)]) {
    for &(what, value, unit, most) in measured {
        Measure {
            what,
            of,
            value,
            unit,
            baseline: "",
            aim: Aim::AtMost(most),
        }
        .print();
    }
}

fn show_open(of: &str, reel: &Path) -> Result<()> {
    let (events, micros) = {
        let reel = Reel::open(reel)?;
        (reel.event_count(), micros_of(&reel, reel.end().0 / 2)?)
    };
    let mut opened = (0..OPENED)
        .map(|_| alone(&format!("{OPEN_AT}{micros}"), reel))
        .collect::<Result<Vec<_>>>()?;
    opened.sort_by_key(|opened| opened.took);
    let median = opened.get(OPENED / 2).context("never opened")?;
    let most = if events > 1_000_000 { 100.0 } else { 60.0 };
    let measured = [
        ("open to the first answer", millis(median.took), "ms", most),
        ("the same, memory", median.megabytes, "MB", 100.0),
    ];
    show(of, &measured);
    Ok(())
}

fn show_ingest(reel: &Path) -> Result<()> {
    let events = asked("KUBEREEL_BENCH_EVENTS", 50_000)?;
    let ingest = rates::measure(reel, events, 1)?;
    Measure {
        what: "ingest ÷ serde_json::Value",
        of: &format!("recorder, {events} events"),
        value: ingest.recorder / ingest.parsing,
        unit: "",
        baseline: &format!(
            "{:.0} ÷ {:.0} events/s of a core",
            ingest.recorder, ingest.parsing
        ),
        aim: Aim::AtLeast(0.8),
    }
    .print();
    Ok(())
}

fn show_tests(reel: &reels::BenchReel) -> Result<()> {
    let ran = alone("tests", &reel.reel)?;
    let measured = [
        ("all built-in tests", ran.took.as_secs_f64(), "s", 40.0),
        ("the same, memory", ran.megabytes, "MB", 300.0),
    ];
    show(&format!("{} events", reel.events), &measured);
    Ok(())
}

fn show_screen(reel: &reels::BenchReel) -> Result<()> {
    let first = alone("first screen", &reel.reel)?;
    let steps = alone("steps", &reel.reel)?;
    let measured = [
        ("first screen", millis(first.took), "ms", 300.0),
        ("step of the screen, p99", millis(steps.took), "ms", 16.0),
        ("the screen, memory", steps.megabytes, "MB", 200.0),
    ];
    show(&format!("{} events", reel.events), &measured);
    Ok(())
}

fn show_memory() -> Result<()> {
    let pods: u64 = asked("KUBEREEL_BENCH_LIVE", 200_000)?;
    let cluster = Population {
        pods: (0..pods).map(|nth| nth * 3 + 2).collect(),
        events: 0,
        changes: pods / 10,
    };
    let peak = cluster.record(WatchList::Served)?;
    Measure {
        what: "recorder, memory",
        of: &format!("{pods} live objects"),
        value: peak.megabytes,
        unit: "MB",
        baseline: &format!("their bodies: {:.0} MB", peak.listed_megabytes),
        aim: Aim::AtMost(300.0),
    }
    .print();
    Ok(())
}
