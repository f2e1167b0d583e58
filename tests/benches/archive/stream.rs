//! The watch stream of a large OpenShift cluster with the bodies of real objects, made by the shared generator of real
//! recordings. It is made once, and kept in the cache folder of the other benches.

use crate::reels::folder;
use anyhow::{Context as _, Result, ensure};
use kubereel_tests::shared_data::shared_data;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The recording whose objects live again, and the snapshot of a cluster around them.
pub(crate) const RECORDING: &str = "okd412-sno-install-run1/events.jsonl.zst";
const SNAPSHOT: &str = "must-gather-aws48/objects.jsonl.zst";
const GENERATOR: &str = "../tools/watch_stream.py";
/// The generator asks for more Pods than the recording has.
const TIMES_RECORDED: usize = 3;

/// Returns the compressed lines of a stream of `scale` times some 280,000 events; `None`, reported, if the recordings
/// are not there.
pub(crate) fn lines(scale: f64) -> Result<Option<PathBuf>> {
    let (Some(recording), Some(snapshot), Some(generator)) = (
        shared_data(RECORDING),
        shared_data(SNAPSHOT),
        shared_data(GENERATOR),
    ) else {
        return Ok(None);
    };
    let folder = folder()?;
    let lines = folder.join(format!("stream-{scale}.jsonl.zst"));
    if !lines.exists() {
        let scratch = tempfile::tempdir_in(&folder)?;
        let recording = inflate(&recording, &scratch.path().join("recording.jsonl"))?;
        let snapshot = inflate(&snapshot, &scratch.path().join("snapshot.jsonl"))?;
        let part = lines.with_extension("part");
        let mut python = Command::new("python3");
        python.arg(generator);
        for _ in 0..TIMES_RECORDED {
            python.arg("--recording").arg(&recording);
        }
        let mut child = python
            .arg("--must-gather")
            .arg(snapshot)
            .args(["--out", "/dev/stdout", "--seed", "7", "--scale"])
            .arg(scale.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("python3")?;
        let mut stream = BufReader::new(child.stdout.take().context("no pipe")?);
        let mut encoder = zstd::stream::write::Encoder::new(File::create(&part)?, 1)?;
        std::io::copy(&mut stream, &mut encoder)?;
        encoder.finish()?.flush()?;
        let status = child.wait()?;
        ensure!(status.success(), "watch_stream.py (needs orjson): {status}");
        std::fs::rename(part, &lines)?;
    }
    Ok(Some(lines))
}

/// Opens compressed lines.
pub(crate) fn open(lines: &Path) -> Result<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::new(File::open(lines)?)?;
    decoder.window_log_max(27)?;
    Ok(decoder)
}

fn inflate(from: &Path, to: &Path) -> Result<PathBuf> {
    let mut out = BufWriter::new(File::create(to)?);
    std::io::copy(&mut open(from)?, &mut out)?;
    out.flush()?;
    Ok(to.to_owned())
}
