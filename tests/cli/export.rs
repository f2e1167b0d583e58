//! `kubereel export`: every line, byte for byte.

use super::run::{A, Reel, kubereel, pods_with_gap};
use crate::script::Script;

#[test]
fn objects_come_out_byte_for_byte() {
    let odd = r#"{ "b":1.0,"a" : 1e3, "b":"\u0041\/" }"#;
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let pods = script.resource("pods", "Pod", &[]);
        let stream = script.connect(pods, None);
        script.synced(stream, 1);
        script.added(stream, A, 2, odd.as_bytes());
        script.finish();
    });
    let expected = format!(
        r#"{{"ts":"2026-11-21T14:00:00.000000Z","type":"ADDED","group":"","version":"v1","resource":"pods","object":{odd}}}"#
    );
    let ran = kubereel(&["export", reel.path(), "-o", "jsonl"])
        .code(0)
        .says("1 event");
    assert_eq!(ran.out, format!("{expected}\n"));
}

#[test]
fn a_file_gets_the_same_lines() {
    let reel = pods_with_gap();
    let out = kubereel(&["export", reel.path(), "-o", "jsonl"])
        .says("6 events · 1 gap of the recording not in the output")
        .says("changes may be missing for pods, deployments.apps")
        .code(4)
        .out;
    assert_eq!(out.lines().count(), 6);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("events.jsonl");
    let file = file.to_str().expect("text");
    let ran = kubereel(&["export", reel.path(), "-o", "jsonl", file]).code(4);
    assert_eq!(ran.out, "");
    assert_eq!(std::fs::read_to_string(file).expect("written"), out);
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let reel = pods_with_gap();
    kubereel(&[
        "export",
        reel.path(),
        "-o",
        "jsonl",
        "/nowhere/events.jsonl",
    ])
    .code(5)
    .says("/nowhere/events.jsonl");
}

#[test]
fn no_recording_is_written_over_by_mistake() {
    let (reel, other) = (pods_with_gap(), pods_with_gap());
    let bytes = || [&reel, &other].map(|one| std::fs::read(one.path()).expect("a reel"));
    let before = bytes();
    for force in [&[][..], &["--force"]] {
        let itself = ["export", reel.path(), reel.path()];
        kubereel(&[&itself[..], force].concat())
            .code(2)
            .says("error: the output is the input file");
    }
    kubereel(&["export", reel.path(), other.path()])
        .code(2)
        .says("error: file exists")
        .says("hint: choose another file, or overwrite it with --force");
    assert!(bytes() == before, "a reel was written over");
    let lines = kubereel(&["export", reel.path()]).code(4).out;
    kubereel(&["export", reel.path(), other.path(), "--force"]).code(4);
    assert_eq!(std::fs::read_to_string(other.path()).expect("lines"), lines);
    kubereel(&["export", reel.path(), "/dev/null"]).code(4);
    kubereel(&["import", other.path(), "-o", other.path(), "--force"])
        .code(2)
        .says("error: the output is the input file");
    assert_eq!(std::fs::read_to_string(other.path()).expect("lines"), lines);
}
