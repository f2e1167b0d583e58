//! Writes the scenario for monitortests as JSON lines, one watch event each, with true durations.
//!
//! `write_monitored [--all] [--fault NAME]… > FILE`: the base alone, with some faults, or with all.
//! The same arguments write the same bytes. What a run must find is told on stderr.

use std::collections::BTreeSet;
use std::io::Write as _;

use anyhow::{Context as _, bail};
use kubereel_tests::scenario::Monitored;

fn main() -> anyhow::Result<()> {
    let scenario = Monitored::read()?;
    let mut on = BTreeSet::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--all" => on.extend(scenario.all().into_iter().map(ToOwned::to_owned)),
            "--fault" => {
                on.insert(args.next().context("--fault needs a name")?);
            }
            other => {
                bail!("unknown argument {other}; usage: write_monitored [--all] [--fault NAME]…")
            }
        }
    }
    let on: BTreeSet<&str> = on.iter().map(String::as_str).collect();
    std::io::stdout().lock().write_all(&scenario.lines(&on)?)?;
    let mut told = std::io::stderr().lock();
    let faults = scenario.faults.iter();
    for fault in faults.filter(|fault| on.contains(fault.name.as_str())) {
        for expected in &fault.expected {
            let at = scenario.time(expected.at_secs);
            writeln!(
                told,
                "{}: at {at} {}: {:?}",
                fault.name, expected.test, expected.verdict
            )?;
        }
    }
    Ok(())
}
