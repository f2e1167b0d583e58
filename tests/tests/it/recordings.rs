//! Recordings, our own and real ones of other tools, go in and come out as they were.
//!
//! A shared recording: its lines as they are, the reel that is made of them, and the tables of its timeline.
//!
//! Every line of a recording comes out of its reel with the bytes of its object, its type, its time
//! and in its order.
//!
//! The objects that lived at sixteen moments of a real install, as its own recorder kept them in a
//! tree of files, and as the reel tells them.
//!
//! Objects of a real cluster, gathered at one moment, are that moment in the reel.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_in_result,
    reason = "what helps a test may fail it"
)]

use jiff::Timestamp;
use kubereel_format::{EventHead, OpenError, RecordedAt, Seq};
use kubereel_history::{Certainty, Cut, Exported, Moment, ObjectFilter, Timeline};
use kubereel_import::{ImportOptions, Imported, import};
use kubereel_tests::shared_data::shared_data;
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

mod upgrade;

/// How much the decompressor may look back, in powers of two.
const WINDOW_LOG_MAX: u32 = 27;

/// Returns what was compressed with a window of any usual length.
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
    /// Returns the recording that comes with the project: a cluster's update, with faults.
    pub fn own() -> Self {
        let lines = include_bytes!("../../../testdata/scenarios/monitortests.jsonl.zst");
        Self {
            bytes: decompressed(lines),
        }
    }

    /// Reads a recording; `None`, reported, if it is not there.
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
            timeline: opened(&path),
            imported,
            _folder: folder,
        }
    }

    /// Returns its lines.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let lines = self.bytes.split(|byte| *byte == b'\n');
        lines.filter(|line| !line.is_empty())
    }
}

/// Opens a reel that was just written. A child that another test starts has this process's files, with
/// their locks, until it runs a program of its own.
fn opened(path: &Path) -> Timeline {
    for _ in 0..100 {
        match Timeline::open(path) {
            Err(OpenError::InUse { .. }) => std::thread::sleep(Duration::from_millis(50)),
            opened => return opened.unwrap(),
        }
    }
    panic!("{} stays in use", path.display());
}

/// One table of a recording's timeline, as its authors wrote it: its heading and its rows' cells.
pub struct Section {
    pub heading: String,
    pub rows: Vec<Vec<String>>,
}

/// Reads the tables; `None`, reported, if the file is not there.
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

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    ts: &'a RawValue,
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    group: Option<&'a str>,
    version: Option<&'a str>,
    resource: Option<&'a str>,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// Checks a recording and tells how many lines it has.
fn comes_back(recording: &Recording, same_time: impl Fn(&Line<'_>, &Line<'_>) -> bool) -> usize {
    let reel = recording.import(&ImportOptions::new("test", "a recording"));
    assert_eq!(reel.imported.broken.count, 0);
    let mut out = Vec::new();
    let exported = Exported::write_jsonl(&reel.timeline, &mut out, |_| {}).unwrap();
    assert!(exported.unread.is_none());
    let exported = Recording { bytes: out };
    let mut count = 0;
    let mut lines = exported.lines();
    for before in recording.lines() {
        let before: Line<'_> = serde_json::from_slice(before).unwrap();
        let after: Line<'_> = serde_json::from_slice(lines.next().unwrap()).unwrap();
        count += 1;
        assert!(
            before.object.get() == after.object.get(),
            "the object of line {count} differs"
        );
        assert_eq!(before.kind, after.kind, "line {count}");
        assert!(same_time(&before, &after), "line {count}: {}", after.ts);
        for (before, after) in [
            (before.group, after.group),
            (before.version, after.version),
            (before.resource, after.resource),
        ] {
            assert!(after.is_some() && (before.is_none() || before == after));
        }
    }
    assert!(lines.next().is_none());
    count
}

#[test]
fn our_own_comes_back_byte_for_byte() {
    let same_time = |before: &Line<'_>, after: &Line<'_>| before.ts.get() == after.ts.get();
    assert_eq!(comes_back(&Recording::own(), same_time), 5918);
}

#[test]
fn the_install_comes_back_byte_for_byte() {
    let Some(recording) = Recording::read("okd412-sno-install-run1/events.jsonl.zst") else {
        return;
    };
    let same_time = |before: &Line<'_>, after: &Line<'_>| {
        let secs: i64 = before.ts.get().parse().unwrap();
        let text: &str = serde_json::from_str(after.ts.get()).unwrap();
        text.parse::<Timestamp>().unwrap() == Timestamp::from_second(secs).unwrap()
    };
    assert_eq!(comes_back(&recording, same_time), 7584);
}

#[test]
fn the_upgrade_comes_back_byte_for_byte() {
    let Some(recording) = Recording::read("cvo-upgrade/events.jsonl.zst") else {
        return;
    };
    let same_time = |before: &Line<'_>, after: &Line<'_>| before.ts.get() == after.ts.get();
    assert_eq!(comes_back(&recording, same_time), 6394);
}

#[test]
fn a_second_journey_changes_nothing() {
    let journey = |recording: &Recording| {
        let reel = recording.import(&ImportOptions::new("test", "a recording"));
        let mut bytes = Vec::new();
        Exported::write_jsonl(&reel.timeline, &mut bytes, |_| {}).unwrap();
        Recording { bytes }
    };
    let once = journey(&Recording::own());
    assert!(
        once.bytes == journey(&once).bytes,
        "the second export differs"
    );
}

#[derive(Deserialize)]
struct Checkpoint {
    events_applied_commits: usize,
    live_objects: usize,
    sha256_sorted_object_rv_uid: String,
    per_kind: BTreeMap<String, usize>,
}

/// Hashes sorted lines as the oracle does: joined, without an end behind the last.
fn hash(mut lines: Vec<String>) -> String {
    lines.sort_unstable();
    let sum = digest(&SHA256, lines.join("\n").as_bytes());
    sum.as_ref().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Returns the records of all events, in order.
fn events(timeline: &Timeline) -> Vec<Seq> {
    let reel = timeline.reel();
    let all = reel.objects().map(|object| reel.versions(object.id));
    let mut all: Vec<Seq> = all.flatten().copied().collect();
    all.sort_unstable();
    all
}

/// Returns a line for each object that lived after a record, and how many there are of each kind.
fn live(timeline: &Timeline, cut: Cut) -> (Vec<String>, BTreeMap<String, usize>) {
    let mut lines = Vec::new();
    let mut kinds = BTreeMap::new();
    for info in timeline.resources().iter() {
        let state = timeline.as_of(info.id, cut, &ObjectFilter::default());
        assert!(
            matches!(
                state.certainty,
                Certainty::Imported { .. } | Certainty::BeforeFirst { .. }
            ),
            "{:?}",
            state.certainty
        );
        for held in &state.objects {
            let head: EventHead = timeline.reel().head(held.seq).unwrap();
            let key = timeline.key_of(held.object).unwrap();
            lines.push(format!(
                "{}\t{}\t{}\t{}\t{}\t{}",
                info.api_version(),
                info.kind,
                held.namespace,
                held.name,
                head.resource_version,
                key.uid
            ));
        }
        if !state.objects.is_empty() {
            *kinds.entry(info.kind.clone()).or_default() += state.objects.len();
        }
    }
    (lines, kinds)
}

#[test]
fn the_live_objects_are_those_of_the_oracle_at_every_checkpoint() {
    let (Some(recording), Some(oracle)) = (
        Recording::read("okd412-sno-install-run1/events.jsonl.zst"),
        shared_data("okd412-sno-install-run1/oracle.json"),
    ) else {
        return;
    };
    let oracle = std::fs::read(oracle).unwrap();
    let oracle: Vec<Checkpoint> = serde_json::from_slice(&oracle).unwrap();
    let reel = recording.import(&ImportOptions::new("test", "a recording"));
    let events = events(&reel.timeline);
    assert_eq!(events.len(), 7584);
    let mut reproduced = Vec::new();
    for checkpoint in &oracle {
        let last = events[checkpoint.events_applied_commits - 1];
        let cut = Cut::Arrival {
            below: Seq(last.0 + 1),
            wall: reel
                .timeline
                .reel()
                .stamp(last)
                .map_or_else(RecordedAt::default, |at| at.wall),
        };
        let (lines, kinds) = live(&reel.timeline, cut);
        assert_eq!(lines.len(), checkpoint.live_objects);
        assert_eq!(kinds, checkpoint.per_kind);
        assert_eq!(hash(lines), checkpoint.sha256_sorted_object_rv_uid);
        reproduced.push(checkpoint.events_applied_commits);
    }
    let expected: Vec<usize> = (1..=15).map(|nth| nth * 500).chain([7584]).collect();
    assert_eq!(reproduced, expected);
}

/// At moments all over our own recording, the state is that of a replay of all lines.
#[test]
fn states_are_those_of_a_replay() {
    let mut recording = Recording::own();
    // Without the faults: with them there are objects of one name and two uids.
    let lines = recording.bytes.split_inclusive(|byte| *byte == b'\n');
    let base = lines.filter(|line| !line.starts_with(br#"{"fault""#));
    recording.bytes = base.flatten().copied().collect();
    let reel = recording.import(&ImportOptions::new("test", "a recording"));
    let timeline = &reel.timeline;
    let mut replay: BTreeMap<String, &str> = BTreeMap::new();
    for (line, seq) in recording.lines().zip(events(timeline)) {
        let line = str::from_utf8(line).unwrap();
        let value: Value = serde_json::from_str(line).unwrap();
        let uid = value["object"]["metadata"]["uid"].as_str().unwrap();
        let (_, object) = line.split_once(r#","object":"#).unwrap();
        replay.insert(uid.to_owned(), object.strip_suffix('}').unwrap());
        if value["type"] == "DELETED" {
            replay.remove(uid);
        }
        if !seq.0.is_multiple_of(800) {
            continue;
        }
        let cut = Cut::Arrival {
            below: Seq(seq.0 + 1),
            wall: timeline.reel().stamp(seq).unwrap().wall,
        };
        let mut bodies = Vec::new();
        for info in timeline.resources().iter() {
            let state = timeline.as_of(info.id, cut, &ObjectFilter::default());
            for held in &state.objects {
                let body = timeline.reel().body(held.seq).unwrap();
                bodies.push(String::from_utf8(body.to_vec()).unwrap());
            }
        }
        bodies.sort_unstable();
        let mut expected: Vec<&str> = replay.values().copied().collect();
        expected.sort_unstable();
        assert_eq!(bodies.len(), expected.len(), "after {seq:?}");
        assert!(bodies == expected, "the state after {seq:?}");
    }
}

/// 2021-08-03T11:30:00Z, behind everything that the objects tell of.
const AT_MICROS: i64 = 1_627_990_200_000_000;

fn at() -> ImportOptions {
    let mut options = ImportOptions::new("test", "a must-gather");
    options.at = Some(RecordedAt::from_micros(AT_MICROS));
    options
}

fn count(timeline: &Timeline, name: &str) -> usize {
    let resource = timeline.resources().find(name).unwrap();
    let cut = timeline.resolve(Moment::End).unwrap();
    let state = timeline.as_of(resource.id, cut, &ObjectFilter::default());
    assert!(matches!(state.certainty, Certainty::Imported { .. }));
    assert_eq!(state.at.micros, AT_MICROS);
    state.objects.len()
}

/// Checks that a reel holds just these objects, byte for byte and in their order.
fn holds(reel: &Reel, objects: &[String]) {
    let mut out = Vec::new();
    Exported::write_jsonl(&reel.timeline, &mut out, |_| {}).unwrap();
    let exported = Recording { bytes: out };
    let mut lines = exported.lines();
    for object in objects {
        let line = str::from_utf8(lines.next().unwrap()).unwrap();
        let (head, body) = line.split_once(r#","object":"#).unwrap();
        assert!(head.contains(r#""type":"ADDED""#));
        assert!(body.strip_suffix('}').unwrap() == object);
    }
    assert!(lines.next().is_none());
}

#[test]
fn a_gathered_cluster_is_one_moment_however_it_is_written() {
    let Some(recording) = Recording::read("must-gather-aws48/subset-732.jsonl") else {
        return;
    };
    let objects: Vec<String> = recording
        .lines()
        .map(|line| String::from_utf8(line.to_vec()).unwrap())
        .collect();
    assert_eq!(objects.len(), 732);
    let list = format!(
        "{{\n\"apiVersion\": \"v1\",\n\"items\": [{}],\n\"kind\": \"List\"}}",
        objects.join(",\n")
    );
    for bytes in [recording.bytes, list.into_bytes()] {
        let reel = Recording { bytes }.import(&at());
        assert_eq!(reel.imported.broken.count, 0);
        assert_eq!(reel.imported.events, 732);
        for (name, expected) in [
            ("events", 574),
            ("namespaces", 56),
            ("co", 31),
            ("po", 31),
            ("no", 6),
            ("machines", 6),
            ("mcp", 2),
            ("clusterversions", 1),
        ] {
            assert_eq!(count(&reel.timeline, name), expected, "{name}");
        }
        holds(&reel, &objects);
    }
}

#[test]
fn a_whole_cluster_keeps_its_bytes_and_loses_its_secrets_if_asked() {
    let Some(recording) = Recording::read("must-gather-aws48/objects.jsonl.zst") else {
        return;
    };
    let objects: Vec<String> = recording
        .lines()
        .map(|line| String::from_utf8(line.to_vec()).unwrap())
        .collect();
    let reel = recording.import(&at());
    assert_eq!(
        (reel.imported.events, reel.imported.broken.count),
        (8312, 0)
    );
    holds(&reel, &objects);
    // What the objects themselves say of their kinds.
    let mut kinds: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut with_data = 0;
    for object in &objects {
        let object: Value = serde_json::from_str(object).unwrap();
        let text = |name: &str| object[name].as_str().unwrap().to_owned();
        *kinds.entry((text("apiVersion"), text("kind"))).or_default() += 1;
        let values = ["data", "stringData"].map(|field| object[field].as_object());
        let has = |map: &serde_json::Map<String, Value>| map.values().any(|value| value != "");
        with_data += usize::from(text("kind") == "Secret" && values.into_iter().flatten().any(has));
    }
    let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
    for info in reel.timeline.resources().iter() {
        let objects = reel.timeline.objects_of(info.id).len();
        *found
            .entry((info.api_version(), info.kind.clone()))
            .or_default() += objects;
    }
    assert_eq!(found, kinds);
    let expected = Ok(with_data);
    assert_eq!(usize::try_from(reel.imported.secrets.with_data), expected);
    assert!(with_data > 500, "{with_data}");

    let mut options = at();
    options.redact = true;
    let reel = recording.import(&options);
    let secrets = reel.timeline.resources().find("secrets").unwrap().id;
    let mut redacted = 0;
    for &object in reel.timeline.objects_of(secrets) {
        for &seq in reel.timeline.reel().versions(object) {
            let body: Value =
                serde_json::from_slice(&reel.timeline.reel().body(seq).unwrap()).unwrap();
            for value in body["data"]
                .as_object()
                .into_iter()
                .flat_map(|data| data.values())
            {
                // The beginning of the mark in base64.
                assert!(
                    value
                        .as_str()
                        .unwrap()
                        .starts_with("cmVkYWN0ZWQgYnkga3ViZXJlZWw6")
                );
                redacted += 1;
            }
        }
    }
    assert!(redacted > 2000, "{redacted}");
}
