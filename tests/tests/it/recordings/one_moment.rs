//! Objects of a real cluster, gathered at one moment, are that moment in the reel.

use super::recording::{Recording, Reel};
use kubereel_format::RecordedAt;
use kubereel_history::{Certainty, Exported, Moment, ObjectFilter, Timeline};
use kubereel_import::ImportOptions;
use serde_json::Value;
use std::collections::BTreeMap;

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
    assert_eq!(
        usize::try_from(reel.imported.secrets.with_data),
        Ok(with_data)
    );
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
