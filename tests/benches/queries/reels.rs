//! The reels that are asked: the demo's recording over and over, imported, and kept in the cache.
//!
//! Cluster-wide objects live through all rounds. Those in namespaces are new in each round, in namespaces of
//! its own, and are deleted [`LIVING`] rounds later: some ten thousand objects live. A reel's name holds a
//! fingerprint of what a few lines make, so that a change of the recording, of the lines or of the format
//! makes it anew.

use anyhow::{Context as _, Result, ensure};
use jiff::{SignedDuration, Timestamp};
use kubereel_format::{RecordedAt, Reel, Seq};
use kubereel_history::{Exported, Timeline};
use kubereel_import::ImportOptions;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How many lines tell one state of the code from another.
const FINGERPRINT: u64 = 12_000;
/// The objects of this many rounds live at once.
const LIVING: usize = 4;
/// What differs between rounds: times, uids, namespaces, resourceVersions.
const DIFFERENT: &str = r#""(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"|"uid":"[0-9a-f]{4}(-?[0-9a-f-]+)"|"namespace":"([^"]+)"|"resourceVersion":"\d+""#;

/// A reel and the lines it was made of.
#[derive(Debug)]
pub(crate) struct BenchReel {
    pub(crate) events: u64,
    pub(crate) reel: PathBuf,
    /// Compressed, lightly.
    pub(crate) lines: PathBuf,
    /// A moment in its middle.
    pub(crate) middle: RecordedAt,
}

/// Returns the reel of this many events.
pub(crate) fn get(events: u64) -> Result<BenchReel> {
    let folder = folder()?;
    let stem = format!("written-{events}-{}", fingerprint(&folder)?);
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
    Ok(BenchReel {
        events,
        reel,
        lines,
        middle,
    })
}

/// Returns the folder in which the benches keep what they have made.
pub(crate) fn folder() -> Result<PathBuf> {
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

fn fingerprint(folder: &Path) -> Result<String> {
    let scratch = tempfile::tempdir_in(folder)?;
    let (lines, reel) = (
        scratch.path().join("few.jsonl.zst"),
        scratch.path().join("few.reel"),
    );
    write(FINGERPRINT, &lines)?;
    import(&lines, &reel)?;
    let hash = ring::digest::digest(&ring::digest::SHA256, &std::fs::read(&reel)?);
    let start: [u8; 8] = hash.as_ref().first_chunk().copied().unwrap_or_default();
    Ok(format!("{:016x}", u64::from_be_bytes(start)))
}

fn write(events: u64, lines: &Path) -> Result<()> {
    let part = lines.with_extension("part");
    let encoder = zstd::stream::write::Encoder::new(File::create(&part)?, 1)?;
    let mut out = BufWriter::with_capacity(1 << 20, encoder);
    Recorded::read()?.write(events, &mut out)?;
    out.into_inner()
        .map_err(std::io::IntoInnerError::into_error)?
        .finish()?
        .flush()?;
    std::fs::rename(part, lines)?;
    Ok(())
}

/// A recording that is written again and again.
struct Recorded {
    lines: Vec<Line>,
    /// The last lines of the objects in namespaces that are left at its end.
    left: Vec<usize>,
    lasts: SignedDuration,
}

/// A line of it, cut where rounds differ.
struct Line {
    at: Timestamp,
    kind: String,
    /// Group, version and resource.
    served: String,
    is_namespaced: bool,
    object: Vec<Piece>,
}

enum Piece {
    Text(String),
    Time(Timestamp),
    /// All but its first four digits.
    Uid(String),
    Namespace(String),
    Version,
}

impl Recorded {
    fn read() -> Result<Self> {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
        let mut text = Vec::new();
        Exported::write_jsonl(&Timeline::open(&demo)?, &mut text, |_seq| {})?;
        let different = Regex::new(DIFFERENT)?;
        let (mut lines, mut left) = (Vec::new(), BTreeMap::new());
        for (place, text) in std::str::from_utf8(&text)?.lines().enumerate() {
            let value: Value = serde_json::from_str(text)?;
            let field = |path| {
                let text = value.pointer(path).and_then(Value::as_str);
                text.map(str::to_owned)
            };
            let line = Line {
                at: field("/ts").context("no time")?.parse()?,
                kind: field("/type").context("no type")?,
                served: between(text, r#","group":"#, r#","object":"#)?.to_owned(),
                is_namespaced: field("/object/metadata/namespace").is_some(),
                object: pieces(text, &different)?,
            };
            let uid = field("/object/metadata/uid");
            if line.kind == "DELETED" {
                left.remove(&uid);
            } else if line.is_namespaced {
                left.insert(uid, place);
            }
            lines.push(line);
        }
        let times = lines.iter().map(|line| line.at);
        let first = times.clone().min().context("no line")?;
        let last = times.max().context("no line")?;
        Ok(Self {
            lines,
            left: left.into_values().collect(),
            lasts: last.duration_since(first) + SignedDuration::from_secs(1),
        })
    }

    /// Writes this many lines.
    fn write(&self, most: u64, out: &mut impl Write) -> Result<()> {
        let all = (0_usize..).flat_map(|round| {
            let ended = round.checked_sub(LIVING).into_iter();
            let gone = ended.flat_map(|ended| self.left.iter().map(move |place| (ended, *place)));
            let gone = gone.map(move |(ended, place)| (round, ended, place, true));
            let now = (0..self.lines.len()).map(move |place| (round, round, place, false));
            gone.chain(now)
        });
        let start = self.lines.first().context("no line")?.at;
        for (version, (now, round, place, is_gone)) in (0..most).zip(all) {
            let line = self.lines.get(place).context("no such line")?;
            let began = self.lasts * i32::try_from(now)?;
            let (at, kind) = if is_gone {
                (start + began, "DELETED")
            } else {
                (line.at + began, line.kind.as_str())
            };
            let served = &line.served;
            write!(
                out,
                r#"{{"ts":"{at}","type":"{kind}","group":{served},"object":"#
            )?;
            let told = self.lasts * i32::try_from(round)?;
            for piece in &line.object {
                match piece {
                    Piece::Text(text) => write!(out, "{text}")?,
                    Piece::Time(time) => write!(out, r#""{}""#, *time + told)?,
                    Piece::Uid(uid) if line.is_namespaced => {
                        write!(out, r#""uid":"{round:04x}{uid}""#)?;
                    }
                    Piece::Uid(uid) => write!(out, r#""uid":"0000{uid}""#)?,
                    Piece::Namespace(name) => write!(out, r#""namespace":"{name}-{round}""#)?,
                    Piece::Version => write!(out, r#""resourceVersion":"{}""#, version + 1)?,
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Result<&'t str> {
    let (_, rest) = text.split_once(start).context("no start")?;
    Ok(rest.split_once(end).context("no end")?.0)
}

/// Cuts the object of a line, and what ends the line.
fn pieces(line: &str, different: &Regex) -> Result<Vec<Piece>> {
    let (_, mut rest) = line.split_once(r#","object":"#).context("no object")?;
    let mut pieces = Vec::new();
    while let Some(found) = different.captures(rest) {
        let whole = found.get_match();
        let (before, after) = (rest.get(..whole.start()), rest.get(whole.end()..));
        pieces.push(Piece::Text(before.unwrap_or_default().to_owned()));
        let part = |nth| found.get(nth).map(|part| part.as_str().to_owned());
        pieces.push(match (part(1), part(2), part(3)) {
            (Some(time), ..) => Piece::Time(time.parse()?),
            (_, Some(uid), _) => Piece::Uid(uid),
            (.., Some(namespace)) => Piece::Namespace(namespace),
            _ => Piece::Version,
        });
        rest = after.unwrap_or_default();
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

pub(crate) fn import(lines: &Path, reel: &Path) -> Result<()> {
    let mut decoder = zstd::stream::read::Decoder::new(File::open(lines)?)?;
    decoder.window_log_max(27)?;
    let options = ImportOptions::new("bench", "the demo, over and over");
    let input = BufReader::with_capacity(1 << 20, decoder);
    let imported = kubereel_import::import(input, reel, &options, |_bytes| {})?;
    ensure!(
        imported.broken.count == 0,
        "broken lines: {:?}",
        imported.broken
    );
    Ok(())
}
