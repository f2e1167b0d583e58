//! Several lists of several moments: changes and deletions between them.

use kubereel_format::{EventType, Evidence, Note, RecordedAt, Reel};
use kubereel_import::{
    BrokenReason, ImportContent, ImportError, ImportInput, ImportOptions, Imported, import_all,
};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Returns a folder and the path of a reel that is to be written there.
fn new_reel() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let reel = folder.path().join("a.reel");
    (folder, reel)
}

/// An input of bytes at a second.
fn list(name: &str, secs: i64, text: String) -> ImportInput<'static> {
    ImportInput {
        name: name.to_owned(),
        content: ImportContent::Stream(Box::new(std::io::Cursor::new(text))),
        at: Some(RecordedAt::from_micros(secs * 1_000_000)),
        changed_at: None,
    }
}

/// A list of Pods: namespace, name, version.
fn pods(of: &[(&str, &str, u32)]) -> String {
    let items: Vec<_> = of
        .iter()
        .map(|(namespace, name, version)| {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {
                "namespace": namespace, "name": name, "uid": format!("{namespace}-{name}"),
                "resourceVersion": version.to_string(),
            }})
        })
        .collect();
    json!({"apiVersion": "v1", "kind": "PodList", "items": items}).to_string()
}

fn take(
    inputs: Vec<ImportInput<'_>>,
    reel: &Path,
    is_append: bool,
) -> Result<Imported, ImportError> {
    let mut options = ImportOptions::new("test", "a test");
    options.append = is_append;
    import_all(inputs, reel, &options, |_| {})
}

/// Each event: second, type, evidence, name.
fn told(reel: &Path) -> Vec<String> {
    let reel = Reel::open(reel).expect("a reel");
    assert!(reel.is_finished() && reel.damage().is_empty());
    reel.scan()
        .map(|event| {
            let event = event.expect("an event");
            let key = reel.key(event.head.object).expect("an object");
            let secs = event.head.stamp.wall.micros / 1_000_000;
            let (kind, evidence) = (event.head.kind, event.head.evidence.as_str());
            format!("{secs} {kind:?} {evidence} {}", key.name)
        })
        .collect()
}

#[test]
fn lists_are_taken_in_the_order_of_their_times() {
    let (_folder, reel) = new_reel();
    let first = list("first", 1, pods(&[("a", "x", 1), ("a", "y", 2)]));
    let second = list("second", 2, pods(&[("a", "y", 3), ("a", "z", 4)]));
    let third = list("third", 3, pods(&[]));
    let outcome = take(vec![third, first, second], &reel, false).expect("an import");
    let expected = [
        "1 Added imported x",
        "1 Added imported y",
        "2 Modified listed y",
        "2 Added listed z",
        "2 Deleted listed x",
    ];
    assert_eq!(told(&reel), expected);
    assert_eq!((outcome.lists.lists, outcome.lists.deleted), (3, 1));
    // An empty list may be that of another namespace.
    assert_eq!(outcome.lists.uncertain, 2);
}

#[test]
fn a_name_that_comes_back_with_another_uid_is_another_object() {
    let (_folder, reel) = new_reel();
    let other = pods(&[("a", "x", 9)]).replace("a-x", "another");
    take(
        vec![list("1", 1, pods(&[("a", "x", 1)])), list("2", 2, other)],
        &reel,
        false,
    )
    .expect("an import");
    let expected = [
        "1 Added imported x",
        "2 Deleted listed x",
        "2 Added listed x",
    ];
    assert_eq!(told(&reel), expected);
}

#[test]
fn a_broken_later_list_proves_no_deletion() {
    let (_folder, reel) = new_reel();
    let broken = r#"{"kind":"PodList","apiVersion":"v1","items":[7]}"#.to_owned();
    let inputs = vec![list("1", 1, pods(&[("a", "x", 1)])), list("2", 2, broken)];
    let outcome = take(inputs, &reel, false).expect("an import");
    assert_eq!(told(&reel), ["1 Added imported x"]);
    assert_eq!(outcome.broken.count, 1);
    assert_eq!(
        outcome.broken.first.first().map(|one| one.file.as_str()),
        Some("2")
    );
}

/// An input of a folder at a second: the names and contents of its files.
fn folder(place: &TempDir, secs: i64, files: &[(&str, &str)]) -> ImportInput<'static> {
    let root = place.path().join(secs.to_string());
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    ImportInput {
        content: ImportContent::Folder(root),
        ..list(&secs.to_string(), secs, String::new())
    }
}

#[test]
fn a_broken_list_of_a_folder_is_named_and_proves_no_deletion() {
    let whole = pods(&[("a", "x", 1), ("a", "y", 1), ("a", "z", 1)]);
    let item = |name: &str| {
        format!("- apiVersion: v1\n  kind: Pod\n  metadata: {{namespace: a, name: {name}}}\n")
    };
    let cut_yaml = ["apiVersion: v1\nitems:\n".to_owned(), item("x"), item("y")].concat();
    let cut_json = whole.get(..whole.len() - 9).expect("ASCII");
    let numbered = whole.replacen(r#""resourceVersion":"1""#, r#""resourceVersion":1"#, 1);
    let with_number = whole.replace("[{", "[7,{");
    for (name, text, words) in [
        (
            "pods.yaml",
            cut_yaml.as_str(),
            "pods.yaml 0 the list has no end: the item at line 6",
        ),
        (
            "pods.json",
            cut_json,
            "pods.json 0 not JSON, and nothing after it can be read: EOF while parsing",
        ),
        (
            "pods.json",
            &numbered,
            "pods.json 1 not a Kubernetes object: invalid type: integer",
        ),
        (
            "pods.json",
            &with_number,
            "pods.json 1 not a Kubernetes object: invalid type: integer",
        ),
    ] {
        let (place, reel) = new_reel();
        let other = [
            ("status.json", "[{\"kind\":7},8]"),
            ("config.yaml", "kind: Config\napiVersion: v1\n"),
        ];
        let later = [&other[..], &[(name, text)]].concat();
        let inputs = vec![
            folder(&place, 1, &[("pods.json", &whole)]),
            folder(&place, 2, &later),
        ];
        let outcome = take(inputs, &reel, false).expect("an import");
        let broken = outcome.broken.first.iter();
        let broken: Vec<String> = broken
            .map(|one| format!("{} {} {}", one.file, one.item, one.problem))
            .collect();
        assert!(
            broken.len() == 1 && broken.concat().starts_with(words),
            "{broken:?}"
        );
        let events = told(&reel);
        assert!(
            !events.iter().any(|event| event.contains("Deleted")),
            "{events:?}"
        );
        assert_eq!(outcome.lists.deleted, 0);
    }
}

#[test]
fn an_object_in_a_file_of_its_own_in_a_folder_proves_no_deletion() {
    let whole = pods(&[("a", "x", 1), ("a", "y", 1), ("b", "z", 1)]);
    let (x, y, listed) = (pod("x", 2), pod("y", 1), pods(&[("a", "x", 1)]));
    for (files, gone, uncertain) in [
        (&[("x.json", x.as_str())][..], &[][..], 2),
        (&[("x.json", &x), ("y.json", &y)], &[], 1),
        (&[("pods.json", &listed), ("x.json", &x)], &["y"], 1),
        (&[("a.json", &x), ("pods.json", &listed)], &["y"], 1),
    ] {
        let (place, reel) = new_reel();
        let inputs = vec![list("1", 1, whole.clone()), folder(&place, 2, files)];
        let outcome = take(inputs, &reel, false).expect("an import");
        let mut events = told(&reel);
        events.retain(|event| event.contains("Deleted"));
        let gone: Vec<String> = gone
            .iter()
            .map(|name| format!("2 Deleted listed {name}"))
            .collect();
        assert_eq!(
            (events, outcome.lists.uncertain),
            (gone, uncertain),
            "{files:?}"
        );
    }
}

#[test]
fn one_page_of_a_list_proves_no_deletion() {
    let whole = pods(&[("a", "x", 1), ("a", "y", 1)]);
    let page = |items: &str| {
        items.replace(
            "\"items\"",
            r#""metadata":{"continue":"t","remainingItemCount":1},"items""#,
        )
    };
    let (later, empty) = (page(&pods(&[("a", "x", 1)])), page(&pods(&[])));
    let (place, reel) = new_reel();
    let in_folder = folder(&place, 2, &[("pods.json", &later)]);
    for second in [list("2", 2, later), list("2", 2, empty), in_folder] {
        let inputs = vec![list("1", 1, whole.clone()), second];
        let outcome = take(inputs, &reel, false).expect("an import");
        assert_eq!(told(&reel), ["1 Added imported x", "1 Added imported y"]);
        assert!(outcome.lists.uncertain > 0 && outcome.broken.count == 0);
        std::fs::remove_file(&reel).expect("a file");
    }
}

#[test]
fn lists_of_single_namespaces_do_not_cover_others() {
    let all = pods(&[
        ("a", "x", 1),
        ("b", "y", 1),
        ("c", "z", 1),
        ("b", "gone", 1),
    ]);
    let (of_a, of_b) = (pods(&[("a", "x", 1)]), pods(&[("b", "y", 1)]));
    let joined = [of_a.clone(), of_b.clone()].join("\n");
    let nested = format!(r#"{{"kind":"List","apiVersion":"v1","items":[{of_a},{of_b}]}}"#);
    let both = pods(&[("a", "x", 1), ("b", "y", 1)]);
    for (later, gone) in [
        (vec![of_a, of_b], &["2 Deleted listed gone"][..]),
        (vec![joined], &["2 Deleted listed gone"]),
        (vec![nested], &["2 Deleted listed gone"]),
        (vec![both], &["2 Deleted listed gone", "2 Deleted listed z"]),
    ] {
        let (_place, reel) = new_reel();
        let later = later.into_iter().map(|text| list("2", 2, text));
        let inputs = std::iter::once(list("1", 1, all.clone())).chain(later);
        let outcome = take(inputs.collect(), &reel, false).expect("an import");
        let mut events = told(&reel);
        events.retain(|event| event.contains("Deleted"));
        assert_eq!(events, gone);
        assert_eq!(usize::try_from(outcome.lists.uncertain), Ok(2 - gone.len()));
    }
}

#[test]
fn a_failed_checksum_is_named_even_behind_many_broken_parts() {
    let line = json!({"ts": 1, "type": "ADDED", "object": serde_json::from_str::<serde_json::Value>(&pod("x", 1)).expect("JSON")});
    let trace = json!({"version": 2, "config": {}, "events": [
        {"ts": 1, "applied_objs": [line["object"]], "deleted_objs": []},
    ], "index": {}, "pod_lifecycles": {}});
    for text in [format!("{line}\n{}", "{\n".repeat(30)), trace.to_string()] {
        let len = u16::try_from(text.len()).expect("short");
        // One stored block, and a checksum of zeros.
        let head = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x01";
        let (len, other, size) = (
            len.to_le_bytes(),
            (!len).to_le_bytes(),
            u32::from(len).to_le_bytes(),
        );
        let bytes = [head, &len[..], &other, text.as_bytes(), &[0; 4], &size].concat();
        let (_place, reel) = new_reel();
        let input = ImportInput {
            content: ImportContent::Stream(Box::new(std::io::Cursor::new(bytes))),
            at: None,
            ..list("1", 1, String::new())
        };
        let outcome = take(vec![input], &reel, false).expect("an import");
        assert_eq!(told(&reel), ["1 Added imported x"]);
        let named = outcome
            .broken
            .first
            .iter()
            .filter(|one| matches!(one.problem, BrokenReason::Corrupt(_)));
        assert_eq!(named.count(), 1, "{:?}", outcome.broken);
    }
}

#[test]
fn the_deletion_of_an_object_whose_name_is_redacted_is_one() {
    let token = json!({"apiVersion": "oauth.openshift.io/v1", "kind": "OAuthAccessToken", "metadata": {
        "name": "sha256~x", "uid": "u", "resourceVersion": "1",
    }});
    let status =
        json!({"kind": "Status", "status": "Success", "details": {"name": "sha256~x", "uid": "u"}});
    let lines = [("create", 1, token), ("delete", 2, status)].map(|(verb, secs, answer)| {
        json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": "x", "stage": "ResponseComplete", "verb": verb,
            "objectRef": {"resource": "oauthaccesstokens", "name": "sha256~x", "apiGroup": "oauth.openshift.io", "apiVersion": "v1"},
            "responseStatus": {"code": 200}, "stageTimestamp": format!("1970-01-01T00:00:0{secs}Z"), "responseObject": answer,
        })
        .to_string()
    });
    let (_place, reel) = new_reel();
    let mut options = ImportOptions::new("test", "a test");
    options.redact = true;
    let input = list("1", 1, lines.join("\n"));
    let outcome = import_all(vec![input], &reel, &options, |_| {}).expect("an import");
    let events = told(&reel);
    assert_eq!((events.len(), outcome.lists.audit.marks), (2, 0));
    assert!(events.concat().contains("2 Deleted imported"), "{events:?}");
    assert!(!events.concat().contains("sha256~x"), "{events:?}");
}

#[test]
fn the_marks_of_an_audit_log_have_no_name_that_is_redacted_by_its_place() {
    let lines = [
        ("oauthaccesstokens", "oldtoken"),
        ("oauthclients", "console"),
    ];
    let lines = lines.map(|(resource, name)| {
        json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": "x", "stage": "ResponseComplete", "verb": "delete",
            "objectRef": {"resource": resource, "name": name, "apiGroup": "oauth.openshift.io", "apiVersion": "v1"},
            "responseStatus": {"code": 200}, "stageTimestamp": "1970-01-01T00:00:01Z",
        })
        .to_string()
    });
    let (_place, reel) = new_reel();
    let mut options = ImportOptions::new("test", "a test");
    options.redact = true;
    let outcome = import_all(
        vec![list("1", 1, lines.join("\n"))],
        &reel,
        &options,
        |_| {},
    );
    assert_eq!(outcome.expect("an import").lists.audit.marks, 2);
    let opened = Reel::open(&reel).expect("a reel");
    let notes: Vec<String> = opened
        .notes()
        .iter()
        .map(|one| format!("{one:?}"))
        .collect();
    let notes = notes.concat();
    assert!(!notes.contains("oldtoken"), "{notes}");
    let words = "delete oauthaccesstokens.oauth.openshift.io/redacted-by-kubereel-8-bytes-";
    assert!(notes.contains(words), "{notes}");
    assert!(
        notes.contains("delete oauthclients.oauth.openshift.io/console"),
        "{notes}"
    );
}

#[test]
fn lists_whose_times_contradict_their_versions_are_refused() {
    let with_version = |text: String, version: &str| {
        text.replace(
            "\"items\"",
            &format!(r#""metadata":{{"resourceVersion":"{version}"}},"items""#),
        )
    };
    let old = pods(&[("a", "x", 10)]);
    let new = pods(&[("a", "x", 150), ("a", "y", 160)]);
    let same = pods(&[("a", "x", 10), ("a", "y", 160)]);
    for (first, second, words) in [
        (
            new.clone(),
            old.clone(),
            "2 is of 1970-01-01T00:00:02Z, but its resourceVersion 10 is lower than 150",
        ),
        (
            with_version(same, "200"),
            with_version(old.clone(), "100"),
            "resourceVersion 100 is lower than 200",
        ),
    ] {
        let (_place, reel) = new_reel();
        let inputs = |second: i64, text: &str| {
            vec![
                list("1", 1, first.clone()),
                list("2", second, text.to_owned()),
            ]
        };
        let error = take(inputs(2, &second), &reel, false).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
        take(inputs(0, &second), &reel, false).expect("in their order");
    }
    // A list may have been read a moment before its time: what is newer comes from events.
    let (_place, reel) = new_reel();
    let event = |name: &str, version: u32| {
        let object: serde_json::Value = serde_json::from_str(&pod(name, version)).expect("JSON");
        json!({"ts": 1, "type": "MODIFIED", "object": object}).to_string()
    };
    let lines = list("events", 1, [event("x", 150), event("y", 160)].join("\n"));
    let outcome = take(vec![lines, list("2", 2, old)], &reel, false).expect("an import");
    let expected = ["1 Modified imported x", "1 Modified imported y"];
    assert_eq!(told(&reel), expected);
    let lists = outcome.lists;
    assert_eq!((lists.older, lists.unchanged, lists.uncertain), (1, 0, 1));
}

#[test]
fn several_states_in_one_file_and_several_clusters_in_a_folder_are_refused() {
    let lists = [pods(&[("a", "x", 1)]), pods(&[("a", "x", 5)])].join("\n");
    let watched = [pod("x", 1), pod("y", 1), pod("x", 5)].join("\n");
    let namespace = |uid: &str| {
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": uid}}).to_string()
    };
    let (place, reel) = new_reel();
    let clusters = [
        ("c1/ns.json", namespace("k")),
        ("c2/ns.json", namespace("l")),
    ];
    let clusters = clusters
        .each_ref()
        .map(|(name, text)| (*name, text.as_str()));
    for (input, words) in [
        (
            list("1", 1, lists),
            "1 has several states of an object, and one time for all of them, 1970-01-01T00:00:01Z",
        ),
        (list("1", 1, watched), "1 has several states of an object"),
        (
            folder(&place, 1, &clusters),
            "c1/ns.json and c2/ns.json are of different clusters",
        ),
    ] {
        let error = take(vec![input], &reel, false).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
    }
    let other = pods(&[("a", "x", 5)]).replace("a-x", "another");
    let again = pods(&[("a", "x", 1)]);
    let files = [
        ("a.json", other.as_str()),
        ("b.json", &again),
        ("c.json", &again),
    ];
    let outcome = take(vec![folder(&place, 2, &files)], &reel, false).expect("an import");
    let files = outcome.files.expect("files");
    assert_eq!(
        (files.with_objects, files.copies, files.replaced),
        (3, 0, 2)
    );
    std::fs::remove_file(&reel).expect("a file");
    // The same state twice is one.
    let twice = [pods(&[("a", "x", 1)]), pods(&[("a", "x", 1)])].join("\n");
    take(vec![list("1", 1, twice)], &reel, false).expect("an import");
}

/// A Pod by itself.
fn pod(name: &str, version: u32) -> String {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {
        "namespace": "a", "name": name, "uid": format!("a-{name}"), "resourceVersion": version.to_string(),
    }})
    .to_string()
}

#[test]
fn objects_outside_of_a_list_prove_no_deletion_unless_they_are_several_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let (x, y) = (pod("x", 9), pod("y", 9));
    let yaml = |name: &str| {
        let names = format!("namespace: a, name: {name}, uid: a-{name}");
        format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{{names}, resourceVersion: '9'}}\n")
    };
    let pretty = |text: &str| text.replace("\"kind\"", "\n\"kind\"");
    for (inputs, deleted) in [
        (vec![x.clone()], ""),
        (vec![format!("{x}\n")], ""),
        (vec![pretty(&x)], ""),
        (vec![format!("{}\n{}", pretty(&x), pretty(&y))], ""),
        (vec![format!("{}{}", yaml("x"), yaml("y"))], ""),
        (vec![x.clone(), y.clone()], ""),
        (vec![format!("[{x}]")], "z y"),
        (vec![format!("{x}\n{y}\n")], "z"),
        (vec![x.clone(), pods(&[("a", "y", 9)])], "z"),
    ] {
        let reel = folder.path().join("a.reel");
        let first = pods(&[("a", "x", 1), ("a", "y", 2), ("a", "z", 3)]);
        let mut all = vec![list("first", 1, first)];
        for (number, input) in inputs.iter().enumerate() {
            all.push(list(&number.to_string(), 2, input.clone()));
        }
        let outcome = take(all, &reel, false).expect("an import");
        let mut gone = told(&reel);
        gone.retain(|event| event.contains("Deleted"));
        let names = deleted.split_whitespace();
        let mut expected: Vec<String> = names
            .map(|name| format!("2 Deleted listed {name}"))
            .collect();
        expected.sort_unstable();
        assert_eq!(gone, expected, "{inputs:?}");
        assert_eq!(outcome.lists.uncertain, 0, "{inputs:?}");
        std::fs::remove_file(&reel).expect("a file");
    }
}

/// An input of lines of events: second, type, name.
fn events(name: &str, of: &[(i64, &str, &str)]) -> ImportInput<'static> {
    let lines: Vec<String> = of
        .iter()
        .map(|(secs, kind, name)| {
            let object: serde_json::Value = serde_json::from_str(&pod(name, 1)).expect("JSON");
            json!({"ts": secs, "type": kind, "object": object}).to_string()
        })
        .collect();
    ImportInput {
        at: None,
        ..list(name, 0, lines.join("\n"))
    }
}

/// An event of an audit log with the object that was written.
fn audited(micros: i64, verb: &str, name: &str, version: u32) -> String {
    let mut object: serde_json::Value = serde_json::from_str(&pod(name, version)).expect("JSON");
    let metadata = object.pointer_mut("/metadata").filter(|_| verb == "delete");
    if let Some(metadata) = metadata.and_then(serde_json::Value::as_object_mut) {
        metadata.insert(
            "deletionTimestamp".to_owned(),
            json!("2026-11-23T10:00:00Z"),
        );
    }
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": "x", "stage": "ResponseComplete",
        "verb": verb, "user": {"username": "jane"},
        "objectRef": {"resource": "pods", "apiVersion": "v1", "namespace": "a", "name": name},
        "responseStatus": {"code": 200}, "responseObject": object,
        "stageTimestamp": format!("1970-01-01T00:00:{:02}.{:06}Z", micros / 1_000_000, micros % 1_000_000),
    })
    .to_string()
}

fn audit_log(name: &str, lines: &[String]) -> ImportInput<'static> {
    ImportInput {
        at: None,
        ..list(name, 0, lines.join("\n"))
    }
}

#[test]
fn lines_of_several_inputs_are_merged_by_time() {
    let (_folder, reel) = new_reel();
    let one = events(
        "1",
        &[(1, "ADDED", "x"), (4, "DELETED", "x"), (3, "ADDED", "z")],
    );
    let other = events("2", &[(2, "MODIFIED", "x"), (5, "ADDED", "y")]);
    let first = list("3", 0, pods(&[("a", "w", 1)]));
    take(vec![other, one, first], &reel, false).expect("an import");
    let expected = [
        "0 Added imported w",
        "1 Added imported x",
        "2 Modified imported x",
        "4 Deleted imported x",
        // The lines of an input keep their order.
        "3 Added imported z",
        "5 Added imported y",
    ];
    assert_eq!(told(&reel), expected);
}

#[test]
fn a_list_is_compared_with_the_lines_before_it() {
    let (_folder, reel) = new_reel();
    let lines = events(
        "1",
        &[(1, "ADDED", "x"), (1, "ADDED", "y"), (5, "ADDED", "z")],
    );
    let later = list("2", 3, pods(&[("a", "y", 1)]));
    take(vec![later, lines], &reel, false).expect("an import");
    let expected = [
        "1 Added imported x",
        "1 Added imported y",
        "3 Deleted listed x",
        "5 Added imported z",
    ];
    assert_eq!(told(&reel), expected);
}

#[test]
fn audit_logs_of_several_api_servers_are_one_log() {
    let (_folder, reel) = new_reel();
    let lines = [
        audited(1_000_000, "create", "x", 1),
        audited(2_000_000, "update", "x", 2),
        audited(20_000_000, "update", "x", 3),
        audited(30_000_000, "delete", "x", 4),
        audited(40_000_000, "create", "y", 5),
    ];
    let of = |places: &[usize]| -> Vec<String> {
        places
            .iter()
            .filter_map(|place| lines.get(*place))
            .cloned()
            .collect()
    };
    for (one, other) in [(of(&[0, 2, 4]), of(&[1, 3])), (of(&[3]), of(&[0, 1, 2, 4]))] {
        let inputs = vec![audit_log("1", &one), audit_log("2", &other)];
        let outcome = take(inputs, &reel, false).expect("an import");
        let expected = [
            "1 Added imported x",
            "2 Modified imported x",
            "20 Modified imported x",
            "30 Deleted imported x",
            "40 Added imported y",
        ];
        assert_eq!(told(&reel), expected);
        assert_eq!(outcome.lists.repeated, 0);
        std::fs::remove_file(&reel).expect("a file");
    }
}

#[test]
fn concurrent_writes_in_an_audit_log_are_in_the_order_of_their_versions() {
    let (_folder, reel) = new_reel();
    let lines = [
        audited(1_000_000, "create", "x", 10),
        audited(2_000_000, "update", "x", 13),
        audited(3_000_000, "update", "x", 12),
        audited(4_000_000, "create", "y", 14),
    ];
    let outcome = take(vec![audit_log("1", &lines)], &reel, false).expect("an import");
    assert_eq!(outcome.lists.repeated, 0);
    let expected = [
        "1 Added imported x",
        // It was done before version 13 was answered.
        "2 Modified imported x",
        "2 Modified imported x",
        "4 Added imported y",
    ];
    assert_eq!(told(&reel), expected);
    let opened = Reel::open(&reel).expect("a reel");
    let versions: Vec<String> = opened
        .scan()
        .map(|event| event.expect("an event").head.resource_version.clone())
        .collect();
    assert_eq!(versions, ["10", "12", "13", "14"]);
}

/// The seconds at which a list had all objects of a resource, for each resource, and the end.
fn moments(reel: &Path) -> (BTreeMap<u32, Vec<i64>>, i64) {
    let reel = Reel::open(reel).expect("a reel");
    let mut moments: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    let secs = |stamp: kubereel_format::Stamp| stamp.wall.micros / 1_000_000;
    for entry in reel.notes() {
        if let Note::Connected { resource, .. } = &entry.note {
            moments
                .entry(resource.0)
                .or_default()
                .push(secs(entry.stamp));
        }
    }
    let end = reel.notes().last().map(|entry| secs(entry.stamp));
    (moments, end.expect("a note"))
}

#[test]
fn a_moment_without_changes_is_in_the_recording() {
    let (_folder, reel) = new_reel();
    let both = [("a", "x", 1), ("b", "y", 2)];
    let of_one = r#"{"kind":"PodList","apiVersion":"v1","items":[7]}"#;
    let no_kind = r#"{"kind":"List","apiVersion":"v1","items":[]}"#;
    // The source is noted before the first objects and behind each list.
    let cases: [(Vec<String>, &[i64]); 6] = [
        (vec![pods(&both), pods(&both)], &[1, 1, 2]),
        (
            vec![
                pods(&both),
                pods(&both),
                pods(&[("a", "x", 3), ("b", "y", 4)]),
            ],
            &[1, 1, 2, 3],
        ),
        // A list of a resource names it, also without objects.
        (vec![pods(&[]), pods(&both)], &[1, 1, 2]),
        (vec![no_kind.to_owned(), pods(&both)], &[2, 2]),
        // Such lists may not have all objects.
        (vec![pods(&both), pods(&both[..1])], &[1, 1]),
        (vec![pods(&both), of_one.to_owned()], &[1, 1]),
    ];
    for (lists, expected) in cases {
        let inputs = (1..)
            .zip(&lists)
            .map(|(secs, text)| list("one", secs, text.clone()));
        let outcome = take(inputs.collect(), &reel, false).expect("an import");
        let (found, end) = moments(&reel);
        let last = i64::try_from(lists.len()).expect("few");
        assert_eq!(
            found.get(&0).map(Vec::as_slice),
            Some(expected),
            "{lists:?}"
        );
        let secs = |at: RecordedAt| at.micros / 1_000_000;
        let bounds = (secs(outcome.from), secs(outcome.to), end);
        assert_eq!(bounds, (1, last, last), "{lists:?}");
        std::fs::remove_file(&reel).expect("a file");
    }
}

#[test]
fn what_a_list_may_not_cover_is_kept_and_counted() {
    let (_folder, reel) = new_reel();
    let first = list("1", 1, pods(&[("a", "x", 1), ("b", "y", 2)]));
    let second = list("2", 2, pods(&[("a", "x", 1)]));
    let outcome = take(vec![first, second], &reel, false).expect("an import");
    assert_eq!((outcome.lists.uncertain, outcome.lists.deleted), (1, 0));
    let notes = Reel::open(&reel).expect("a reel");
    let is_said = notes.notes().iter().any(|entry| {
        matches!(&entry.note, Note::Provenance { text } if text.contains("whether 1 objects still existed"))
    });
    assert!(is_said);
}

#[test]
fn lists_of_one_time_are_one_list_unless_they_have_an_object_in_common() {
    let (folder, reel) = new_reel();
    let inputs = vec![
        list("1", 1, pods(&[("a", "x", 1)])),
        list("2", 1, pods(&[("a", "x", 1), ("a", "y", 2)])),
    ];
    let error = take(inputs, &reel, false).expect_err("an error");
    assert!(matches!(error, ImportError::SameTime { .. }), "{error}");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0);
    let inputs = vec![
        list("1", 1, pods(&[("a", "x", 1)])),
        list("2", 1, pods(&[("a", "y", 2)])),
        list("3", 2, pods(&[("a", "y", 2)])),
        list("4", 2, pods(&[("a", "z", 3)])),
    ];
    let outcome = take(inputs, &reel, false).expect("an import");
    let expected = [
        "1 Added imported x",
        "1 Added imported y",
        "2 Added listed z",
        "2 Deleted listed x",
    ];
    assert_eq!(told(&reel), expected);
    assert_eq!(outcome.lists.lists, 2);
}

#[test]
fn an_appended_list_goes_on_where_the_reel_ends_and_a_failed_one_changes_nothing() {
    let (folder, reel) = new_reel();
    take(
        vec![list("1", 5, pods(&[("a", "x", 1), ("a", "y", 2)]))],
        &reel,
        false,
    )
    .expect("an import");
    let before = std::fs::read(&reel).expect("a file");
    let error = take(vec![list("0", 1, pods(&[]))], &reel, true).expect_err("too old");
    assert!(matches!(error, ImportError::BeforeEnd { .. }), "{error}");
    let error =
        take(vec![list("0", 9, "nonsense: [".to_owned())], &reel, true).expect_err("broken");
    assert!(matches!(error, ImportError::Yaml { .. }), "{error}");
    assert_eq!(std::fs::read(&reel).expect("a file"), before);
    take(vec![list("2", 7, pods(&[("a", "y", 3)]))], &reel, true).expect("an import");
    let event = json!({"ts": 8, "type": "DELETED", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "a", "name": "y", "uid": "a-y"}}});
    take(vec![list("3", 8, format!("{event}\n"))], &reel, true).expect("an import");
    let expected = [
        "5 Added imported x",
        "5 Added imported y",
        "7 Modified listed y",
        "7 Deleted listed x",
        "8 Deleted imported y",
    ];
    assert_eq!(told(&reel), expected);
    let sessions = Reel::open(&reel).expect("a reel");
    let sessions = sessions
        .notes()
        .iter()
        .filter(|entry| matches!(entry.note, Note::SessionStarted { .. }));
    assert_eq!(sessions.count(), 3);
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        1
    );
}

type PodState = BTreeMap<(u8, u8), u32>;

fn states() -> impl Strategy<Value = Vec<PodState>> {
    let state = prop::collection::btree_map((0..2_u8, 0..4_u8), 1..3_u32, 0..6);
    prop::collection::vec(state, 1..5)
}

proptest! {
    /// After each list, the sum of the events equals the lists, as far as they covered it.
    #[test]
    fn events_add_up_to_the_lists(states in states(), is_appended in any::<bool>()) {
        let (_folder, reel) = new_reel();
        let name = |number: &u8| format!("p{number}");
        let space = |number: &u8| format!("n{number}");
        let mut inputs = Vec::new();
        for (secs, state) in (1..).zip(&states) {
            let names: Vec<(String, String, u32)> = state
                .iter()
                .map(|((namespace, pod), version)| (space(namespace), name(pod), *version + 10 * u32::try_from(secs).expect("few")))
                .collect();
            let of: Vec<(&str, &str, u32)> = names.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), *c)).collect();
            inputs.push(list(&secs.to_string(), secs, pods(&of)));
        }
        if is_appended {
            for (number, input) in inputs.into_iter().enumerate() {
                take(vec![input], &reel, number > 0).expect("an import");
            }
        } else {
            take(inputs, &reel, false).expect("an import");
        }
        // The oracle: a list covers the namespaces of its objects; with several, all.
        let mut expected: PodState = BTreeMap::new();
        let mut is_first = true;
        for state in &states {
            let listed: BTreeSet<u8> = state.keys().map(|(namespace, _)| *namespace).collect();
            let covers_all = listed.len() > 1;
            if !is_first {
                expected.retain(|key, _| state.contains_key(key) || !(covers_all || listed.contains(&key.0)));
            }
            expected.extend(state.iter().map(|(key, version)| (*key, *version)));
            is_first = false;
        }
        let reel = Reel::open(&reel).expect("a reel");
        let mut live: BTreeSet<(String, String)> = BTreeSet::new();
        for event in reel.scan() {
            let event = event.expect("an event");
            let key = reel.key(event.head.object).expect("an object");
            let key = (key.namespace.to_owned(), key.name.to_owned());
            match event.head.kind {
                EventType::Deleted => {
                    prop_assert_eq!(event.head.evidence, Evidence::Listed);
                    prop_assert!(live.remove(&key));
                }
                EventType::Added => prop_assert!(live.insert(key)),
                EventType::Modified => prop_assert!(live.contains(&key)),
            }
        }
        let expected: Vec<(String, String)> = expected.keys().map(|(namespace, pod)| (space(namespace), name(pod))).collect();
        prop_assert_eq!(live.into_iter().collect::<Vec<_>>(), expected);
    }
}
