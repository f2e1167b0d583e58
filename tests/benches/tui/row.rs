//! Owns the rows that are printed, and the clocks.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

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
