//! Every line of a recording comes out of its reel with the bytes of its object, its type, its time
//! and in its order.

use super::recording::Recording;
use kubereel_history::Exported;
use kubereel_import::ImportOptions;
use serde::Deserialize;
use serde_json::value::RawValue;

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
    assert!(exported.unread.is_empty());
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
        text.parse::<jiff::Timestamp>().unwrap() == jiff::Timestamp::from_second(secs).unwrap()
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
