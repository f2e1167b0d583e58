//! `kubereel upgrade` and `install`, as a user runs them on the demo's recording and on small ones.

use super::run::{DEMO, Reel, assert_has, operator, pods_with_gap};
use crate::script::{Script, thing};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SCHEMA: &str = include_str!("../../docs/upgrade.md");

#[test]
fn the_demo_tells_what_its_scenario_planted() {
    let told = kubereel!("upgrade {DEMO} -o json").json();
    assert_eq!(told["from"]["version"], "4.21.7");
    assert_eq!(told["target"]["version"], "4.21.9");
    assert_eq!(told["outcome"], "completed");
    // One pull failed, by a Pod that the next attempt deleted.
    let attempts = told["retrievals"].as_array().expect("attempts");
    let outcomes: Vec<&str> = attempts
        .iter()
        .filter_map(|one| one["outcome"].as_str())
        .collect();
    assert_eq!(outcomes, ["failed", "loaded"]);
    assert!(attempts[0]["pod"]["deleted"].is_string());
    assert_eq!(
        attempts[0]["reported_by_clusterversion"]["reason"],
        "RetrievePayload"
    );
    // Operators move by their levels; machine-config is the last, image-registry was degraded.
    let operators = told["operators"].as_array().expect("operators");
    assert_eq!(operators.len(), 31);
    assert_eq!(operators[0]["name"], "config-operator");
    assert_eq!(operators[30]["name"], "machine-config");
    assert!(operators.is_sorted_by_key(|one| one["moved"].as_str().map(str::to_owned)));
    let spells = told["periods"].as_array().expect("spells");
    let ill: Vec<(&str, &str)> = spells
        .iter()
        .filter_map(|spell| Some((spell["name"].as_str()?, spell["state"].as_str()?)))
        .collect();
    let expected = [("image-registry", "Degraded"), ("version", "Failing")];
    assert_eq!(ill, expected);
    assert_eq!(told["nodes"].as_array().map(Vec::len), Some(5));
    assert!(
        told["nodes"]
            .as_array()
            .expect("nodes")
            .iter()
            .all(|node| { node["drain"]["to"].is_string() && node["reboot"]["to"].is_string() })
    );
}

#[test]
fn every_time_that_is_printed_can_be_asked_for() {
    let page = kubereel!("upgrade {DEMO}").ok();
    let times: BTreeSet<&str> = page
        .split(|letter: char| letter.is_whitespace() || letter == ',')
        .filter(|word| word.len() > 11 && word.ends_with('Z') && word.contains(':'))
        .collect();
    assert!(times.len() > 50, "{}", times.len());
    for (place, time) in times.iter().enumerate() {
        // Each is read; every tenth is asked, to keep the test short.
        if place % 10 == 0 {
            kubereel!("upgrade {DEMO} --at {time}").says("as of ").ok();
        }
    }
}

#[test]
fn what_was_known_at_a_moment_is_told_as_of_then() {
    let told = kubereel!("upgrade {DEMO} -o json").json();
    let operators = told["operators"].as_array().expect("operators");
    let fifth = operators[4]["moved"].as_str().expect("a time");
    let then = kubereel!("upgrade {DEMO} --at {fifth} -o json").json();
    assert_eq!(then["now"], fifth);
    assert!(then["outcome"].is_null() && then["over"].is_null());
    let names = |told: &Value, count: usize| -> Vec<Value> {
        let all = told["operators"].as_array().expect("operators");
        all.iter()
            .take(count)
            .map(|one| one["name"].clone())
            .collect()
    };
    assert_eq!(names(&then, 5), names(&told, 5));
    let moved = then["operators"].as_array().expect("operators");
    assert_eq!(
        moved.iter().filter(|one| one["moved"].is_string()).count(),
        5
    );
    let status = &then["status"];
    assert_eq!(status["operators"]["updated"], 5);
    assert_eq!(status["operators"]["total"], 31);
    assert_eq!(status["assessment"], "Progressing");
    assert!(status["estimate"]["remaining_secs"].is_i64());
    let page = kubereel!("upgrade {DEMO} --at {fifth}").ok();
    for words in [
        "As oc adm upgrade status judges it",
        "estimated by oc's curve",
        "5 of 31 moved",
        "not yet",
    ] {
        assert!(page.contains(words), "{words:?} not in {page}");
    }
    // Before it was accepted there is nothing to move.
    let asked = told["requests"][0]["at"].as_str().expect("a time");
    let page = kubereel!("upgrade {DEMO} --at {asked}").ok();
    assert_has(&page, "requested, not accepted");
    assert!(!page.contains("Operators ·"), "{page}");
}

#[test]
fn before_the_installation_there_was_none() {
    for (command, at) in [("install", "23:21:14"), ("upgrade", "23:21:14")] {
        let _said = kubereel!("{command} {DEMO} --at {at}")
            .code(1)
            .says("no installation had begun");
    }
    let _said = kubereel!("install {DEMO} --at start").code(4);
}

#[test]
fn an_installation_is_told_and_listed() {
    let told = kubereel!("install {DEMO} -o json").json();
    assert_eq!(told["kind"], "install");
    assert_eq!(told["target"]["version"], "4.21.7");
    assert!(told["from"].is_null());
    let operators = told["operators"].as_array().expect("operators");
    assert!(operators.iter().all(|one| one["available"].is_string()));
    assert_eq!(told["not_seen"], json!([]));
    let page = kubereel!("install {DEMO}").ok();
    for words in ["Installation of 4.21.7", "Nodes joined"] {
        assert!(page.contains(words), "{words:?} not in {page}");
    }
    let list = kubereel!("upgrade {DEMO} --list").ok();
    assert_eq!(list.lines().count(), 3, "{list}");
    let list = kubereel!("upgrade {DEMO} --list -o json").json();
    let kinds: Vec<&Value> = list["updates"]
        .as_array()
        .expect("updates")
        .iter()
        .map(|update| &update["kind"])
        .collect();
    assert_eq!(kinds, [&json!("install"), &json!("upgrade")]);
    kubereel!("upgrade {DEMO} --nth 2")
        .code(2)
        .says("has 1 upgrade")
        .says("--list");
}

#[test]
fn a_reel_that_does_not_tell_says_so() {
    let reel = pods_with_gap();
    kubereel!("upgrade {reel}")
        .code(4)
        .says("no ClusterVersion")
        .says("hint");
    kubereel!("install {reel}").code(4);
    kubereel!("upgrade {DEMO} --at start")
        .code(4)
        .says("not observed yet");
    // The installation was there, and no upgrade yet.
    let told = kubereel!("install {DEMO} -o json").json();
    let ended = told["ended"].as_str().expect("a time");
    kubereel!("upgrade {DEMO} --at {ended}")
        .code(1)
        .says("no upgrade was observed")
        .says("kubereel install");
    let ran = kubereel!("upgrade {DEMO} --at {ended} -o json").code(1);
    assert_eq!(ran.out, "");
    kubereel!("upgrade nowhere.reel").code(3);
}

/// What the history says, newest first: versions and their states.
type HistoryEntries<'a> = &'a [(&'a str, &'a str)];

/// A version of `ClusterVersion` as the operator writes it.
fn version(rv: u128, generation: u32, wanted: Option<&str>, history: &[(&str, &str)]) -> Vec<u8> {
    let entries: Vec<Value> = history
        .iter()
        .map(|(version, state)| {
            json!({
                "version": version, "image": format!("r@sha256:{version}"), "state": state,
                "startedTime": "2026-11-21T14:00:00Z",
                "completionTime": (*state == "Completed").then_some("2026-11-21T14:01:00Z"),
            })
        })
        .collect();
    let (newest, _) = history.first().expect("a release");
    let body = json!({
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": "version", "uid": "cv", "generation": generation, "resourceVersion": rv.to_string()},
        "spec": {"desiredUpdate": wanted.map(|version| json!({"version": version, "image": format!("r@sha256:{version}")}))},
        "status": {
            "desired": {"version": newest, "image": format!("r@sha256:{newest}")},
            "history": entries, "conditions": null,
        },
    });
    body.to_string().into_bytes()
}

/// An upgrade to 2 that 3 supersedes, a request for 4 that is taken back, and the completion of 3.
fn upgrades() -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let versions =
            script.resource("clusterversions.config.openshift.io", "ClusterVersion", &[]);
        let operators = script.resource(
            "clusteroperators.config.openshift.io",
            "ClusterOperator",
            &["co"],
        );
        let (cv, co) = (
            script.connect(versions, None),
            script.connect(operators, None),
        );
        let one = thing("", "version", "cv");
        script.initial(cv, one, 5, &version(5, 1, None, &[("1", "Completed")]));
        script.synced(cv, 6);
        operator(&mut script, co, "etcd", 7, "False");
        script.synced(co, 8);
        let (done, partial) = ("Completed", "Partial");
        let steps: [(u32, Option<&str>, HistoryEntries<'_>); 6] = [
            (2, Some("2"), &[("1", done)]),
            (2, Some("2"), &[("2", partial), ("1", done)]),
            (3, Some("3"), &[("2", partial), ("1", done)]),
            (3, Some("3"), &[("3", partial), ("2", partial), ("1", done)]),
            (4, Some("4"), &[("3", partial), ("2", partial), ("1", done)]),
            (5, Some("3"), &[("3", partial), ("2", partial), ("1", done)]),
        ];
        for (rv, (generation, wanted, history)) in (20_u128..).zip(steps) {
            script.wait(1000);
            script.modified(cv, one, rv, &version(rv, generation, wanted, history));
        }
        script.wait(60_000);
        let history = [("3", done), ("2", partial), ("1", done)];
        script.modified(cv, one, 40, &version(40, 5, Some("3"), &history));
        script.finish();
    })
}

#[test]
fn upgrades_that_overlap_are_told_apart() {
    let reel = upgrades();
    let list = kubereel!("upgrade {reel} --list -o json").json();
    let told: Vec<(&str, &str)> = list["updates"]
        .as_array()
        .expect("updates")
        .iter()
        .map(|one| {
            let request = &one["requests"][0]["version"];
            (
                request.as_str().expect("a version"),
                one["outcome"].as_str().expect("an outcome"),
            )
        })
        .collect();
    let expected = [("2", "superseded"), ("3", "completed"), ("4", "withdrawn")];
    assert_eq!(told, expected);
    let second = kubereel!("upgrade {reel} --nth 2 -o json").json();
    assert_eq!(second["is_from_partial"], true);
    assert_eq!(second["from"]["version"], "2");
    let page = kubereel!("upgrade {reel}").ok();
    assert_has(&page, "withdrawn before it was accepted");
    // What was not recorded is named, never taken for calm.
    for resource in ["nodes", "events", "pods", "leases.coordination.k8s.io"] {
        assert!(
            page.contains(&format!("{resource} not recorded")),
            "{resource}: {page}"
        );
    }
}

fn conditions(all: &[(&str, &str)]) -> Vec<Value> {
    let each = all.iter();
    each.map(|(kind, status)| json!({"type": kind, "status": status}))
        .collect()
}

/// A precondition that was not met, said of another image than the cluster runs.
fn warned() -> Value {
    json!({
        "metadata": {"name": "warned"}, "reason": "PreconditionWarn", "type": "Normal",
        "involvedObject": {"kind": "ClusterVersion", "name": "version"},
        "message": "precondition warning version=\"2\" image=\"r@sha256:3\"",
    })
}

/// A node with a new desired configuration.
fn node(state: &str, is_cordoned: bool) -> Value {
    let key = |name: &str| format!("machineconfiguration.openshift.io/{name}");
    json!({
        "metadata": {"name": "w-0", "labels": {"w": ""}, "annotations": {
            key("currentConfig"): "old", key("desiredConfig"): "new", key("state"): state,
            key("desiredDrain"): "drain-new", key("lastAppliedDrain"): "uncordon-old",
            key("reason"): "cannot drain",
        }},
        "spec": {"unschedulable": is_cordoned},
        "status": {"conditions": conditions(&[("Ready", "True")]), "nodeInfo": {"bootID": "a"}},
    })
}

/// An upgrade that does not go on: a drain that a budget holds, a node whose daemon gave up, a pool that
/// is paused and degraded, and nothing that moves for six minutes.
fn stuck() -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let mut rv = 10_u128;
        let mut put = |name: &str, namespace: &str, kind: &str, body: Value, wait: i64| {
            let stream = script.watched(name, kind, &[]);
            rv += 1;
            script.synced(stream, rv);
            let own = body.pointer("/metadata/name").and_then(Value::as_str);
            let own = own.map(str::to_owned);
            let own = own.expect("a name");
            let what = thing(namespace, &own, &own);
            script.wait(wait);
            script.modified(stream, what, rv, body.to_string().as_bytes());
        };
        let cv = "clusterversions.config.openshift.io";
        let mut told = |history: HistoryEntries<'_>, wanted| {
            let body = version(1, 2, wanted, history);
            let body: Value = serde_json::from_slice(&body).expect("JSON");
            put(cv, "", "ClusterVersion", body, 1000);
        };
        told(&[("1", "Completed")], None);
        told(&[("1", "Completed")], Some("2"));
        told(&[("2", "Partial"), ("1", "Completed")], Some("2"));
        let own = "openshift-cluster-version";
        put("events", own, "Event", warned(), 100);
        put(
            "clusteroperators.config.openshift.io",
            "",
            "ClusterOperator",
            json!({
                "metadata": {"name": "etcd"},
                "status": {"conditions": [], "versions": [{"name": "operator", "version": "1"}]},
            }),
            100,
        );
        put(
            "machineconfigpools.machineconfiguration.openshift.io",
            "",
            "MachineConfigPool",
            json!({
                "metadata": {"name": "worker"},
                "spec": {"paused": true, "configuration": {"name": "new"}, "nodeSelector": {"matchLabels": {"w": ""}}},
                "status": {"conditions": conditions(&[("Updated", "False"), ("Degraded", "True")]), "machineCount": 1},
            }),
            100,
        );
        put(
            "poddisruptionbudgets.policy",
            "shop",
            "PodDisruptionBudget",
            json!({
                "metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}},
                "status": {"disruptionsAllowed": 0},
            }),
            100,
        );
        put(
            "pods",
            "shop",
            "Pod",
            json!({
                "metadata": {"name": "web-0", "labels": {"app": "web"}}, "spec": {"nodeName": "w-0"},
            }),
            100,
        );
        put("nodes", "", "Node", node("Working", false), 1000);
        put("nodes", "", "Node", node("Working", true), 1000);
        put("nodes", "", "Node", node("Degraded", true), 10_000);
        put("nodes", "", "Node", node("Degraded", true), 360_000);
        script.finish();
    })
}

#[test]
fn what_holds_an_upgrade_up_is_told() {
    let reel = stuck();
    let page = kubereel!("upgrade {reel}").ok();
    for words in [
        "drain blocked 6m 10s+ from",
        "PodDisruptionBudget shop/web allowed no eviction of Pod web-0",
        "degraded 6m 00s+",
        "cannot drain",
        "draining since",
        "paused, degraded for",
        "Stalls",
        "not complete",
        "Outdated nodes in a paused pool 'worker' will not be updated",
    ] {
        assert!(page.contains(words), "{words:?} not in {page}");
    }
}

#[test]
fn a_pool_that_is_updated_without_an_upgrade_is_an_operation() {
    let mut pool = json!({
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "worker", "resourceVersion": "1"},
        "spec": {"configuration": {"name": "new"}},
        "status": {"machineCount": 12, "updatedMachineCount": 5},
    });
    pool["status"]["conditions"] = conditions(&[("Updated", "False"), ("Updating", "True")]).into();
    let mut release: Value =
        serde_json::from_slice(&version(1, 1, None, &[("1", "Completed")])).expect("JSON");
    release["apiVersion"] = "config.openshift.io/v1".into();
    release["kind"] = "ClusterVersion".into();
    release["metadata"]["name"] = "version".into();
    release["metadata"]["resourceVersion"] = "1".into();
    let reel = Reel::import(&[release, pool]);
    let reel = reel.path();
    let story = kubereel!("story {reel}").out;
    let step =
        "update of MachineConfigPool worker, begun before the recording: 5 of 12 Nodes updated";
    assert!(story.contains(step), "{story}");
    kubereel!("upgrade {reel}")
        .code(1)
        .says("MachineConfigPool worker reports 5 of 12 Nodes updated");
}

/// Gathers the paths of a value, lists as `[]`.
#[test]
fn what_json_does_not_have_is_not_left_out_of_the_text() {
    let named = |mut body: Value, api: &str, kind: &str, name: &str| {
        body["apiVersion"] = api.into();
        body["kind"] = kind.into();
        body["metadata"]["name"] = name.into();
        body["metadata"]["resourceVersion"] = "1".into();
        body
    };
    let cv = version(1, 1, None, &[("1", "Completed")]);
    let pool = json!({
        "metadata": {}, "status": {"machineCount": 12},
        "spec": {"configuration": {"name": "new"}, "nodeSelector": {"matchLabels": {"w": ""}}},
    });
    let group = "machineconfiguration.openshift.io/v1";
    let mut objects = vec![
        serde_json::from_slice(&cv).expect("JSON"),
        named(pool, group, "MachineConfigPool", "worker"),
    ];
    objects.extend((0..12).map(|at| named(node("Done", false), "v1", "Node", &format!("w-{at}"))));
    let reel = Reel::import(&objects);
    kubereel!("upgrade {reel} -o json").code(1);
    let page = kubereel!("upgrade {reel}").code(1).out;
    assert_has(&page, "pool worker");
    for at in 0..12 {
        assert_has(&page, &format!(" w-{at} "));
    }
    assert!(!page.contains("-o json"), "{page}");
}

fn paths(value: &Value, at: &str, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = if at.is_empty() {
                    name.clone()
                } else {
                    format!("{at}.{name}")
                };
                all.insert(path.clone());
                paths(member, &path, all);
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| paths(item, &format!("{at}[]"), all)),
        _ => {}
    }
}

#[test]
fn the_reference_names_every_field_and_no_other() {
    let documented: BTreeSet<String> = SCHEMA
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(path, _)| path.to_owned())
        .collect();
    assert!(documented.len() > 100, "{}", documented.len());
    let mut emitted = BTreeSet::new();
    let told = kubereel!("upgrade {DEMO} -o json").json();
    let marks = [
        &told["operators"][4]["moved"],
        &told["nodes"][0]["drain"]["from"],
        &told["requests"][0]["at"],
        &told["periods"][1]["from"],
    ];
    for mark in marks {
        let then = {
            let mark = mark.as_str().expect("a time");
            kubereel!("upgrade {DEMO} --at {mark} -o json").json()
        };
        paths(&then, "", &mut emitted);
    }
    paths(&told, "", &mut emitted);
    let stuck = stuck();
    for line in [format!("install {DEMO}"), format!("upgrade {stuck}")] {
        let told = kubereel!("{line} -o json").json();
        paths(&told, "", &mut emitted);
    }
    let unknown: Vec<&String> = emitted.difference(&documented).collect();
    assert!(unknown.is_empty(), "not in docs/upgrade.md: {unknown:#?}");
    let gone: Vec<&String> = documented.difference(&emitted).collect();
    assert!(gone.is_empty(), "never emitted: {gone:#?}");
}

#[test]
fn rows_fit_eighty_columns_up_to_their_words() {
    let page = kubereel!("upgrade {DEMO}").ok();
    let table = page
        .lines()
        .skip_while(|line| !line.starts_with("Operators"))
        .take_while(|line| !line.starts_with("Problems"));
    let mut rows = 0;
    for line in table {
        assert!(line.chars().count() <= 80, "{line}");
        rows += 1;
    }
    assert!(rows > 30, "{rows}");
}

/// A reel with an upgrade that is not complete, and a version of `ClusterVersion` that cannot be read.
fn unreadable(is_last: bool) -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let resource =
            script.resource("clusterversions.config.openshift.io", "ClusterVersion", &[]);
        let stream = script.connect(resource, None);
        let what = thing("", "version", "cv");
        let old = ("1", "Completed");
        script.initial(stream, what, 5, &version(5, 1, None, &[old]));
        script.synced(stream, 5);
        script.wait(1000);
        let running = version(6, 2, Some("2"), &[("2", "Partial"), old]);
        script.modified(stream, what, 6, &running);
        script.wait(1000);
        let odd = br#"{"metadata": {"name": "version", "uid": "cv"}, "status": "odd"}"#;
        script.modified(stream, what, 7, odd);
        if !is_last {
            script.wait(1000);
            let body = version(8, 2, Some("2"), &[("2", "Partial"), old]);
            script.modified(stream, what, 8, &body);
        }
        script.wait(10 * 60 * 1000);
        script.finish();
    })
}

#[test]
fn a_version_that_cannot_be_read_is_one_that_was_not_observed() {
    let reel = unreadable(true);
    let page = kubereel!("upgrade {reel}")
        .code(3)
        .says("parts may be missing")
        .says("the last version cannot be read")
        .out;
    assert_has(&page, "end not observed");
    for words in ["not complete", "Stalls", "estimate"] {
        assert!(!page.contains(words), "{words}: {page}");
    }
    let list = kubereel!("upgrade {reel} --list").code(3).out;
    assert_has(&list, "end not observed");
    let story = kubereel!("story {reel}").code(3).out;
    assert_has(&story, "upgrade from 1 to 2: end not observed");
    // The state at the end is known by the version after it.
    let reel = unreadable(false);
    let page = kubereel!("upgrade {reel}").code(3).out;
    assert_has(&page, "not complete");
}
