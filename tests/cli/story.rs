//! `kubereel story`, `problems` and `upgrade` on recordings that begin and end in the middle of something.

use super::run::{Reel, assert_has, kubereel};
use crate::script::Script;
use kubereel_format::EndCause;
use serde_json::{Value, json};

/// A reel that is imported of lines, each at a second of an hour.
fn imported(lines: &[(u32, &str, &str, Value)]) -> Reel {
    let lines: Vec<String> = lines
        .iter()
        .map(|(second, kind, resource, object)| {
            let (minutes, seconds) = (second / 60, second % 60);
            let (group, version) = object["apiVersion"]
                .as_str()
                .and_then(|version| version.split_once('/'))
                .unwrap_or(("", "v1"));
            let line = json!({
                "ts": format!("2026-11-20T10:{minutes:02}:{seconds:02}Z"), "type": kind,
                "group": group, "version": version, "resource": resource, "object": object,
            });
            line.to_string()
        })
        .collect();
    Reel::import_text("lines.jsonl", &lines.join("\n"))
}

fn operator(rv: u32, version: &str, conditions: &[(&str, &str)]) -> Value {
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|(kind, status)| {
            json!({
                "type": kind, "status": status, "reason": "SyncFailed", "message": "cannot sync",
                "lastTransitionTime": "2026-11-20T08:00:00Z",
            })
        })
        .collect();
    json!({
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator",
        "metadata": {
            "name": "console", "uid": "co", "resourceVersion": rv.to_string(),
            "creationTimestamp": "2026-11-10T10:00:00Z",
            "annotations": {"include.release.openshift.io/x": "true"},
        },
        "status": {"versions": [{"name": "operator", "version": version}], "conditions": conditions},
    })
}

fn version(rv: u32, states: &[(&str, &str)]) -> Value {
    let history: Vec<Value> = states
        .iter()
        .map(|(version, state)| {
            json!({
                "version": version, "image": format!("r@sha256:{version}"), "state": state,
                "startedTime": "2026-11-20T09:50:00Z",
                "completionTime": (*state == "Completed").then_some("2026-11-20T09:55:00Z"),
            })
        })
        .collect();
    let wanted = states.first().map_or("", |(version, _)| version);
    json!({
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {
            "name": "version", "uid": "cv", "generation": 2, "resourceVersion": rv.to_string(),
            "creationTimestamp": "2026-11-10T10:00:00Z",
        },
        "spec": {"desiredUpdate": {"version": wanted, "image": format!("r@sha256:{wanted}")}},
        "status": {"desired": {"version": wanted, "image": format!("r@sha256:{wanted}")}, "history": history},
    })
}

const WELL: [(&str, &str); 3] = [
    ("Available", "True"),
    ("Degraded", "False"),
    ("Progressing", "False"),
];

#[test]
fn what_an_import_begins_with_was_there_before() {
    let ill = [
        ("Available", "True"),
        ("Degraded", "True"),
        ("Progressing", "True"),
    ];
    let states = [("2", "Partial"), ("1", "Completed")];
    let reel = imported(&[
        (0, "ADDED", "clusterversions", version(1, &states)),
        (0, "ADDED", "clusteroperators", operator(2, "1", &ill)),
        (200, "MODIFIED", "clusteroperators", operator(3, "2", &WELL)),
        (1800, "MODIFIED", "clusterversions", version(4, &states)),
    ]);
    let upgrade = kubereel!("upgrade {reel} -o json").json();
    let period = &upgrade["periods"][0];
    let what = [&period["name"], &period["state"], &period["is_older"]];
    assert_eq!(
        what,
        [&json!("console"), &json!("Degraded"), &json!(true)],
        "{upgrade:#}"
    );
    let moved = &upgrade["operators"][0];
    assert_eq!(moved["is_older"], true, "{upgrade:#}");
    assert_eq!(moved["from_version"], "1");
    let page = kubereel!("upgrade {reel}").ok();
    assert_has(&page, "?        3m 20s+  console");

    let story = kubereel!("story {reel}").code(0).out;
    let times = "[for at least 3m 20s, since 08:00:00.000Z by its own clock";
    assert!(
        story.contains("≤ 10:00:00.000Z") && story.contains(times),
        "{story}"
    );
    let problems = kubereel!("problems {reel}").code(0).out;
    assert_has(&problems, "(at least 3m 20s)");
}

#[test]
fn an_operator_that_did_not_move_was_not_under_way_longer_than_the_upgrade() {
    let going = [
        ("Available", "True"),
        ("Degraded", "False"),
        ("Progressing", "True"),
    ];
    let (done, partial) = ("Completed", "Partial");
    let back = [("1", partial), ("2", partial), ("1", done)];
    let reel = imported(&[
        (0, "ADDED", "clusterversions", version(1, &[("1", done)])),
        (0, "ADDED", "clusteroperators", operator(2, "1", &WELL)),
        (
            60,
            "MODIFIED",
            "clusterversions",
            version(3, &[("2", partial), ("1", done)]),
        ),
        (
            120,
            "MODIFIED",
            "clusteroperators",
            operator(4, "1", &going),
        ),
        (720, "MODIFIED", "clusterversions", version(5, &back)),
        (900, "MODIFIED", "clusteroperators", operator(6, "1", &WELL)),
        (3500, "MODIFIED", "clusterversions", version(7, &back)),
    ]);
    let page = kubereel!("upgrade {reel} --nth 1").ok();
    let row = page.lines().find(|line| line.ends_with("console"));
    let row = row.unwrap_or_else(|| panic!("no row: {page}"));
    assert!(
        row.starts_with("  not moved") && row.contains(" 10m 00s "),
        "{page}"
    );
}

#[test]
fn what_was_deleted_did_not_recover() {
    let job = |rv: u32, has_failed: bool| {
        let failed = has_failed.then(|| {
            json!([{
                "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
                "message": "Job has reached the specified backoff limit",
                "lastTransitionTime": "2026-11-20T10:03:20Z",
            }])
        });
        json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {
                "name": "migrate", "namespace": "web", "uid": "job", "resourceVersion": rv.to_string(),
                "creationTimestamp": "2026-11-20T10:01:40Z",
            },
            "spec": {"completions": 1, "backoffLimit": 2},
            "status": {"failed": 3, "conditions": failed},
        })
    };
    let other = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "web", "uid": "cm", "resourceVersion": "1"},
    });
    let reel = imported(&[
        (0, "ADDED", "configmaps", other.clone()),
        (100, "ADDED", "jobs", job(2, false)),
        (200, "MODIFIED", "jobs", job(3, true)),
        (800, "DELETED", "jobs", job(4, true)),
        (1800, "MODIFIED", "configmaps", other),
    ]);
    let story = kubereel!("story {reel}").code(0).out;
    assert_has(&story, ", until it was deleted]");
    let end = "At the end: no open problem; deleted without recovery: Job web/migrate\n";
    assert_has(&story, end);
    let json = kubereel!("problems {reel} -o json").code(0).out;
    assert_has(&json, "\"ends_by_deletion\":true");
}

#[test]
fn an_import_is_not_known_to_be_complete() {
    let config = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "web", "uid": "cm", "resourceVersion": "1"},
    });
    let reel = imported(&[(0, "ADDED", "configmaps", config)]);
    for words in [&["story"][..], &["problems"], &["grep", "--", "zzz"]] {
        let (command, more) = words.split_at(1);
        let words = [command, &[reel.path()], more].concat();
        kubereel(&words).says("as imported: completeness is unknown");
    }
    kubereel!("grep {reel} -- zzz").code(4);
    assert_eq!(json_of(&reel)["is_imported"], true);
}

#[test]
fn nodes_that_were_never_listed_are_not_none() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        script.resource("nodes", "Node", &["no"]);
        script.wait(5_000);
        script.finish();
    });
    let story = kubereel!("story {reel}").out;
    assert_has(&story, "Nodes not recorded");
    let json = json_of(&reel);
    assert_eq!(json["cluster"]["are_nodes_recorded"], false, "{json:#}");
}

fn json_of(reel: &Reel) -> Value {
    let out = kubereel!("story {reel} -o json").out;
    serde_json::from_str(&out).expect("JSON")
}

#[test]
fn what_is_not_observed_at_the_end_is_not_known_to_be_well() {
    let story = |is_observed: bool| {
        let reel = Reel::write(|path| {
            let mut script = Script::begin(path);
            let pods = script.resource("pods", "Pod", &["po"]);
            let nodes = script.resource("nodes", "Node", &["no"]);
            let pods = script.connect(pods, None);
            script.synced(pods, 5);
            let nodes = script.connect(nodes, None);
            script.synced(nodes, 5);
            script.wait(5_000);
            if !is_observed {
                script.disconnect(pods, EndCause::Expired);
            }
            script.wait(60_000);
            script.bookmark(nodes, 9);
            script.finish();
        });
        let text = kubereel!("story {reel}").out;
        (text, json_of(&reel))
    };
    let (text, json) = story(true);
    assert_has(&text, "At the end: no open problem");
    assert_eq!(json["is_end_known"], true, "{json:#}");
    let (text, json) = story(false);
    assert_has(&text, "At the end: not known");
    assert_eq!(json["is_end_known"], false, "{json:#}");
}
