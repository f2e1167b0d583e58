//! Owns the keys that are pressed, and how long each takes.

use crate::row::{Row, head, memory, millis, of_process, of_thread};
use anyhow::{Result, ensure};
use kubereel_tui::headless::Headless;
use kubereel_tui::{Depth, Palette, Theme, TuiRequest};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Asks this program for the first screen and nothing else.
pub(crate) const FIRST: &str = "--first-screen-of";
const SIZE: (u16, u16) = (120, 40);
/// How often the reel is opened.
const OPENED: usize = 5;
/// From so many places all over the reel keys are pressed.
const PLACES: u64 = 30;

fn request(reel: &Path) -> TuiRequest {
    TuiRequest {
        path: reel.to_owned(),
        file: None,
        at: None,
        select: Some("clusteroperators/etcd".to_owned()),
        namespace: "default".to_owned(),
        filter: String::new(),
        state_folder: None,
        is_fresh: true,
    }
}

/// Presses everything, prints the rows, and gives the program at rest.
pub(crate) fn show(reel: &Path) -> Result<Headless> {
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
