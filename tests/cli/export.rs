//! `kubereel export`: every line, byte for byte.

use super::run::{A, DEMO, Reel, kubereel, pods_with_gap};
use crate::script::Script;
use kubereel_format::Appender;

/// A recipient of age; nobody has its identity.
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

#[test]
fn objects_come_out_byte_for_byte() {
    let odd = r#"{ "b":1.0,"a" : 1e3, "b":"\u0041\/" }"#;
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("pods", "Pod", &[]);
        script.synced(stream, 1);
        script.added(stream, A, 2, odd.as_bytes());
        script.finish();
    });
    let expected = format!(
        r#"{{"ts":"2026-11-21T14:00:00.000000Z","type":"ADDED","group":"","version":"v1","resource":"pods","object":{odd}}}"#
    );
    let ran = kubereel!("export {reel} -o jsonl").code(0).says("1 event");
    assert_eq!(ran.out, format!("{expected}\n"));
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_is_full_is_named() {
    let reel = pods_with_gap();
    kubereel!("export {reel} /dev/full")
        .code(5)
        .says("error: /dev/full: cannot write: no space left on device\n");
}

#[test]
fn a_file_gets_the_same_lines() {
    let reel = pods_with_gap();
    let out = kubereel!("export {reel} -o jsonl")
        .says("6 events · 1 gap of the recording not in the output")
        .says("changes may be missing for pods, deployments.apps")
        .code(4)
        .out;
    assert_eq!(out.lines().count(), 6);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("events.jsonl");
    let file = file.to_str().expect("text");
    let ran = kubereel!("export {reel} -o jsonl {file}").code(4);
    assert_eq!(ran.out, "");
    assert_eq!(std::fs::read_to_string(file).expect("written"), out);
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let reel = pods_with_gap();
    kubereel!("export {reel} -o jsonl /nowhere/events.jsonl")
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
            .says(": the output is the input file");
    }
    kubereel!("export {reel} {other}")
        .code(2)
        .says(": file exists\n")
        .says("hint: choose another file, or overwrite it with --force");
    assert!(bytes() == before, "a reel was written over");
    let lines = kubereel!("export {reel}").code(4).out;
    kubereel!("export {reel} {other} --force").code(4);
    assert_eq!(std::fs::read_to_string(other.path()).expect("lines"), lines);
    kubereel!("export {reel} /dev/null").code(4);
    kubereel!("import {other} -o {other} --force")
        .code(2)
        .says(": the output is the input file");
    assert_eq!(std::fs::read_to_string(other.path()).expect("lines"), lines);
}

#[test]
fn a_reel_that_is_being_recorded_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (growing, events) = (file("growing.reel"), file("events.jsonl"));
    std::fs::write(&events, "{}").expect("written");
    let reel = pods_with_gap();
    let recorder = Appender::create(growing.as_ref()).expect("a reel");
    let before = std::fs::read(&growing).expect("a reel");
    for words in [
        &["export", reel.path(), &growing, "--force"][..],
        &["import", &events, "-o", &growing, "--force"],
        &["import", &events, "-o", &growing, "--append"],
        &["decrypt", &events, &growing, "--force"],
        &["encrypt", &events, &growing, "--force", "-r", RECIPIENT],
    ] {
        kubereel(words)
            .code(3)
            .says(": the reel is still being recorded\n")
            .says("hint: wait until its recorder has ended");
    }
    assert_eq!(std::fs::read(&growing).expect("a reel"), before);
    drop(recorder);
    kubereel!("export {reel} {growing} --force").code(4);
    let names = std::fs::read_dir(folder.path()).expect("a folder");
    assert_eq!(names.count(), 2, "a temporary file is left");
}

#[cfg(unix)]
#[test]
fn a_hard_link_of_the_input_is_the_input() {
    let reel = pods_with_gap();
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("link.reel");
    std::fs::copy(reel.path(), folder.path().join("run.reel")).expect("a reel");
    std::fs::hard_link(folder.path().join("run.reel"), &link).expect("a link");
    let run = folder.path().join("run.reel");
    let (run, link) = (run.to_str().expect("text"), link.to_str().expect("text"));
    let before = std::fs::read(run).expect("a reel");
    for words in [
        &["export", run, link, "--force"][..],
        &["import", run, "-o", link, "--force"],
        &["decrypt", run, link, "--force"],
        &["encrypt", run, link, "--force", "-r", RECIPIENT],
        &["encrypt", run, run, "--force", "-r", RECIPIENT],
    ] {
        kubereel(words)
            .code(2)
            .says(": the output is the input file");
    }
    assert_eq!(std::fs::read(run).expect("a reel"), before);
}

#[test]
fn a_file_that_an_option_names_is_not_the_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept");
    std::fs::write(&kept, RECIPIENT).expect("written");
    let kept_name = kept.to_str().expect("text");
    for words in [
        &["encrypt", DEMO, kept_name, "-R", kept_name, "--force"][..],
        &["decrypt", DEMO, kept_name, "-i", kept_name, "--force"],
        &[
            "export",
            DEMO,
            kept_name,
            "--age-identity",
            kept_name,
            "--force",
        ],
        &[
            "demo",
            "--save",
            kept_name,
            "--age-identity",
            kept_name,
            "--force",
        ],
        &[
            "import",
            DEMO,
            "-o",
            kept_name,
            "--redact",
            "--redact-extra",
            kept_name,
            "--force",
        ],
    ] {
        let ran = kubereel(words).code(2);
        ran.says(": the output is the input file");
        let now = std::fs::read(&kept).expect("there");
        assert_eq!(now, RECIPIENT.as_bytes(), "{words:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_device_a_pipe_or_a_socket_is_not_replaced_by_a_file() {
    use std::os::unix::fs::FileTypeExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (socket, events) = (file("socket"), file("events.jsonl"));
    std::fs::write(&events, "{}").expect("written");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    for words in [
        &["import", &events, "-o", &socket, "--force"][..],
        &["decrypt", &events, &socket, "--force"],
        &["encrypt", &events, &socket, "--force", "-r", RECIPIENT],
    ] {
        kubereel(words)
            .code(2)
            .says(": cannot write: not a regular file\n");
    }
    let about = std::fs::metadata(&socket).expect("there");
    assert!(about.file_type().is_socket(), "it was replaced");
}

#[cfg(unix)]
#[test]
fn what_is_made_of_a_private_reel_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let (reel, events, new) = (file("run.reel"), file("events.jsonl"), file("new.reel"));
    std::fs::copy(DEMO, &reel).expect("copied");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&reel, private).expect("set");
    kubereel!("export {reel} {events}").ok();
    kubereel!("recover {reel} {new}").ok();
    for path in [events, new] {
        let about = std::fs::metadata(&path).expect("there");
        assert_eq!(about.permissions().mode() & 0o777, 0o600, "{path}");
    }
}
