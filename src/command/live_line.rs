//! How a recording reports its progress: one line that changes on a terminal, a log line at an interval elsewhere.

use crate::redaction::public;
use crate::shell_words;
use crate::words::{bytes, count, number};
use kubereel_format::harmless;
use kubereel_recorder::{RecorderStatus, RecordingSummary};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use terminal_size::terminal_size_of;
use unicode_width::UnicodeWidthChar as _;

/// Whether the line stands on the terminal: what else is printed there takes its place, and it is drawn anew.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// What takes the line away.
const CLEAR: &str = "\r\u{1b}[K";

/// Writes something to stderr, over the line if it stands there.
pub(super) fn write_instead(text: &[u8]) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    if IS_DRAWN.swap(false, Ordering::Relaxed) {
        stderr.write_all(CLEAR.as_bytes())?;
    }
    stderr.write_all(text)
}

/// How many refused resources the last words name.
const REFUSED_SHOWN: usize = 5;

/// Over how long the rate of events is taken, in microseconds.
const RATE_MICROS: u64 = 5_000_000;

/// The line.
pub(super) struct LiveLine {
    is_terminal: bool,
    /// Times and numbers of events, oldest first.
    past: Vec<(u64, u64)>,
}

impl LiveLine {
    /// Begins.
    pub(super) const fn begin(is_terminal: bool) -> Self {
        Self {
            is_terminal,
            past: Vec::new(),
        }
    }

    /// Tells how the recording stands.
    pub(super) fn tell(&mut self, status: &RecorderStatus) {
        let rate = self.rate(status);
        if self.is_terminal {
            let mut stderr = io::stderr().lock();
            // Nothing is lost if the terminal is gone.
            let columns = terminal_size_of(io::stderr()).map(|(columns, _)| columns.0);
            let text = cut(&line(status, rate), columns.map(usize::from));
            drop(write!(stderr, "{CLEAR}{text}"));
            drop(stderr.flush());
            IS_DRAWN.store(true, Ordering::Relaxed);
            return;
        }
        tracing::info!(
            events = status.events(),
            events_per_second = rate,
            file_bytes = status.file_bytes,
            max_bytes = status.max_bytes,
            resources = status.resources,
            resources_complete = status.resources_complete,
            resources_not_covered = status.resources_not_covered,
            gaps = status.gaps,
            closed_gaps = status.closed_gaps,
            queued_bytes = status.queued_bytes,
            lag_secs = tenths(status.lag_micros / 100_000),
            trouble = trouble(status),
            "recording"
        );
    }

    fn rate(&mut self, status: &RecorderStatus) -> u64 {
        let now = (status.elapsed_micros, status.events());
        while self
            .past
            .get(1)
            .is_some_and(|(at, _)| now.0.saturating_sub(*at) >= RATE_MICROS)
        {
            self.past.remove(0);
        }
        self.past.push(now);
        let (since, before) = self.past.first().copied().unwrap_or(now);
        let events = now.1.saturating_sub(before).saturating_mul(1_000_000);
        events.checked_div(now.0.saturating_sub(since)).unwrap_or(0)
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        drop(write_instead(b"").and_then(|()| io::stderr().flush()));
    }
}

/// Tells whether stderr is a terminal.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

fn line(status: &RecorderStatus, rate: u64) -> String {
    let secs = status.elapsed_micros / 1_000_000;
    let mut parts = vec![
        format!("{:02}:{:02}:{:02}", secs / 3600, secs / 60 % 60, secs % 60),
        format!("{} events", number(status.events())),
        format!("{}/s", number(rate)),
        bytes(status.file_bytes),
        if status.resources_complete == status.resources {
            format!("{} resources", status.resources)
        } else {
            format!(
                "{} of {} resources",
                status.resources_complete, status.resources
            )
        },
        gaps(status),
        format!("lag {} s", tenths(status.lag_micros / 100_000)),
    ];
    if let Some(percent) = status.sealing_percent {
        parts.truncate(4);
        parts.push(format!("sealing, {percent} % · Ctrl-C skips it"));
        return parts.join(" · ");
    }
    let trouble = trouble(status);
    if !trouble.is_empty() {
        parts.push(trouble.to_owned());
    }
    parts.join(" · ")
}

/// Counts the gaps in which changes may be missing, and those that were read back.
fn gaps(status: &RecorderStatus) -> String {
    let open = count(status.gaps.saturating_sub(status.closed_gaps), "gap");
    match status.closed_gaps {
        0 => open,
        closed => format!("{open} ({} closed)", number(closed)),
    }
}

/// Cuts the line so that it stays one: what wraps cannot be taken away again.
fn cut(line: &str, columns: Option<usize>) -> String {
    let most = columns.unwrap_or(80).saturating_sub(1);
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used <= most
    };
    // Words of servers may hold anything.
    harmless(line).chars().take_while(fits).collect()
}

fn trouble(status: &RecorderStatus) -> &str {
    let troubles = [&status.write_trouble, &status.trouble, &status.budget];
    troubles
        .into_iter()
        .find(|trouble| !trouble.is_empty())
        .map_or("", String::as_str)
}

/// Tells, where somebody watches, what the recording has become.
pub(super) fn last_word(path: &Path, summary: &RecordingSummary) {
    // The name of a reel that was moved is that of another file, or of none.
    let name = (!summary.is_moved).then(|| path.display().to_string());
    let open = (!summary.is_moved).then(|| opener(path));
    if !is_watched() {
        tracing::info!(
            path = name.as_deref().map(tracing::field::display),
            events = summary.status.events(),
            gaps = summary.status.gaps,
            closed_gaps = summary.status.closed_gaps,
            file_bytes = summary.file_bytes,
            refused = refused(summary).join(", "),
            left_out = summary.status.budget,
            unpacked = summary.unpacked.as_deref().unwrap_or_default(),
            unsealed = summary.unsealed.as_deref().unwrap_or_default(),
            open,
            "the reel is finished"
        );
        return;
    }
    let mut line = format!(
        "{}: {}, {}, {}",
        name.as_deref().unwrap_or("the reel"),
        count(summary.status.events(), "event"),
        gaps(&summary.status),
        bytes(summary.file_bytes)
    );
    if !summary.refused.is_empty() {
        line.push_str("\n  not recorded, or not all the time:");
        line.extend(
            refused(summary)
                .iter()
                .flat_map(|words| ["\n    ", words.as_str()]),
        );
        if !summary.is_moved {
            let words = ["kubereel".into(), "verify".into(), path.into()];
            line.extend([
                "\n  to see why and when: ",
                &shell_words::shell_line(&words),
            ]);
        }
    }
    for word in [
        &summary.status.budget,
        summary.unpacked.as_ref().unwrap_or(&String::new()),
    ] {
        if !word.is_empty() {
            line.push_str("\n  ");
            line.push_str(word);
        }
    }
    if let Some(why) = &summary.unsealed {
        let seal = shell_words::shell_line(&["kubereel".into(), "seal".into(), path.into()]);
        line.extend(["\n  not sealed: ", why, "; to seal it: ", &seal]);
    }
    if let Some(open) = open {
        line.extend(["\nopen it: ", &open]);
    }
    line.push('\n');
    drop(io::stderr().lock().write_all(public(&line).as_bytes()));
}

/// Names the first resources that the servers refused, with the reason in a word.
fn refused(summary: &RecordingSummary) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for words in &summary.refused {
        let name: Vec<&str> = words.split(": ").take(2).collect();
        let name = name.join(": ");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.len() > REFUSED_SHOWN {
        names.truncate(REFUSED_SHOWN);
        names.push("…".to_owned());
    }
    names
}

/// Writes the command that opens a reel.
fn opener(path: &Path) -> String {
    shell_words::shell_line(&["kubereel".into(), path.into()])
}

fn tenths(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_there_is() {
        let mut status = RecorderStatus {
            elapsed_micros: 3_723_000_000,
            added: 12_000,
            modified: 345,
            file_bytes: 4_250_000,
            resources: 71,
            resources_complete: 71,
            lag_micros: 240_000,
            ..RecorderStatus::default()
        };
        assert_eq!(
            line(&status, 120),
            "01:02:03 · 12,345 events · 120/s · 4.2 MB · 71 resources · 0 gaps · lag 0.2 s"
        );
        status.sealing_percent = Some(42);
        assert_eq!(
            line(&status, 120),
            "01:02:03 · 12,345 events · 120/s · 4.2 MB · sealing, 42 % · Ctrl-C skips it"
        );
        status.sealing_percent = None;
        status.gaps = 1;
        status.resources_complete = 70;
        status.trouble = "connection refused".into();
        assert!(
            line(&status, 0)
                .ends_with("70 of 71 resources · 1 gap · lag 0.2 s · connection refused")
        );
        status.gaps = 58;
        status.closed_gaps = 58;
        assert!(line(&status, 0).contains(" · 0 gaps (58 closed) · "));
        status.write_trouble = "no space left".into();
        assert!(line(&status, 0).ends_with("no space left"));
    }

    #[test]
    fn the_line_stays_one() {
        assert_eq!(cut("12345", Some(4)), "123");
        assert_eq!(cut("1\n2", Some(4)).lines().count(), 1);
        assert_eq!(cut("宽宽", Some(4)), "宽");
    }

    #[test]
    fn the_rate_is_of_the_last_seconds() {
        let mut live = LiveLine::begin(true);
        let at = |secs: u64, added| RecorderStatus {
            elapsed_micros: secs * 1_000_000,
            added,
            ..RecorderStatus::default()
        };
        assert_eq!(live.rate(&at(0, 0)), 0);
        assert_eq!(live.rate(&at(1, 100)), 100);
        for secs in 2..20 {
            live.rate(&at(secs, 100));
        }
        assert_eq!(live.rate(&at(20, 100)), 0);
    }
}
