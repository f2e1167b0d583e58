//! Owns the reels that are asked: written by the second player, imported, kept in the cache.
//!
//! A reel's name holds a fingerprint of what the player and the format make of a few lines, so that
//! a change of either makes it anew. Refuses to measure a stale one.

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{RecordedAt, Reel, Seq};
use kubereel_import::ImportOptions;
use kubereel_tests::scenario::Writing;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// How many lines tell one state of the code from another.
const FINGERPRINT: u64 = 2_000;
/// All reels are of one seed.
const SEED: u64 = 7;

/// A reel and the lines it was made of.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) events: u64,
    pub(crate) reel: PathBuf,
    /// Compressed, lightly.
    pub(crate) lines: PathBuf,
    /// A moment in its middle.
    pub(crate) middle: RecordedAt,
}

/// Gives the reel of so many events.
pub(crate) fn get(events: u64) -> Result<Made> {
    let folder = folder()?;
    let stem = format!("written-{events}-{}", fingerprint(events, &folder)?);
    let lines = folder.join(format!("{stem}.jsonl.zst"));
    let reel = folder.join(format!("{stem}.reel"));
    if !reel.exists() || !lines.exists() {
        forget(&folder, &format!("written-{events}-"))?;
        write(events, &lines)?;
        import(&lines, &reel)?;
    }
    let opened = Reel::open(&reel)?;
    ensure!(
        opened.event_count() == events,
        "{} events",
        opened.event_count()
    );
    let middle = opened
        .stamp(Seq(opened.end().0 / 2))
        .context("no middle")?
        .wall;
    Ok(Made {
        events,
        reel,
        lines,
        middle,
    })
}

fn folder() -> Result<PathBuf> {
    let cache = match std::env::var_os("KUBEREEL_CACHE") {
        Some(cache) => PathBuf::from(cache),
        None => Path::new(&std::env::var_os("HOME").context("no HOME")?).join(".cache/kubereel"),
    };
    let folder = cache.join("bench-queries");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Takes reels of the same size away that other code has made.
fn forget(folder: &Path, start: &str) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(start) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn fingerprint(events: u64, folder: &Path) -> Result<String> {
    let scratch = tempfile::tempdir_in(folder)?;
    let (lines, reel) = (
        scratch.path().join("few.jsonl.zst"),
        scratch.path().join("few.reel"),
    );
    // The larger cluster begins with other nodes: its own first lines tell.
    let growing = Writing {
        seed: SEED,
        events,
        ..Writing::default()
    };
    let mut out = zstd::stream::write::Encoder::new(File::create(&lines)?, 1)?;
    let mut first = First {
        out: &mut out,
        lines_left: FINGERPRINT,
    };
    match growing.write(&mut first) {
        Ok(_all) => {}
        Err(_enough) if first.lines_left == 0 => {}
        Err(error) => return Err(error.into()),
    }
    out.finish()?;
    import(&lines, &reel)?;
    let bytes = std::fs::read(&reel)?;
    let hash = ring::digest::digest(&ring::digest::SHA256, &bytes);
    let start: [u8; 8] = hash.as_ref().first_chunk().copied().unwrap_or_default();
    Ok(format!("{:016x}", u64::from_be_bytes(start)))
}

/// Takes so many lines, and no more.
struct First<'w, W> {
    out: &'w mut W,
    lines_left: u64,
}

impl<W: std::io::Write> std::io::Write for First<'_, W> {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if self.lines_left == 0 {
            return Err(std::io::Error::other("enough lines"));
        }
        self.out.write_all(line)?;
        self.lines_left -= 1;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn write(events: u64, lines: &Path) -> Result<()> {
    let writing = Writing {
        seed: SEED,
        events,
        ..Writing::default()
    };
    let part = lines.with_extension("part");
    let encoder = zstd::stream::write::Encoder::new(File::create(&part)?, 1)?;
    let mut out = BufWriter::with_capacity(1 << 20, encoder);
    let written = writing.write(&mut out)?;
    out.into_inner()
        .map_err(std::io::IntoInnerError::into_error)?
        .finish()?
        .flush()?;
    ensure!(written.events == events, "{} events", written.events);
    std::fs::rename(part, lines)?;
    Ok(())
}

pub(crate) fn import(lines: &Path, reel: &Path) -> Result<()> {
    let mut decoder = zstd::stream::read::Decoder::new(File::open(lines)?)?;
    decoder.window_log_max(27)?;
    let options = ImportOptions::new("bench", "the second player");
    let input = BufReader::with_capacity(1 << 20, decoder);
    let imported = kubereel_import::import(input, reel, &options, |_bytes| {})?;
    ensure!(
        imported.broken.count == 0,
        "broken lines: {:?}",
        imported.broken
    );
    Ok(())
}
