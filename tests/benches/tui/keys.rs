//! The keys that are pressed, and how long each takes: the real loop with its real threads, on a terminal that only
//! counts.

use anyhow::{Result, ensure};
use kubereel_tui::headless::Headless;
use kubereel_tui::{Depth, Palette, Theme, TuiRequest};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::{Duration, Instant};

const SIZE: (u16, u16) = (120, 40);
/// From this many places all over the reel keys are pressed.
const PLACES: u64 = 30;

fn request(reel: &Path) -> TuiRequest {
    TuiRequest {
        path: reel.to_owned(),
        file: None,
        damage: None,
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

/// Begins the screen on a reel.
pub(crate) fn begin(reel: &Path) -> Result<Headless> {
    let theme = Theme::new(Palette::Dark, Depth::Indexed);
    Ok(Headless::begin(request(reel), theme, None, SIZE)?)
}

/// What the first frame that shows a reel takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FirstScreen {
    pub(crate) clock: Duration,
    pub(crate) cpu: Duration,
    pub(crate) megabytes: f64,
}

/// Opens the reel to the first frame that shows it.
pub(crate) fn first_screen(reel: &Path) -> Result<FirstScreen> {
    let (clock, cpu) = (Instant::now(), of_process());
    let mut ui = begin(reel)?;
    ui.draw()?;
    while !ui.is_open() {
        ui.wait()?;
    }
    ui.draw()?;
    ensure!(ui.sent_bytes() > 1_000, "nothing was drawn");
    Ok(FirstScreen {
        clock: clock.elapsed(),
        cpu: of_process().saturating_sub(cpu),
        megabytes: memory("self").0,
    })
}

/// Steps through a reel, by what they do.
pub(crate) const STEPS: [(&str, &[&str]); 4] = [
    ("a cell: ← →", &["<Right>", "<Right>", "<Left>"]),
    ("an event: , .", &[".", ".", ","]),
    ("a change of the object: c C", &["c", "c", "C"]),
    ("a transition of the lane: t T", &["t", "T"]),
];

/// Presses keys from places all over the first minutes of a reel.
pub(crate) fn everywhere(ui: &mut Headless, minutes: u64, keys: &[&str]) -> Result<Row> {
    let mut row = Row::default();
    for place in 0..PLACES {
        let minute = minutes * (place + 1) / (PLACES + 1);
        for letter in format!(":+{minute}m").chars() {
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

/// Presses a key, and measures it to the frame and to the frame with the answer.
pub(crate) fn press(ui: &mut Headless, key: &str, row: &mut Row) -> Result<()> {
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
