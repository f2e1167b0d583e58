//! Owns the line that says how far long work is. Refuses to appear for short work, or where nobody
//! watches more often than every ten seconds.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

const SHOWN_AFTER: Duration = Duration::from_secs(1);
const TERMINAL_EVERY: Duration = Duration::from_millis(200);
const LOG_EVERY: Duration = Duration::from_secs(10);
/// The clock is looked at once for so many steps.
const STEPS_PER_LOOK: u64 = 256;

/// Long work, and when it was last spoken of.
pub(crate) struct Progress {
    what: &'static str,
    total: u64,
    steps: u64,
    next: Instant,
    is_terminal: bool,
    is_shown: bool,
}

impl Progress {
    /// Begins work of `total` steps; 0 if nobody knows how many.
    pub(crate) fn begin(what: &'static str, total: u64, is_terminal: bool) -> Self {
        let wait = if is_terminal { SHOWN_AFTER } else { LOG_EVERY };
        Self {
            what,
            total,
            steps: 0,
            next: Instant::now() + wait,
            is_terminal,
            is_shown: false,
        }
    }

    /// Notes that `done` steps of the whole are done.
    pub(crate) fn reached(&mut self, done: u64) {
        self.steps += 1;
        if !self.steps.is_multiple_of(STEPS_PER_LOOK) {
            return;
        }
        let now = Instant::now();
        if now < self.next {
            return;
        }
        let line = line(self.what, done, self.total);
        let mut stderr = io::stderr().lock();
        if self.is_terminal {
            drop(write!(stderr, "\r\u{1b}[K{line}"));
            drop(stderr.flush());
            self.is_shown = true;
            self.next = now + TERMINAL_EVERY;
        } else {
            drop(writeln!(stderr, "{line}"));
            self.next = now + LOG_EVERY;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            let mut stderr = io::stderr().lock();
            drop(write!(stderr, "\r\u{1b}[K"));
            drop(stderr.flush());
        }
    }
}

fn line(what: &str, done: u64, total: u64) -> String {
    if total == 0 {
        return format!("{what}: {done}");
    }
    let percent = done.saturating_mul(100).checked_div(total).unwrap_or(0);
    format!("{what}: {done} of {total} ({percent} %)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far() {
        assert_eq!(line("exporting", 25, 100), "exporting: 25 of 100 (25 %)");
        assert_eq!(line("importing, bytes", 7, 0), "importing, bytes: 7");
    }
}
