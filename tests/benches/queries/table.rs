//! Owns the rows that are printed.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

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
