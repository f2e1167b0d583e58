//! Owns the real program in a real terminal: its memory, and what it does when nobody does anything.

use crate::row::memory;
use anyhow::{Context as _, Result};
use kubereel_tests::recording::program;
use kubereel_tests::tmux::Terminal;
use std::path::Path;
use std::time::{Duration, Instant};

const IDLE: Duration = Duration::from_secs(10);

/// Runs it, and prints a row.
pub(crate) fn show(reel: &Path) -> Result<()> {
    let program = program()?;
    let started = Instant::now();
    let words = format!("exec {} tui {}", program.display(), reel.display());
    let Some(terminal) = Terminal::start((120, 40), &words)? else {
        return Ok(());
    };
    terminal.until("shows ")?;
    let first = started.elapsed();
    terminal.until("CLUSTERVERSION")?;
    let process = terminal.process()?.to_string();
    for key in ["n", "Right", "c", "t", "n", "+", "+", "-", "H", "E", "y"] {
        terminal.press(&[key])?;
        std::thread::sleep(Duration::from_millis(300));
    }
    std::thread::sleep(Duration::from_millis(500));
    let before = (written(&process)?, ticks(&process)?);
    std::thread::sleep(IDLE);
    let after = (written(&process)?, ticks(&process)?);
    let (now, most) = memory(&process);
    println!(
        "the program in tmux: first screen seen after {} ms; {now:.0} MB, {most:.0} MB at most (at most 200 MB); idle for {} s: {} bytes written, {} ms on processors",
        first.as_millis(),
        IDLE.as_secs(),
        after.0 - before.0,
        // A tick is 10 ms everywhere that Linux runs.
        (after.1 - before.1) * 10,
    );
    terminal.press(&["q"])
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
