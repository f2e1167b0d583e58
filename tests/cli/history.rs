//! Tests of `kubereel history`: versions, writers, changes, gaps, and the output when there are
//! none.

use super::run::{A, B, DEMO, Reel, assert_has, demo_spell, kubereel, operator, pods_with_gap};
use crate::script::{Script, pod, thing};
use kubereel_format::{EventType, Evidence};
use serde_json::json;

#[test]
fn versions_come_in_order_with_gaps_between() {
    let reel = pods_with_gap();
    let ran = kubereel!("history {reel} pod/a").code(0);
    let expected = "\
14:00:01.000Z  +1s     rv 9        existed when the recording started · lasted 4.0s
14:00:05.000Z  +5s     rv 14       writer unknown · 2.0s until a gap
    metadata.labels.app  x → y
── gap 14:00:07.000Z – 14:00:12.000Z: versions in between may be missing (the server lost its history) ──
14:00:12.000Z  +12s    rv 25       seen in a list · between 14:00:07.000Z and 14:00:12.000Z · writer unknown · lasted between 3.0s and 8.0s
    metadata.labels.app  y → z
14:00:15.000Z  +15s    rv 31       writer unknown
    no field changed
";
    assert_eq!(ran.out, expected);
    assert_eq!(ran.err, "pods/a · 4 versions · 1 gap\n");
}

#[test]
fn times_narrow_and_what_is_printed_can_be_pasted() {
    let reel = pods_with_gap();
    let after = |from: &str, to: &str| {
        let out = kubereel!("history {reel} po a --from {from} --to {to}").ok();
        let lines = out.lines().filter(|line| line.starts_with("14:"));
        lines
            .filter_map(|line| line.split(' ').next().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    // The printed time of a change asks for this change, too.
    let expected = ["14:00:05.000Z", "14:00:12.000Z"];
    assert_eq!(after("14:00:05.000Z", "14:00:12.000Z"), expected);
    assert_eq!(after("14:00:05.001Z", "14:00:12.000Z"), ["14:00:12.000Z"]);
    assert_eq!(after("rv:10", "rv:14"), ["14:00:05.000Z"]);
    assert_eq!(after("+4s", "-1s"), ["14:00:05.000Z", "14:00:12.000Z"]);
    // The first version asked for is compared with the one that held before.
    assert!(
        kubereel!("history {reel} pod/a --from 14:00:04 --to 14:00:06")
            .ok()
            .contains("metadata.labels.app  x → y")
    );
    kubereel!("history {reel} pod/a --from 14:00:13 --to 14:00:14")
        .code(0)
        .says("no version in this time span");
    // A bound that nobody knows of.
    for bound in ["--from 14:00:16", "--to 14:00:09", "--from start"] {
        kubereel!("history {reel} pod/a {bound}").code(4);
    }
}

#[test]
fn a_field_narrows_to_the_versions_that_change_it() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("clusteroperators", "ClusterOperator", &["co"]);
        script.synced(stream, 1);
        for (rv, degraded) in [
            (2, "False"),
            (3, "False"),
            (4, "True"),
            (5, "True"),
            (6, "False"),
        ] {
            script.wait(1000);
            operator(&mut script, stream, "etcd", rv, degraded);
        }
        script.wait(1000);
        script.finish();
    });
    let field = ".status.conditions[Degraded].status";
    let ran = kubereel!("history {reel} co/etcd --field {field}").code(0);
    let expected = "\
── not observed 14:00:00.000Z – 14:00:01.000Z: versions in between may be missing (an object changed whose creation was never received) ──
14:00:01.000Z  +1s     rv 2        first seen · lasted 2.0s
    status.conditions[Degraded].status  + False
14:00:03.000Z  +3s     rv 4        writer unknown · lasted 2.0s
    status.conditions[Degraded].status  False → True
14:00:05.000Z  +5s     rv 6        writer unknown · lasted 1.0s, to the end
    status.conditions[Degraded].status  True → False
";
    assert_eq!(ran.out, expected);
    // The end of the requested time is not the end of the state.
    let told = kubereel!("history {reel} co/etcd --to 14:00:02.500").code(0);
    let last = "rv 3        writer unknown · lasted at least 500ms\n    no field changed\n";
    assert!(told.out.ends_with(last), "{}", told.out);
    assert!(
        ran.err
            .ends_with(&format!("2 of 5 versions change {field}\n")),
        "{}",
        ran.err
    );
    kubereel!("history {reel} co/etcd --field .status.condtions")
        .code(0)
        .says("note: no version has .status.condtions")
        .says("hint: to see its fields: kubereel blame ");
    kubereel!("history {reel} co/etcd --field .status[")
        .code(2)
        .says("not a field: a bracket is not closed")
        .says("--field");
}

#[test]
fn a_name_used_again_is_a_break() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("pods", "Pod", &["po"]);
        script.synced(stream, 1);
        for (rv, uid) in [(2, "one"), (4, "two")] {
            let a = thing("default", "a", uid);
            script.wait(1000);
            script.added(stream, a, rv, &pod(a, rv, "x"));
            if uid == "one" {
                script.wait(1000);
                script.deleted(stream, a, rv + 1, &pod(a, rv + 1, "x"));
            }
        }
        script.wait(1000);
        let a = thing("default", "a", "three");
        let (modified, live) = (EventType::Modified, Evidence::Live);
        script.event(stream, modified, live, a, 9, &pod(a, 9, "x"));
        script.finish();
    });
    let ran = kubereel!("history {reel} pod/a").code(0);
    let expected = "\
14:00:01.000Z  +1s     rv 2        created · kubelet · lasted 1.0s
14:00:02.000Z  +2s     rv 3        deleted
── another object with this name: uid one → two ──
14:00:03.000Z  +3s     rv 4        created again · kubelet
── not observed 14:00:03.000Z – 14:00:04.000Z: versions in between may be missing (an object changed whose creation was never received) ──
── another object with this name: uid two → three; the deletion of the old one was not observed ──
14:00:04.000Z  +4s     rv 9        first seen
";
    assert_eq!(ran.out, expected);
    ran.says("3 objects in sequence");
}

#[test]
fn the_operator_that_went_wrong_is_found_in_the_demo() {
    let field = ".status.conditions[Degraded].status";
    let out = kubereel!("history {DEMO} co/image-registry --field {field}").ok();
    let began = format!("rv {} ", demo_spell().rv);
    let spell: Vec<&str> = out
        .lines()
        .skip_while(|line| !line.contains(&began))
        .collect();
    assert!(
        spell[0].contains("image-registry-operator · lasted 4."),
        "{out}"
    );
    assert!(
        spell[1].ends_with("status.conditions[Degraded].status  False → True"),
        "{out}"
    );
    assert!(spell[3].ends_with("True → False"), "{out}");
}

#[test]
fn json_has_stable_names() {
    let told = kubereel!(
        "history {DEMO} co/image-registry --field .status.conditions[Degraded].status -o json"
    )
    .json();
    assert_eq!(told["resource"], "clusteroperators.config.openshift.io");
    assert_eq!(told["namespace"], "");
    assert_eq!(told["name"], "image-registry");
    assert_eq!(told["versions"], 10);
    assert_eq!(told["gaps"], 0);
    let trust = told["trust"].as_str().expect("words");
    assert!(trust.starts_with("complete; last message from the server at "));
    let reel = pods_with_gap();
    let gapped = kubereel!("history {reel} pods/a -o json").json();
    assert_eq!(gapped["gaps"], 1);
    let mut items = gapped["items"].as_array().expect("items").iter();
    let gap = items.find(|item| item["item"] == "gap").expect("the gap");
    let names: Vec<&String> = gap.as_object().expect("an object").keys().collect();
    let expected = [
        "cause",
        "from",
        "from_rv",
        "item",
        "missing_at_most",
        "to",
        "to_rv",
    ];
    assert_eq!(names, expected);
    let spell = demo_spell();
    let items = told["items"].as_array().expect("items");
    let version = items
        .iter()
        .find(|item| item["rv"] == spell.rv)
        .expect("the version");
    let names: Vec<&String> = version.as_object().expect("an object").keys().collect();
    let expected = [
        "at",
        "changes",
        "committed_after",
        "committed_before",
        "evidence",
        "held_secs",
        "held_secs_at_most",
        "held_until",
        "is_first",
        "item",
        "not_before",
        "offset_secs",
        "rv",
        "seq",
        "type",
        "uid",
        "writers",
    ];
    assert_eq!(names, expected);
    assert_eq!(
        version["changes"],
        json!([{
            "path": "status.conditions[Degraded].status",
            "change": "changed", "old": "False", "new": "True",
        }])
    );
    assert_eq!(version["writers"][0]["manager"], "image-registry-operator");
    assert_eq!(version["writers"][0]["subresource"], "status");
    assert_eq!(version["held_until"], "change");
    assert!((3.0..6.0).contains(&version["held_secs"].as_f64().expect("seconds")));
    assert_eq!(version["at"], spell.at);
}

#[test]
fn what_names_nothing_is_explained() {
    let reel = pods_with_gap();
    kubereel!("history {reel} pods")
        .code(2)
        .says("no object name given");
    kubereel!("history {reel} pods/a b")
        .code(2)
        .says("names are given twice");
    kubereel!("history {reel} pds/a")
        .code(2)
        .says("did you mean pods?");
    // In the gap it may have been there.
    kubereel!("history {reel} pods/b")
        .code(4)
        .says("pods/b was never observed in default namespace")
        .says("-n web");
    kubereel!("history {DEMO} deploy/etc -n openshift-etcd")
        .code(1)
        .says("hint: did you mean");
    kubereel!("history {DEMO} co/etcd --from yesterday")
        .code(2)
        .says("not a moment");
}

#[test]
fn what_a_later_list_shows_happened_after_the_list_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let pod = |name: &str, rv: u32, phase: &str| {
        json!({
            "kind": "Pod", "apiVersion": "v1", "status": {"phase": phase},
            "metadata": {"name": name, "namespace": "shop", "resourceVersion": rv.to_string()},
        })
    };
    let lists = [
        json!([pod("a", 1, "Pending"), pod("b", 2, "Pending")]),
        json!([pod("a", 1, "Pending"), pod("b", 2, "Pending")]),
        json!([pod("a", 5, "Running")]),
    ];
    let mut args = vec!["import".to_owned(), "-o".to_owned(), path("lists.reel")];
    for (items, at) in lists.iter().zip(["10:00", "10:40", "11:00"]) {
        let file = path(at);
        let list = json!({"kind": "List", "apiVersion": "v1", "items": items});
        std::fs::write(&file, list.to_string()).expect("room");
        args.extend([file, "--at".to_owned(), format!("2026-01-01T{at}:00Z")]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    kubereel(&args).ok();
    let reel = path("lists.reel");
    let page = kubereel!("history {reel} pod/a -n shop").ok();
    assert_has(&page, "first seen · lasted at least 40m");
    // Before the end of a window, too.
    let window = ["history", &reel, "pod/a", "-n", "shop", "--to", "10:50"];
    let page = kubereel(&window).ok();
    assert_has(&page, "first seen · lasted at least 40m");
    let changes = kubereel!("diff {reel} --from start --to end").ok();
    assert_has(&changes, "deleted, last seen at 10:40:00.000Z");
}

#[test]
fn the_creation_of_an_object_changes_the_fields_that_it_sets() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("pods", "Pod", &["po"]);
        script.initial(stream, A, 9, &pod(A, 9, "x"));
        script.synced(stream, 10);
        script.wait(1000);
        script.added(stream, B, 12, &pod(B, 12, "x"));
        script.wait(1000);
        for (thing, rv) in [(A, 13), (B, 14)] {
            script.modified(stream, thing, rv, &pod(thing, rv, "x"));
        }
        script.wait(1000);
        script.finish();
    });
    // What existed before the recording may have had the value for long.
    for (pod, namespace, words) in [
        (
            "pod/b",
            "web",
            "1 of 2 versions change .metadata.labels.app",
        ),
        (
            "pod/a",
            "default",
            "0 of 2 versions change .metadata.labels.app",
        ),
    ] {
        let ran = kubereel!("history {reel} {pod} -n {namespace} --field .metadata.labels.app");
        let ran = ran.code(0).says(words);
        ran.prints("metadata.labels.app  + x");
    }
}
