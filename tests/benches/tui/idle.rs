//! Owns what a program at rest costs.

use crate::row::{millis, of_process};
use anyhow::{Context as _, Result, anyhow, ensure};
use kubereel_tui::headless::Headless;
use std::time::Duration;

/// How long nobody does anything.
const IDLE: Duration = Duration::from_secs(10);

/// Leaves it alone for a while, and prints what that cost.
pub(crate) fn show(mut ui: Headless) -> Result<()> {
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
