//! What the second player writes goes into a reel by an import, and the questions find there what
//! the scenario has planted.

use kubereel_cluster::ClusterHistory;
use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use kubereel_history::{Cut, Exported, ObjectFilter, Timeline};
use kubereel_import::{ImportOptions, import};
use kubereel_tests::scenario::{Writing, Written};
use serde_json::Value;
use tempfile::TempDir;

/// The whole story, and a little of the load.
const EVENTS: u64 = 12_000;

struct Reel {
    _folder: TempDir,
    timeline: Timeline,
    lines: Vec<u8>,
    written: Written,
}

fn reel() -> Result<Reel> {
    let writing = Writing {
        seed: 11,
        events: EVENTS,
        ..Writing::default()
    };
    let mut lines = Vec::new();
    let written = writing.write(&mut lines)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("written.reel");
    let options = ImportOptions::new("test", "the second player");
    let imported = import(lines.as_slice(), &path, &options, |_bytes| {})?;
    assert_eq!(imported.events, EVENTS);
    assert_eq!(imported.broken.count, 0);
    assert!(imported.guessed.is_empty(), "{:?}", imported.guessed);
    Ok(Reel {
        timeline: Timeline::open(&path)?,
        _folder: folder,
        lines,
        written,
    })
}

#[test]
fn a_written_scenario_is_a_recording() -> Result<()> {
    let reel = reel()?;
    let mut exported = Vec::new();
    Exported::write_jsonl(&reel.timeline, &mut exported, |_seq| {})?;
    assert!(exported == reel.lines, "the export has other bytes");
    faults_are_found(&reel)?;
    states_are_those_of_a_replay(&reel)
}

/// The degraded operators are found at their times, and nobody else.
fn faults_are_found(reel: &Reel) -> Result<()> {
    let spells = ClusterHistory::of(&reel.timeline).degraded_spells()?;
    let planted = reel.written.faults.iter();
    let planted: Vec<_> = planted
        .filter(|(fault, ..)| fault.kind == "degraded")
        .collect();
    assert!(planted.len() >= 2, "{planted:?}");
    assert_eq!(spells.len(), planted.len(), "{spells:?}");
    for (spell, (fault, from, to)) in spells.iter().zip(planted) {
        let name = fault.object.strip_prefix("ClusterOperator ");
        assert_eq!(Some(spell.name.as_str()), name);
        let (from, to) = (
            from.as_microsecond(),
            to.context("no end")?.as_microsecond(),
        );
        let mut late = vec![spell.from.micros - from];
        match spell.to {
            Some(ended) => late.push(ended.micros - to),
            // The lines ended before.
            None => assert!(reel.written.ends.as_microsecond() <= to, "{fault:?}"),
        }
        // The server takes a moment for a write.
        let is_in_time = late.iter().all(|late| (0..1_000_000).contains(late));
        assert!(is_in_time, "{fault:?}: {late:?} µs late");
    }
    Ok(())
}

/// At moments all over the reel, the state is that of a replay of all lines.
fn states_are_those_of_a_replay(reel: &Reel) -> Result<()> {
    let timeline = &reel.timeline;
    let mut replay: BTreeMap<String, String> = BTreeMap::new();
    let text = std::str::from_utf8(&reel.lines)?;
    for (number, line) in (1_u64..).zip(text.lines()) {
        let value: Value = serde_json::from_str(line)?;
        let uid = text_at(&value, "/object/metadata/uid")?;
        if text_at(&value, "/type")? == "DELETED" {
            replay.remove(uid);
        } else {
            let (_, object) = line.split_once(r#""object":"#).context("no object")?;
            let object = object.strip_suffix('}').context("no end")?;
            replay.insert(uid.to_owned(), object.to_owned());
        }
        if !number.is_multiple_of(EVENTS / 7) {
            continue;
        }
        let at: jiff::Timestamp = text_at(&value, "/ts")?.parse()?;
        let wall = kubereel_format::RecordedAt::from_micros(at.as_microsecond());
        let below = timeline.reel().seq_after(wall);
        let mut bodies = Vec::new();
        for info in timeline.resources().iter() {
            let state = timeline.as_of(
                info.id,
                Cut::Arrival { below, wall },
                &ObjectFilter::default(),
            );
            for held in &state.objects {
                bodies.push(String::from_utf8(timeline.reel().body(held.seq)?.to_vec())?);
            }
        }
        bodies.sort();
        let mut expected: Vec<String> = replay.values().cloned().collect();
        expected.sort();
        assert!(
            bodies == expected,
            "the state after {number} lines: {} of {}",
            bodies.len(),
            expected.len()
        );
    }
    Ok(())
}

fn text_at<'v>(value: &'v Value, path: &'static str) -> Result<&'v str> {
    value.pointer(path).and_then(Value::as_str).context(path)
}
