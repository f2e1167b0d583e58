//! What the screen takes on a reel of a million events: the real loop with its real threads, on a
//! terminal that only counts; and the real program in a real terminal.
//!
//! `cargo bench -p kubereel-tests --bench tui`. The reel is that of the bench of questions.
//! `KUBEREEL_BENCH_SIZES` asks for another size. The baseline is in the same run: the whole frame is
//! drawn anew from what is in memory. Times are times on a processor: of the loop's thread for a
//! frame, of all threads for an answer.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

mod drive;
mod idle;
mod process;
#[path = "../queries/reels.rs"]
#[expect(dead_code, reason = "shared with the bench of questions")]
mod reels;
mod row;

use anyhow::{Context as _, Result};

fn main() -> Result<()> {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|arg| arg == drive::FIRST) {
        let reel = args.next().context("no reel")?;
        return drive::first_screen(reel.as_ref());
    }
    let sizes = std::env::var("KUBEREEL_BENCH_SIZES").unwrap_or_else(|_| "1000000".into());
    let events = sizes.split(',').next_back().unwrap_or_default();
    let made = reels::get(events.trim().parse().context("KUBEREEL_BENCH_SIZES")?)?;
    println!("{} events, 120 columns, 40 rows", made.events);
    let settled = drive::show(&made.reel)?;
    idle::show(settled)?;
    process::show(&made.reel)
}
