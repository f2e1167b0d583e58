//! `kubereel blame`: who set each field last, and when.

use super::run::{DEMO, Reel, assert_has, demo_spell, demo_values, pods_with_gap};
use crate::script::{Script, thing};
use serde_json::Value;

/// A config map that was there before, changed by `m`, then by somebody in a gap, then by `n`.
fn story() -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let maps = script.resource("configmaps", "ConfigMap", &["cm"]);
        let stream = script.connect(maps, None);
        let a = thing("default", "a", "uid-a");
        let body = |rv: u32, data: [u32; 4], m: u32, n: u32| {
            format!(
                r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a","resourceVersion":"{rv}","managedFields":[{{"manager":"m","operation":"Update","time":"2026-11-21T13:00:{m:02}Z","fieldsV1":{{"f:data":{{"f:old":{{}},"f:mine":{{}}}}}}}},{{"manager":"n","operation":"Update","time":"2026-11-21T13:00:{n:02}Z","fieldsV1":{{"f:data":{{"f:gap":{{}},"f:theirs":{{}}}}}}}}]}},"data":{{"old":"{}","mine":"{}","gap":"{}","theirs":"{}"}}}}"#,
                data[0], data[1], data[2], data[3]
            )
        };
        script.wait(1000);
        script.initial(stream, a, 2, body(2, [0, 0, 0, 0], 1, 2).as_bytes());
        script.synced(stream, 2);
        script.wait(1000);
        script.modified(stream, a, 3, body(3, [0, 1, 0, 0], 7, 2).as_bytes());
        let from = script.now();
        script.wait(1000);
        script.gap(maps, 3, 9, from);
        script.wait(1000);
        script.modified(stream, a, 9, body(9, [0, 1, 1, 0], 7, 8).as_bytes());
        script.synced(stream, 9);
        script.wait(1000);
        script.modified(stream, a, 10, body(10, [0, 1, 1, 1], 7, 9).as_bytes());
        script.finish();
    })
}

#[test]
fn fields_are_put_down_to_events_gaps_and_managed_fields() {
    let reel = story();
    let ran = kubereel!("blame {reel} cm/a").code(0);
    let expected = r#"-  -                │ apiVersion: v1
                    │ data:
n  ~ 14:00:04.000Z  │   gap: "1"
m    14:00:02.000Z  │   mine: "1"
m  ≤ 13:00:01.000Z  │   old: "0"
n    14:00:05.000Z  │   theirs: "1"
-  -                │ kind: ConfigMap
                    │ metadata:
-  -                │   name: a
n    14:00:05.000Z  │   resourceVersion: "10"
"#;
    assert_eq!(ran.out, expected);
    ran.says("at 14:00:05.000Z (+5s, rv 10) · complete");
    let before = kubereel!("blame {reel} cm a --at rv:2").ok();
    assert_has(&before, "m  ≤ 13:00:01.000Z  │   mine: \"0\"");
}

#[test]
fn the_yaml_beside_is_that_of_get() {
    for object in [
        "co/image-registry",
        "node/worker-0",
        "crd/clusterversions.config.openshift.io",
    ] {
        let yaml = kubereel!("get {DEMO} {object} -o yaml").ok();
        let blamed = kubereel!("blame {DEMO} {object}").ok();
        let beside: Vec<&str> = blamed
            .lines()
            .map(|line| {
                line.split_once("│")
                    .map_or("", |(_, yaml)| yaml.strip_prefix(' ').unwrap_or(yaml))
            })
            .collect();
        assert_eq!(beside.join("\n"), yaml.trim_end(), "{object}");
    }
}

#[test]
fn json_has_stable_names() {
    let spell = demo_spell();
    let messages = demo_values(".status.conditions[Degraded].message");
    let messages: Vec<&str> = messages
        .iter()
        .filter_map(|item| item["at"].as_str())
        .filter(|at| (spell.at.as_str()..spell.ended.as_str()).contains(at))
        .collect();
    let last = messages.last().expect("a message");
    let operator = "co/image-registry";
    let told: Value = kubereel!("blame {DEMO} {operator} --at {last} -o json").json();
    assert_eq!(told["resource"], "clusteroperators.config.openshift.io");
    assert_eq!(told["name"], "image-registry");
    assert_eq!(told["is_known"], true);
    let fields = told["fields"].as_array().expect("fields");
    let field = |path: &str| {
        let found = fields.iter().find(|field| field["path"] == path);
        found.unwrap_or_else(|| panic!("no {path}"))
    };
    let status = field("status.conditions[Degraded].status");
    let names: Vec<&String> = status.as_object().expect("an object").keys().collect();
    let expected = [
        "at",
        "may_be_older",
        "path",
        "seq",
        "source",
        "value",
        "writers",
    ];
    assert_eq!(names, expected);
    assert_eq!(status["value"], "True");
    assert_eq!(status["source"], "recorded");
    assert_eq!(status["at"], spell.at);
    assert_eq!(status["writers"][0]["manager"], "image-registry-operator");
    assert_eq!(status["may_be_older"], false);
    // The message may change once more while it is degraded.
    let message = field("status.conditions[Degraded].message");
    assert_eq!(message["at"], *last);
}

#[test]
fn what_is_not_there_is_explained() {
    let reel = pods_with_gap();
    kubereel!("blame {reel} pods/b -n web")
        .code(1)
        .says("pods/b not found at 14:00:15.000Z")
        .says(r#""b" existed from 14:00:03.000Z to 14:00:07.000Z"#);
    kubereel!("blame {reel} pods/a --at 14:00:09")
        .code(4)
        .says("inside a gap");
    // The start is the first known state; a time before it is not.
    let start = kubereel!("blame {reel} pods/a --at start").code(0);
    assert!(start.err.contains("at 14:00:01.000Z"), "{start:#?}");
    kubereel!("blame {reel} pods/a --at 14:00:00")
        .code(4)
        .says("not known at 14:00:00.000Z yet");
    kubereel!("blame {DEMO} co/etc").says("did you mean etcd?");
}
