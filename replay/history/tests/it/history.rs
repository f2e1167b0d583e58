//! The versions of one name: their cost, and damage between them.

use crate::script::{Script, pod, thing};
use kubereel_format::{EventType, ResourceId};
use kubereel_history::{ComparisonScope, HistoryItem, HistoryQuestion, Timeline, VersionPlace};

/// Writes a reel in which pod `a` changes ten times among very many events of others.
fn crowded(events: u128) -> (tempfile::TempDir, Timeline) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &[]);
    let stream = script.connect(pods, None);
    script.synced(stream, 0);
    for rv in 1..=events {
        script.wait(1);
        let is_asked = (rv - 1) % (events / 10) == 0;
        let name = if is_asked {
            "a".to_owned()
        } else {
            format!("n{}", rv % 50)
        };
        let what = thing("x", &name, &name);
        let body = pod(what, rv, &rv.to_string());
        let kind = if rv == 1 {
            EventType::Added
        } else {
            EventType::Modified
        };
        script.event(
            stream,
            kind,
            kubereel_format::Evidence::Live,
            what,
            rv,
            &body,
        );
    }
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    (folder, timeline)
}

fn question(timeline: &Timeline) -> HistoryQuestion<'_> {
    HistoryQuestion {
        resource: timeline.resources().get(ResourceId(0)).expect("pods"),
        namespace: "x",
        name: "a",
        scope: ComparisonScope::default(),
        from: None,
        to: None,
    }
}

#[test]
fn the_cost_depends_on_the_versions_of_the_name() {
    let cost = |events| {
        let (_folder, timeline) = crowded(events);
        let before = timeline.reel().counts();
        let items: Vec<HistoryItem> = timeline.history(question(&timeline)).collect();
        assert_eq!(items.len(), 10);
        let after = timeline.reel().counts();
        (after.bodies - before.bodies, after.frames - before.frames)
    };
    let (short, long) = (cost(2_000), cost(40_000));
    assert_eq!(short.0, 10);
    assert_eq!(long.0, 10);
    // At most eight blocks lie behind a body.
    assert!(long.1 <= 10 * 9, "{} frames", long.1);
}

#[test]
fn versions_are_read_when_they_are_asked_for() {
    let (_folder, timeline) = crowded(2_000);
    let mut history = timeline.history(question(&timeline));
    assert_eq!(history.versions(), 10);
    assert_eq!(timeline.reel().counts().bodies, 0);
    let Some(HistoryItem::Version(first)) = history.next() else {
        panic!("no version");
    };
    assert_eq!(first.place, VersionPlace::First);
    // How long the first held is known by the second.
    assert_eq!(timeline.reel().counts().bodies, 2);
}
