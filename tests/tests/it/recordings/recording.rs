//! A shared recording: its lines as they are, the reel that is made of them, and the tables of its timeline.

use jiff::Timestamp;
use kubereel_format::RecordedAt;
use kubereel_history::Timeline;
use kubereel_import::{ImportOptions, Imported, import};
use kubereel_tests::shared_data::shared_data;
use tempfile::TempDir;

/// How much the decompressor may look back, in powers of two.
const WINDOW_LOG_MAX: u32 = 27;

/// Gives what was compressed with a window of any usual length.
fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let mut decoder = zstd::Decoder::new(bytes).unwrap();
    decoder.window_log_max(WINDOW_LOG_MAX).unwrap();
    let mut text = Vec::new();
    std::io::copy(&mut decoder, &mut text).unwrap();
    text
}

/// A recording.
pub struct Recording {
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A reel that was made of a recording.
pub struct Reel {
    _folder: TempDir,
    pub timeline: Timeline,
    pub imported: Imported,
}

impl Recording {
    /// Gives the recording that comes with the project: a cluster's update, with faults.
    pub fn own() -> Self {
        let lines = include_bytes!("../../../../testdata/scenarios/monitortests.jsonl.zst");
        Self {
            bytes: decompressed(lines),
        }
    }

    /// Reads a recording; `None`, said aloud, if it is not there.
    pub fn read(file: &str) -> Option<Self> {
        let path = shared_data(file)?;
        let bytes = std::fs::read(&path).unwrap();
        let is_compressed = path.extension().is_some_and(|ending| ending == "zst");
        let bytes = if is_compressed {
            decompressed(&bytes)
        } else {
            bytes
        };
        Some(Self { bytes })
    }

    /// Makes a reel of it.
    pub fn import(&self, options: &ImportOptions) -> Reel {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.reel");
        let imported = import(self.bytes.as_slice(), &path, options, |_| {}).unwrap();
        Reel {
            timeline: Timeline::open(&path).unwrap(),
            imported,
            _folder: folder,
        }
    }

    /// Gives its lines.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let lines = self.bytes.split(|byte| *byte == b'\n');
        lines.filter(|line| !line.is_empty())
    }
}

/// One table of a recording's timeline, as its authors wrote it: its heading and its rows' cells.
pub struct Section {
    pub heading: String,
    pub rows: Vec<Vec<String>>,
}

/// Reads the tables; `None`, said aloud, if the file is not there.
pub fn sections() -> Option<Vec<Section>> {
    let text = std::fs::read_to_string(shared_data("cvo-upgrade/timeline.md")?).unwrap();
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push(Section {
                heading: heading.to_owned(),
                rows: Vec::new(),
            });
        }
        let Some(cells) = line
            .strip_prefix('|')
            .and_then(|line| line.strip_suffix('|'))
        else {
            continue;
        };
        let cells: Vec<String> = cells
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect();
        // Headers and their rule have no time.
        if cells[0].starts_with(|letter: char| letter.is_ascii_digit()) {
            sections.last_mut().unwrap().rows.push(cells);
        }
    }
    Some(sections)
}

/// Reads a time of the recording's day.
pub fn time(cell: &str) -> RecordedAt {
    let time: Timestamp = format!("2026-11-21T{cell}Z").parse().unwrap();
    RecordedAt::from_micros(time.as_microsecond())
}
