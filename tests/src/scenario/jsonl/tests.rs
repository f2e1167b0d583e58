//! What must hold of everything that is written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde_json::Value;

use super::{Writing, Written};

/// Enough for the whole story and a beginning of the load.
const EVENTS: u64 = 14_000;

fn write(seed: u64, events: u64) -> (String, Written) {
    let writing = Writing {
        seed,
        events,
        // Short, so that Events expire within so few lines.
        event_ttl_secs: 300.0,
        ..Writing::default()
    };
    let mut out = Vec::new();
    let written = writing.write(&mut out).unwrap();
    (String::from_utf8(out).unwrap(), written)
}

/// What most tests look at, written once.
fn written() -> &'static (String, Written) {
    static WRITTEN: OnceLock<(String, Written)> = OnceLock::new();
    WRITTEN.get_or_init(|| write(7, EVENTS))
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn time(text: &Value) -> jiff::Timestamp {
    text.as_str().unwrap().parse().unwrap()
}

fn condition<'l>(line: &'l Value, kind: &str) -> Option<&'l str> {
    let conditions = line["object"]["status"]["conditions"].as_array()?;
    conditions.iter().find(|one| one["type"] == kind)?["status"].as_str()
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let (one, _) = write(7, 3_000);
    assert_eq!(one, write(7, 3_000).0);
    assert_ne!(one, write(8, 3_000).0);
}

#[test]
fn a_cluster_is_told_without_contradiction() {
    let (text, written) = written();
    assert!(text.lines().all(|line| {
        let keys = [
            "{\"ts\":",
            "\"type\":",
            "\"group\":",
            "\"version\":",
            "\"resource\":",
            "\"object\":",
        ];
        let places: Vec<_> = keys.iter().map(|key| line.find(key)).collect();
        places.is_sorted() && places.iter().all(Option::is_some)
    }));
    let lines = lines(text);
    assert_eq!(u64::try_from(lines.len()).unwrap(), EVENTS);
    assert_eq!(written.events, EVENTS);
    assert!(lines.is_sorted_by_key(|line| time(&line["ts"])));
    let version = |line: &Value| -> u64 {
        let text = line["object"]["metadata"]["resourceVersion"].as_str();
        text.unwrap().parse().unwrap()
    };
    assert!(
        lines
            .windows(2)
            .all(|two| version(&two[0]) < version(&two[1]))
    );
    let mut alive: BTreeMap<(String, String, String), String> = BTreeMap::new();
    let mut lived = BTreeSet::new();
    for line in &lines {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let meta = &line["object"]["metadata"];
        let key = (
            text(&line["resource"]),
            text(&meta["namespace"]),
            text(&meta["name"]),
        );
        let uid = text(&meta["uid"]);
        match line["type"].as_str().unwrap() {
            "ADDED" => {
                assert!(lived.insert(uid.clone()), "{key:?} has an old uid");
                assert_eq!(alive.insert(key, uid), None);
            }
            "MODIFIED" => assert_eq!(alive.get(&key), Some(&uid), "{key:?}"),
            _ => assert_eq!(alive.remove(&key), Some(uid), "{key:?}"),
        }
    }
    assert_eq!(alive.len(), written.live);
}

#[test]
fn the_faults_are_there_at_their_times() {
    let (text, written) = written();
    let lines = lines(text);
    let fault = |kind: &str| {
        let found = written.faults.iter().find(|(fault, ..)| fault.kind == kind);
        let (fault, from, to) = found.unwrap();
        (
            fault.object.rsplit(' ').next().unwrap().to_owned(),
            *from,
            *to,
        )
    };
    let spells: Vec<_> = written
        .faults
        .iter()
        .filter(|(fault, ..)| fault.kind == "degraded")
        .collect();
    assert!(spells.len() >= 2, "{spells:?}");
    for (kind, what, bad) in [
        ("degraded", "Degraded", "True"),
        ("flap", "Available", "False"),
    ] {
        let (operator, from, to) = fault(kind);
        let to = to.unwrap();
        let of_operator = lines.iter().filter(|line| {
            line["resource"] == "clusteroperators"
                && line["object"]["metadata"]["name"] == operator.as_str()
        });
        let mut seen = 0;
        for line in of_operator.filter(|line| condition(line, "Available").is_some()) {
            let at = time(&line["ts"]);
            // Before it was first available an operator is not flapping.
            if kind == "flap" && at < from - jiff::SignedDuration::from_secs(30) {
                continue;
            }
            let is_bad = condition(line, what) == Some(bad);
            let is_within = from <= at && at < to;
            assert_eq!(is_bad, is_within, "{kind} at {at}: {from} to {to}");
            seen += u32::from(is_bad);
        }
        assert!(seen > 0, "{kind} is nowhere");
    }
    let (_, from, _) = fault("crash-loop");
    let crashes = lines.iter().filter(|line| {
        let status = &line["object"]["status"]["containerStatuses"][0];
        line["resource"] == "pods" && status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    });
    let times: Vec<_> = crashes.map(|line| time(&line["ts"])).collect();
    assert!(times.len() > 3 && times[0] > from, "{times:?}");
    let (_, deleted, _) = fault("force-delete");
    assert!(lines.iter().any(|line| {
        line["type"] == "DELETED"
            && line["object"]["metadata"]["name"] == "cache-0"
            && time(&line["ts"]) >= deleted
    }));
}

#[test]
fn the_kinds_are_as_frequent_as_in_a_cluster() {
    let (text, written) = written();
    let of = |resource: &str| written.by_resource.get(resource).copied().unwrap_or(0);
    let share = |resource: &str| of(resource) * 100 / EVENTS;
    for resource in ["pods", "events", "leases"] {
        assert!(
            (10..50).contains(&share(resource)),
            "{resource}: {} of {EVENTS}",
            of(resource)
        );
    }
    for resource in ["deployments", "replicasets", "endpoints", "endpointslices"] {
        assert!(
            (1..25).contains(&share(resource)),
            "{resource}: {} of {EVENTS}",
            of(resource)
        );
    }
    for resource in [
        "nodes",
        "clusteroperators",
        "clusterversions",
        "machineconfigpools",
        "configmaps",
        "jobs",
    ] {
        assert!(of(resource) > 0, "{resource}");
    }
    let expired = lines(text)
        .iter()
        .filter(|line| line["resource"] == "events" && line["type"] == "DELETED")
        .count();
    assert!(expired > 500, "{expired} Events expired");
}

#[test]
fn durations_are_those_of_the_scenario() {
    let (_, written) = written();
    let lasts = written.ends - Writing::default().begins;
    let secs = lasts.total(jiff::Unit::Second).unwrap();
    assert!(secs > 600.0, "{secs} s");
    assert!(
        written.held_secs < 60.0,
        "time stood still for {} s",
        written.held_secs
    );
}
