//! What the screen takes on a reel of a million events: the real loop with its real threads, on a
//! terminal that only counts; and the real program in a real terminal.
//!
//! `cargo bench -p kubereel-tests --bench tui`. The reel is that of the bench of questions.
//! `KUBEREEL_BENCH_SIZES` asks for another size. The baseline is in the same run: the whole frame
//! is drawn anew from what is in memory. Times are times on a processor: of the loop's thread for a
//! frame, of all threads for an answer.
//!
//! The keys that are pressed, and how long each takes.
//!
//! What a program at rest costs.
//!
//! The real program in a real terminal: its memory, and its work without input.
//!
//! The rows that are printed, and the clocks.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

use anyhow::{Context as _, Result, anyhow, ensure};
use kubereel_tests::recording::program;
use kubereel_tests::tmux::Terminal;
use kubereel_tui::headless::Headless;
use kubereel_tui::{Depth, Palette, Theme, TuiRequest};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[path = "../queries/reels.rs"]
#[expect(dead_code, reason = "shared with the bench of questions")]
mod reels;

fn main() -> Result<()> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|arg| arg == FIRST) {
        let reel = args.next().context("no reel")?;
        return first_screen(reel.as_ref());
    }
    let sizes = std::env::var("KUBEREEL_BENCH_SIZES").unwrap_or_else(|_| "1000000".into());
    let events = sizes.split(',').next_back().unwrap_or_default();
    let made = reels::get(events.trim().parse().context("KUBEREEL_BENCH_SIZES")?)?;
    println!("{} events, 120 columns, 40 rows", made.events);
    let settled = show_keys(&made.reel)?;
    show_idle(settled)?;
    show_process(&made.reel)
}

/// Asks this program for the first screen and nothing else.
pub(crate) const FIRST: &str = "--first-screen-of";
const SIZE: (u16, u16) = (120, 40);
/// How often the reel is opened.
const OPENED: usize = 5;
/// From this many places all over the reel keys are pressed.
const PLACES: u64 = 30;

fn request(reel: &Path) -> TuiRequest {
    TuiRequest {
        path: reel.to_owned(),
        file: None,
        copies: None,
        at: None,
        select: Some("clusteroperators/etcd".to_owned()),
        namespace: "default".to_owned(),
        filter: String::new(),
        state_folder: None,
        zone: None,
        local_zone: None,
        is_fresh: true,
    }
}

/// Presses everything, prints the rows, and returns the program at rest.
pub(crate) fn show_keys(reel: &Path) -> Result<Headless> {
    // Each in a process of its own: what one leaves in memory and on processors is not another's.
    for _ in 0..OPENED {
        let ran = Command::new(std::env::current_exe()?)
            .arg(FIRST)
            .arg(reel)
            .status()?;
        ensure!(ran.success(), "the first screen: {ran}");
    }
    let (clock, cpu) = (Instant::now(), of_process());
    let mut ui = Headless::begin(
        request(reel),
        Theme::new(Palette::Dark, Depth::Indexed),
        None,
        SIZE,
    )?;
    ui.settle()?;
    println!(
        "lanes of the whole reel: {:.0} ms of the clock, {:.0} ms on processors",
        millis(clock.elapsed()),
        millis(of_process().saturating_sub(cpu)),
    );
    println!();
    head();
    let scrubs: [(&str, &[&str]); 4] = [
        ("a cell: ← →", &["<Right>", "<Right>", "<Left>"]),
        ("an event: , .", &[".", ".", ","]),
        ("a change of the object: c C", &["c", "c", "C"]),
        ("a transition of the lane: t T", &["t", "T"]),
    ];
    for (name, keys) in scrubs {
        everywhere(&mut ui, keys)?.print(name, 16.0);
    }
    everywhere(&mut ui, &["+", "+", "+", "-", "a", "d"])?.print("zoom and pan: + - a d", 50.0);
    ui.press("Z");
    ui.settle()?;
    filter(&mut ui)?.print("filter of lanes, a letter each", 50.0);
    let lists: [(&str, &[&str]); 3] = [
        ("problems: p, rows", &["p", "<Down>", "<Down>", "<Esc>"]),
        ("resources: b, rows", &["b", "<Down>", "<Down>", "<Esc>"]),
        ("history: H, events: E, y", &["H", "E", "y"]),
    ];
    for (name, keys) in lists {
        everywhere(&mut ui, keys)?.print(name, 50.0);
    }
    Ok(ui)
}

/// Opens the reel to the first frame that shows it.
pub(crate) fn first_screen(reel: &Path) -> Result<()> {
    let (clock, cpu) = (Instant::now(), of_process());
    let mut ui = Headless::begin(
        request(reel),
        Theme::new(Palette::Dark, Depth::Indexed),
        None,
        SIZE,
    )?;
    ui.draw()?;
    while !ui.is_open() {
        ui.wait()?;
    }
    ui.draw()?;
    println!(
        "first screen: {:.0} ms of the clock, {:.0} ms on processors, {:.0} MB (at most 300 ms)",
        millis(clock.elapsed()),
        millis(of_process().saturating_sub(cpu)),
        memory("self").0,
    );
    ensure!(ui.sent_bytes() > 1_000, "nothing was drawn");
    Ok(())
}

/// Presses keys from places all over the reel.
fn everywhere(ui: &mut Headless, keys: &[&str]) -> Result<Row> {
    let mut row = Row::default();
    for place in 0..PLACES {
        let minutes = 20 + place * 860 / PLACES;
        for letter in format!(":+{minutes}m").chars() {
            ui.press(&letter.to_string());
        }
        ui.press("<Enter>");
        ui.wait()?;
        ui.settle()?;
        for key in keys {
            press(ui, key, &mut row)?;
        }
    }
    Ok(row)
}

/// Writes filters letter by letter.
fn filter(ui: &mut Headless) -> Result<Row> {
    let mut row = Row::default();
    for words in [
        "etcd",
        "bad node",
        "ns:shop web",
        "down operators",
        "openshift-",
    ] {
        press(ui, "/", &mut row)?;
        for letter in words.chars() {
            press(ui, &letter.to_string(), &mut row)?;
        }
        press(ui, "<Esc>", &mut row)?;
    }
    Ok(row)
}

/// Presses a key, and measures it to the frame and to the frame with the answer.
fn press(ui: &mut Headless, key: &str, row: &mut Row) -> Result<()> {
    let bytes = ui.sent_bytes();
    let (thread, process) = (of_thread(), of_process());
    ui.press(key);
    ui.wait()?;
    ui.draw()?;
    row.drawn.push(of_thread().saturating_sub(thread));
    row.bytes.push(ui.sent_bytes() - bytes);
    ui.settle()?;
    row.answered.push(of_process().saturating_sub(process));
    let thread = of_thread();
    row.baseline_bytes.push(ui.draw_all()?);
    row.baseline.push(of_thread().saturating_sub(thread));
    Ok(())
}

/// How long nobody does anything.
const IDLE: Duration = Duration::from_secs(10);

/// Leaves it alone for a while, and prints what that cost.
pub(crate) fn show_idle(mut ui: Headless) -> Result<()> {
    ensure!(ui.patience().is_none(), "it does not wait for ever");
    let keys = ui.keys();
    let runs = std::thread::Builder::new()
        .name("loop".to_owned())
        .spawn(move || ui.run())?;
    // The first turn of the loop is over before the clock starts.
    std::thread::sleep(Duration::from_millis(300));
    let (sent, cpu) = (keys.sent_bytes(), of_process());
    std::thread::sleep(IDLE);
    let took = of_process().saturating_sub(cpu);
    let sent = keys.sent_bytes() - sent;
    keys.press("q");
    let ended = runs.join().map_err(|_panic| anyhow!("the loop panicked"))?;
    ended.context("the loop")?;
    println!(
        "idle for {} s: {sent} bytes, {:.2} ms on processors (at most 0 and 20 ms)",
        IDLE.as_secs(),
        millis(took)
    );
    Ok(())
}

/// How long the pass may take, on a busy machine.
const PASSED: Duration = Duration::from_mins(5);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long the child may take that judges the reel.
const JUDGED: Duration = Duration::from_mins(5);

/// This many jumps lead all over the reel and back.
const JUMPS: u64 = 32;

/// Runs it, and prints its rows.
pub(crate) fn show_process(reel: &Path) -> Result<()> {
    let program = program()?;
    let fresh = tempfile::tempdir()?;
    let started = Instant::now();
    let words = format!(
        "exec env XDG_CACHE_HOME={0} XDG_STATE_HOME={0} {1} tui {2}",
        fresh.path().display(),
        program.display(),
        reel.display()
    );
    let Some(terminal) = Terminal::start((120, 40), &words)? else {
        return Ok(());
    };
    terminal.until("shows ")?;
    let first = started.elapsed();
    terminal.until("STORY")?;
    terminal.press(&["Escape"])?;
    // The lanes come with the end of the pass.
    await_lanes(&terminal)?;
    let process = terminal.process()?.to_string();
    for key in ["n", "Right", "c", "t", "n", "+", "+", "-", "H", "E", "y"] {
        terminal.press(&[key])?;
        std::thread::sleep(Duration::from_millis(300));
    }
    let under_judgement = memory(&process).0;
    until_judged(&terminal)?;
    let before = (written(&process)?, ticks(&process)?);
    std::thread::sleep(IDLE);
    let after = (written(&process)?, ticks(&process)?);
    let judged = memory(&process).0;
    for jump in 0..JUMPS {
        let minutes = 20 + (jump * 7 % JUMPS) * 860 / JUMPS;
        terminal.enter(&format!(":+{minutes}m"))?;
        std::thread::sleep(Duration::from_millis(300));
    }
    let (jumped, most) = memory(&process);
    println!(
        "the program in tmux: first screen seen after {} ms; {under_judgement:.0} MB after some keys, {judged:.0} MB with the findings, {jumped:.0} MB after {JUMPS} jumps, {most:.0} MB at most (at most 200 MB)",
        first.as_millis(),
    );
    println!(
        "idle in tmux for {} s, findings there: {} bytes written, {} ms on processors (at most 0 and 20 ms)",
        IDLE.as_secs(),
        after.0 - before.0,
        // A tick is 10 ms everywhere that Linux runs.
        (after.1 - before.1) * 10,
    );
    terminal.press(&["q"])
}

/// Waits until the pass is over.
fn await_lanes(terminal: &Terminal) -> Result<()> {
    let started = Instant::now();
    while !terminal.screen()?.contains("CLUSTERVERSION") {
        ensure!(
            started.elapsed() < PASSED,
            "no lanes:\n{}",
            terminal.screen()?
        );
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Waits until the rules have judged the reel: their progress shows in the title.
fn until_judged(terminal: &Terminal) -> Result<()> {
    let started = Instant::now();
    loop {
        let screen = terminal.screen()?;
        if screen.contains("problems ") && !screen.contains("· rules ") {
            break;
        }
        ensure!(started.elapsed() < JUDGED, "no findings:\n{screen}");
        std::thread::sleep(Duration::from_millis(200));
    }
    // The last frame is out, and the child is gone.
    std::thread::sleep(Duration::from_secs(1));
    Ok(())
}

/// The bytes that a process wrote so far.
fn written(process: &str) -> Result<u64> {
    let io = std::fs::read_to_string(format!("/proc/{process}/io"))?;
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: "));
    Ok(line.context("no wchar")?.parse()?)
}

/// A process's time on processors so far, in ticks.
fn ticks(process: &str) -> Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    let rest = stat.rsplit(") ").next().context("no stat")?;
    let mut fields = rest.split(' ').skip(11);
    let mut next = || -> Result<u64> { Ok(fields.next().context("no time")?.parse()?) };
    Ok(next()? + next()?)
}

/// What a kind of key took.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// From the key to the frame: the loop's thread.
    pub(crate) drawn: Vec<Duration>,
    /// From the key to the frame that shows the answer: all threads.
    pub(crate) answered: Vec<Duration>,
    /// What the terminal got for the first frame.
    pub(crate) bytes: Vec<u64>,
    /// The whole frame drawn anew, from memory.
    pub(crate) baseline: Vec<Duration>,
    /// The bytes of a whole frame.
    pub(crate) baseline_bytes: Vec<u64>,
}

pub(crate) fn head() {
    println!(
        "{:<38} {:>5} {:>9} {:>9} {:>9} {:>10} {:>10} {:>8} {:>8} {:>9} {:>8} {:>8}",
        "key",
        "asked",
        "drawn p50",
        "p99 ms",
        "max ms",
        "answer p50",
        "p99 ms",
        "at most",
        "base p50",
        "drawn/base",
        "bytes",
        "whole"
    );
}

impl Row {
    pub(crate) fn print(mut self, name: &str, promised_millis: f64) {
        for times in [&mut self.drawn, &mut self.answered, &mut self.baseline] {
            times.sort_unstable();
        }
        for bytes in [&mut self.bytes, &mut self.baseline_bytes] {
            bytes.sort_unstable();
        }
        let (drawn, base) = (at(&self.drawn, 50), at(&self.baseline, 50));
        println!(
            "{name:<38} {:>5} {:>9.2} {:>9.2} {:>9.2} {:>10.2} {:>10.2} {promised_millis:>8} {base:>8.2} {:>10.2} {:>8} {:>8}",
            self.drawn.len(),
            drawn,
            at(&self.drawn, 99),
            at(&self.drawn, 100),
            at(&self.answered, 50),
            at(&self.answered, 99),
            drawn / base,
            middle(&self.bytes),
            middle(&self.baseline_bytes),
        );
    }
}

fn at(times: &[Duration], hundredths: usize) -> f64 {
    let place = times.len().saturating_sub(1) * hundredths / 100;
    times.get(place).map_or(0.0, |time| millis(*time))
}

fn middle(counts: &[u64]) -> u64 {
    counts.get(counts.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// This thread's time on processors so far.
pub(crate) fn of_thread() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// This process's time on processors so far, all threads together.
pub(crate) fn of_process() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// What a process has in memory, in MB: now, and at most so far.
pub(crate) fn memory(process: &str) -> (f64, f64) {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kib.unwrap_or_default() as f64 * 1024.0 / 1e6
    };
    (number("VmRSS:"), number("VmHWM:"))
}
