//! The scenario for monitortests is what it says: the base has nothing wrong that objects can tell, a
//! fault changes nothing before it begins, and the same file writes the same bytes.

use kubereel_cluster::ClusterHistory;
use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use kubereel_history::Timeline;
use kubereel_import::{ImportOptions, import};
use kubereel_tests::scenario::Monitored;
use serde_json::Value;

fn only(name: &str) -> BTreeSet<&str> {
    BTreeSet::from([name])
}

fn time(line: &str) -> Result<Timestamp> {
    let value: Value = serde_json::from_str(line)?;
    let at = value.get("ts").and_then(Value::as_str).context("no time")?;
    Ok(at.parse()?)
}

#[test]
fn the_same_faults_write_the_same_bytes() -> Result<()> {
    let scenario = Monitored::read()?;
    let all = scenario.all();
    assert!(scenario.lines(&all)? == scenario.lines(&all)?);
    Ok(())
}

#[test]
fn a_fault_changes_something_and_nothing_before_it_begins() -> Result<()> {
    let scenario = Monitored::read()?;
    let base = scenario.lines(&BTreeSet::new())?;
    let base = std::str::from_utf8(&base)?;
    let mut names = BTreeSet::new();
    for fault in &scenario.faults {
        assert!(names.insert(&fault.name), "{} is there twice", fault.name);
        assert!(!fault.expected.is_empty(), "{} is never found", fault.name);
        let with = scenario.lines(&only(&fault.name))?;
        let with = std::str::from_utf8(&with)?;
        let differs = base
            .lines()
            .zip(with.lines())
            .find(|(one, other)| one != other);
        let (_, line) = differs.with_context(|| format!("{} changes nothing", fault.name))?;
        let begins = scenario.time(fault.begins_secs());
        let first = time(line)?;
        ensure!(
            first >= begins,
            "{} changes {first}, before {begins}",
            fault.name
        );
        for expected in &fault.expected {
            ensure!(expected.at_secs < scenario.end_secs && expected.within_secs > 0.0);
            ensure!(expected.at_secs >= scenario.recorded_from_secs);
        }
    }
    Ok(())
}

#[test]
fn the_base_is_a_whole_recording_without_a_degraded_operator() -> Result<()> {
    let scenario = Monitored::read()?;
    let folder = tempfile::tempdir()?;
    let spells = |on: &BTreeSet<&str>, name: &str| -> Result<usize> {
        let path = folder.path().join(name);
        let lines = scenario.lines(on)?;
        let options = ImportOptions::new("test", "the scenario for monitortests");
        let imported = import(lines.as_slice(), &path, &options, |_bytes| {})?;
        ensure!(
            imported.broken.count == 0,
            "{} lines are broken",
            imported.broken.count
        );
        ensure!(imported.guessed.is_empty(), "{:?}", imported.guessed);
        Ok(ClusterHistory::of(&Timeline::open(&path)?)
            .degraded_spells()?
            .len())
    };
    assert_eq!(spells(&BTreeSet::new(), "base.reel")?, 0);
    assert_eq!(spells(&only("degraded-operator"), "degraded.reel")?, 1);
    Ok(())
}

#[test]
fn unknown_faults_are_refused() -> Result<()> {
    let scenario = Monitored::read()?;
    assert!(scenario.lines(&only("no-such-fault")).is_err());
    Ok(())
}
