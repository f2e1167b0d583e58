//! Owns the real program in a real terminal: its memory, and what it does when nobody does anything.

use crate::row::memory;
use anyhow::{Context as _, Result, ensure};
use kubereel_tests::recording::program;
use kubereel_tests::tmux::Terminal;
use std::path::Path;
use std::time::{Duration, Instant};

const IDLE: Duration = Duration::from_secs(10);

/// How long the child may take that judges the reel.
const JUDGED: Duration = Duration::from_mins(5);

/// So many jumps lead all over the reel and back.
const JUMPS: u64 = 32;

/// Runs it, and prints its rows.
pub(crate) fn show(reel: &Path) -> Result<()> {
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
    terminal.until("CLUSTERVERSION")?;
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
