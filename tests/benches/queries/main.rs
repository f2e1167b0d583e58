//! What questions to a reel take, beside a replay that reads everything, in the same run.
//!
//! `cargo bench -p kubereel-tests --bench queries`. The reels are made once of the demo's
//! recording, and kept in the cache folder until the lines or the format have other bytes.
//! `KUBEREEL_BENCH_SIZES` (for example `200000,1000000`) asks for other sizes, `KUBEREEL_BENCH_ASKED`
//! for another number of questions. Times are times on a processor; only those of whole commands are
//! times of the clock.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "what is printed is rounded anyway"
)]

mod ask;
mod commands;
mod naive;
mod real;
mod reels;
mod table;

use anyhow::{Context as _, Result};

fn main() -> Result<()> {
    let sizes = std::env::var("KUBEREEL_BENCH_SIZES").unwrap_or_else(|_| "200000,1000000".into());
    let asked = match std::env::var("KUBEREEL_BENCH_ASKED") {
        Ok(count) => count.parse().context("KUBEREEL_BENCH_ASKED")?,
        Err(_) => 1_000,
    };
    let mut largest = None;
    table::head();
    for size in sizes.split(',') {
        let events = size.trim().parse().context("KUBEREEL_BENCH_SIZES")?;
        let made = reels::get(events)?;
        let naive = naive::replay(&made.lines, made.middle)?;
        ask::show(&made, &naive, asked)?;
        largest = Some(made);
    }
    println!();
    real::show()?;
    if let Some(made) = &largest {
        println!();
        commands::show(made)?;
    }
    Ok(())
}
