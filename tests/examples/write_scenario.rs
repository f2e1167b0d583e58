//! Writes the scenario as JSON lines, one watch event each, with true durations.
//!
//! `write_scenario [--events N] [--seed N] [--event-ttl SECS] > FILE`: the same arguments write the
//! same bytes. What was written is told on stderr.

use std::io::{BufWriter, Write as _};

use anyhow::{Context as _, bail};
use kubereel_tests::scenario::Writing;

fn main() -> anyhow::Result<()> {
    let mut writing = Writing::default();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--events" => writing.events = value()?.parse()?,
            "--seed" => writing.seed = value()?.parse()?,
            "--event-ttl" => writing.event_ttl_secs = value()?.parse()?,
            other => bail!(
                "unknown argument {other}; usage: write_scenario [--events N] [--seed N] [--event-ttl SECS]"
            ),
        }
    }
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let written = writing.write(&mut out)?;
    out.flush()?;
    let mut told = std::io::stderr().lock();
    writeln!(
        told,
        "{} events from {} to {}; {} objects live at the end, {} at most; time stood still for {} s",
        written.events,
        writing.begins,
        written.ends,
        written.live,
        written.live_most,
        written.held_secs
    )?;
    for (resource, events) in &written.by_resource {
        writeln!(told, "{events:>9} {resource}")?;
    }
    for (fault, from, to) in &written.faults {
        let to = to.map_or_else(|| "…".to_owned(), |to| to.to_string());
        writeln!(
            told,
            "planted {} at {}: {from} – {to}",
            fault.kind, fault.object
        )?;
    }
    Ok(())
}
