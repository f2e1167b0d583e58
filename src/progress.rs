//! The line that shows how far long work is: on a terminal after a second, in a log every ten seconds, and as lines of
//! JSON for a program that requests them.

use crate::words::{Amount, bytes, number};
use serde_json::json;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const SHOWN_AFTER: Duration = Duration::from_secs(1);
const TERMINAL_EVERY: Duration = Duration::from_millis(200);
const LOG_EVERY: Duration = Duration::from_secs(10);
const PROGRAM_EVERY: Duration = Duration::from_millis(100);
/// The largest number of steps between two readings of the clock.
const MOST_STEPS_PER_LOOK: u32 = 256;
/// Steps that are further apart than this are slow.
const SLOW_STEPS: Duration = Duration::from_millis(20);

/// The reader of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listener {
    Terminal,
    Log,
    Program,
}

/// Chooses the steps at which the clock is read: each of slow steps, such as pieces of a download, and few of fast
/// ones, such as records in memory.
#[derive(Debug)]
struct StepPace {
    /// The number of steps from one reading to the next.
    per_look: u32,
    /// The number of steps before the next reading.
    left: u32,
    last: Instant,
}

impl StepPace {
    const fn begin(now: Instant) -> Self {
        Self {
            per_look: 1,
            left: 1,
            last: now,
        }
    }

    /// Counts a step; returns the time if it is one at which the clock is read.
    fn step(&mut self, clock: impl FnOnce() -> Instant) -> Option<Instant> {
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return None;
        }
        let now = clock();
        let is_slow = now.saturating_duration_since(self.last) > SLOW_STEPS;
        self.per_look = if is_slow {
            1
        } else {
            (self.per_look * 2).min(MOST_STEPS_PER_LOOK)
        };
        self.left = self.per_look;
        self.last = now;
        Some(now)
    }
}

/// Long work, and when its progress is reported next.
pub(crate) struct ProgressReporter {
    what: &'static str,
    total: u64,
    pace: StepPace,
    next: Instant,
    listener: Listener,
    is_shown: bool,
    is_unheard: bool,
}

impl ProgressReporter {
    /// Begins work of `total` steps; 0 if unknown.
    pub(crate) fn begin(what: &'static str, total: impl Amount, is_terminal: bool) -> Self {
        let (listener, wait) = if is_terminal {
            (Listener::Terminal, SHOWN_AFTER)
        } else {
            (Listener::Log, LOG_EVERY)
        };
        let now = Instant::now();
        Self {
            what,
            total: total.get(),
            pace: StepPace::begin(now),
            next: now + wait,
            listener,
            is_shown: false,
            is_unheard: false,
        }
    }

    /// Begins work that is reported to a program, in lines of JSON.
    pub(crate) fn json() -> Self {
        let now = Instant::now();
        Self {
            what: "",
            total: 0,
            pace: StepPace::begin(now),
            next: now,
            listener: Listener::Program,
            is_shown: false,
            is_unheard: false,
        }
    }

    /// Notes that the work has more steps; only a program sees the total.
    pub(crate) const fn grow(&mut self, by: u64) {
        if matches!(self.listener, Listener::Program) {
            self.total = self.total.saturating_add(by);
        }
    }

    /// Tells whether to continue: not after a program that requested progress closed the pipe.
    pub(crate) const fn go_on(&self) -> ControlFlow<()> {
        if self.is_unheard {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Notes that a part of the work ended, with `done` steps of the whole; always reported to a program.
    pub(crate) fn ended(&mut self, done: u64) {
        if self.listener == Listener::Program {
            self.next = Instant::now();
            self.reached(done);
        }
    }

    /// Notes that `done` steps of the whole are done.
    pub(crate) fn reached(&mut self, done: u64) {
        let now = match self.listener {
            Listener::Program => Some(Instant::now()),
            Listener::Terminal | Listener::Log => self.pace.step(Instant::now),
        };
        let Some(now) = now.filter(|now| *now >= self.next) else {
            return;
        };
        let mut stderr = io::stderr().lock();
        match self.listener {
            Listener::Terminal => {
                let line = line(self.what, done, self.total);
                drop(write!(stderr, "\r\u{1b}[K{line}"));
                drop(stderr.flush());
                self.is_shown = true;
                self.next = now + TERMINAL_EVERY;
            }
            Listener::Log => {
                drop(writeln!(stderr, "{}", line(self.what, done, self.total)));
                self.next = now + LOG_EVERY;
            }
            Listener::Program => {
                self.next = now + PROGRAM_EVERY;
                // In one piece, so that no other line comes between.
                let line = format!("{}\n", json!({"done": done, "total": self.total}));
                self.is_unheard = stderr.write_all(line.as_bytes()).is_err();
            }
        }
    }
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        if self.is_shown {
            let mut stderr = io::stderr().lock();
            drop(write!(stderr, "\r\u{1b}[K"));
            drop(stderr.flush());
        }
    }
}

fn line(what: &str, done: u64, total: u64) -> String {
    let (what, amount): (&str, fn(u64) -> String) = match what.strip_suffix(", bytes") {
        Some(what) => (what, bytes),
        None => (what, number),
    };
    let percent = done.saturating_mul(100).checked_div(total);
    match percent {
        None => format!("{what}: {}", amount(done)),
        Some(percent) => format!(
            "{what}: {} of {} ({percent} %)",
            amount(done),
            amount(total)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the readings of the clock in `steps` steps that take `each`.
    fn readings(steps: u32, each: Duration) -> u32 {
        let begin = Instant::now();
        let mut pace = StepPace::begin(begin);
        let looks = (1..=steps).filter(|step| pace.step(|| begin + each * *step).is_some());
        u32::try_from(looks.count()).expect("few")
    }

    #[test]
    fn the_clock_is_read_at_each_slow_step_and_rarely_at_fast_ones() {
        // The pieces of a slow download: the line must not wait for hundreds of them.
        assert_eq!(readings(30, Duration::from_millis(300)), 30);
        let fast = readings(1_000_000, Duration::from_micros(1));
        assert!((3_000..5_000).contains(&fast), "{fast}");
    }

    #[test]
    fn the_line_says_how_far() {
        assert_eq!(line("exporting", 25, 100), "exporting: 25 of 100 (25 %)");
        let expected = "exporting: 2,500 of 10,000 (25 %)";
        assert_eq!(line("exporting", 2_500, 10_000), expected);
        assert_eq!(line("importing, bytes", 7, 0), "importing: 7 B");
        let expected = "importing: 5.5 MB of 11.0 MB (50 %)";
        assert_eq!(line("importing, bytes", 5_502_633, 11_005_266), expected);
    }
}
