//! What the screen takes on a reel of a million events: the real loop with its real threads, on a
//! terminal that only counts; and the real program in a real terminal.
//!
//! `cargo bench -p kubereel-tests --bench tui`. The reel is that of the bench of questions.
//! `KUBEREEL_BENCH_SIZES` asks for another size. The baseline is in the same run: the whole frame
//! is drawn anew from what is in memory. Times are times on a processor: of the loop's thread for a
//! frame, of all threads for an answer.
//!
//! What a program at rest costs.
//!
//! The real program in a real terminal: its memory, and its work without input.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

use crate::keys::{
    FirstScreen, Row, STEPS, begin, everywhere, first_screen, head, memory, millis, of_process,
    press,
};
use anyhow::{Context as _, Result, anyhow, ensure};
use kubereel_tests::recording::program;
use kubereel_tests::tmux::Terminal;
use kubereel_tui::headless::Headless;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod keys;
#[path = "../queries/reels.rs"]
#[expect(dead_code, reason = "shared with the bench of questions")]
mod reels;

fn main() -> Result<()> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|arg| arg == FIRST) {
        let reel = args.next().context("no reel")?;
        let FirstScreen {
            clock,
            cpu,
            megabytes,
        } = first_screen(reel.as_ref())?;
        println!(
            "first screen: {:.0} ms of the clock, {:.0} ms on processors, {megabytes:.0} MB (at most 300 ms)",
            millis(clock),
            millis(cpu),
        );
        return Ok(());
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
const FIRST: &str = "--first-screen-of";
/// The length of the reel in which keys are pressed.
const MINUTES: u64 = 900;
/// How often the reel is opened.
const OPENED: usize = 5;

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
    let mut ui = begin(reel)?;
    ui.settle()?;
    println!(
        "lanes of the whole reel: {:.0} ms of the clock, {:.0} ms on processors",
        millis(clock.elapsed()),
        millis(of_process().saturating_sub(cpu)),
    );
    println!();
    head();
    for (name, keys) in STEPS {
        everywhere(&mut ui, MINUTES, keys)?.print(name, 16.0);
    }
    everywhere(&mut ui, MINUTES, &["+", "+", "+", "-", "a", "d"])?
        .print("zoom and pan: + - a d", 50.0);
    ui.press("Z");
    ui.settle()?;
    filter(&mut ui)?.print("filter of lanes, a letter each", 50.0);
    let lists: [(&str, &[&str]); 3] = [
        ("problems: p, rows", &["p", "<Down>", "<Down>", "<Esc>"]),
        ("resources: b, rows", &["b", "<Down>", "<Down>", "<Esc>"]),
        ("history: H, events: E, y", &["H", "E", "y"]),
    ];
    for (name, keys) in lists {
        everywhere(&mut ui, MINUTES, keys)?.print(name, 50.0);
    }
    Ok(ui)
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
    until_judged(&terminal, &process)?;
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

/// Waits until the rules have judged the reel, whose progress shows in the title, and the program is at rest.
fn until_judged(terminal: &Terminal, process: &str) -> Result<()> {
    let started = Instant::now();
    loop {
        let screen = terminal.screen()?;
        if screen.contains("problems ") && !screen.contains("· rules ") {
            break;
        }
        ensure!(started.elapsed() < JUDGED, "no findings:\n{screen}");
        std::thread::sleep(Duration::from_millis(200));
    }
    // The list of problems is made anew with what the rules found; nothing on the screen says when it is done.
    let mut before = ticks(process)?;
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let now = ticks(process)?;
        if now == before {
            return Ok(());
        }
        ensure!(started.elapsed() < JUDGED, "it does not come to rest");
        before = now;
    }
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
