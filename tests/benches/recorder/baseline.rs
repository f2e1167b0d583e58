//! Owns what the recorder is held against: parsing every line into a `serde_json::Value`, and
//! `zstd -19 --long=27` over the exported lines.

use crate::process::own_cpu;
use anyhow::{Context as _, Result};
use kubereel_format::{Reel, Seq};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The lines of a reel as the server sent them on its watches.
pub(crate) fn watch_lines(reel: &Path) -> Result<Vec<Vec<u8>>> {
    let reel = Reel::open(reel)?;
    let lines = reel.scan(Seq(0)).map(|event| {
        let event = event?;
        let mut line = format!(r#"{{"type":"{}","object":"#, event.head.kind.as_str()).into_bytes();
        line.extend_from_slice(&event.body);
        line.push(b'}');
        Ok(line)
    });
    lines.collect()
}

/// The time on a processor that parsing all the lines takes.
pub(crate) fn parsing(lines: &[Vec<u8>]) -> Result<Duration> {
    let started = own_cpu()?;
    for line in lines {
        let value: Value = serde_json::from_slice(line)?;
        std::hint::black_box(&value);
    }
    Ok(own_cpu()?.saturating_sub(started))
}

/// What the export of a reel weighs, and what `zstd -19 --long=27` makes of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exported {
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    pub(crate) compressed_bytes: u64,
}

/// Compresses what `kubereel export` writes.
pub(crate) fn exported(reel: &Path) -> Result<Exported> {
    let mut export = Command::new(kubereel_tests::recording::program()?)
        .arg("export")
        .arg(reel)
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = export.stdout.take().context("no pipe")?;
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 19)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(27)?;
    let mut reader = BufReader::new(stdout);
    let (mut line, mut events, mut bytes) = (Vec::new(), 0, 0);
    while reader.read_until(b'\n', &mut line)? > 0 {
        encoder.write_all(&line)?;
        events += 1;
        bytes += u64::try_from(line.len())?;
        line.clear();
    }
    let status = export.wait()?;
    anyhow::ensure!(status.success(), "export: {status}");
    Ok(Exported {
        events,
        bytes,
        compressed_bytes: u64::try_from(encoder.finish()?.len())?,
    })
}
