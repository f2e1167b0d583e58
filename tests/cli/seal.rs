//! `kubereel seal`: the same recording in fewer bytes, found and read everywhere; what cannot be sealed stays as it is.

use super::run::{DEMO, Ran, assert_has, program, run};
use kubereel_format::{Appender, Note, Stamp};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A folder with the demo in it.
struct Shelf {
    folder: TempDir,
}

impl Shelf {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::copy(DEMO, folder.path().join("run.reel")).expect("copied");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(self.folder.path()).expect("the folder");
        let mut names: Vec<String> = files
            .map(|file| {
                file.expect("a file")
                    .file_name()
                    .into_string()
                    .expect("text")
            })
            .collect();
        names.sort();
        names
    }

    /// Runs the program in the folder.
    fn kubereel(&self, line: &str) -> Ran {
        run(program()
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .args(line.split_whitespace()))
    }
}

#[test]
fn a_sealed_demo_answers_every_question_as_before() {
    let shelf = Shelf::new();
    let questions = [
        "story run.reel",
        "problems run.reel",
        "problems run.reel -o json",
        "events run.reel -A -o wide",
        "get run.reel pods -A --at start -o yaml",
        "get run.reel clusteroperators --at 50%",
        "history run.reel co/image-registry -o json",
        "grep run.reel Degraded",
        "test run.reel -o json",
        "export run.reel -o jsonl",
    ];
    let before = questions.map(|question| shelf.kubereel(question));
    let digest = |verdict: &str| {
        let mut words = verdict.split_whitespace();
        words
            .find(|word| word.starts_with("sha256:"))
            .map(|word| word.trim_end_matches(',').to_owned())
    };
    let verified = shelf.kubereel("verify run.reel");
    let said = shelf.kubereel("seal run.reel").ok();
    assert!(said.contains("sealed, ") && said.contains(" %)"), "{said}");
    for (question, before) in questions.iter().zip(before) {
        let after = shelf.kubereel(question);
        assert_eq!(after.code, before.code, "{question}");
        assert!(after.out == before.out, "{question}: {}", after.out);
    }
    let again = shelf.kubereel("verify run.reel");
    assert_eq!(again.code, verified.code);
    assert!(digest(&verified.out).is_some());
    assert_eq!(digest(&again.out), digest(&verified.out));
    assert_eq!(digest(&said), digest(&verified.out));
    let info = shelf.kubereel("info run.reel").ok();
    assert_has(&info, "finished · sealed");
    assert_eq!(shelf.names(), ["run.reel"]);
}

#[test]
fn a_sealed_reel_is_found_in_folders_and_compressed_files() {
    let shelf = Shelf::new();
    shelf.kubereel("seal run.reel small.reel").ok();
    assert!(shelf.bytes("run.reel") == fs::read(DEMO).expect("the demo"));
    let whole = kubereel!("story {DEMO}").ok();
    fs::create_dir(shelf.path("job")).expect("a folder");
    let zipped = Command::new("gzip").arg(shelf.path("small.reel")).status();
    assert!(zipped.expect("gzip runs").success());
    fs::rename(shelf.path("small.reel.gz"), shelf.path("job/run")).expect("renamed");
    assert_eq!(shelf.kubereel("story job").ok(), whole);
    assert_eq!(shelf.kubereel("story job/run").ok(), whole);
    // What lies inside cannot be replaced, and can be written.
    let _refused = shelf
        .kubereel("seal job/run")
        .code(2)
        .says("kubereel seal job/run NEW.reel");
    shelf.kubereel("seal job/run new.reel").ok();
    assert_eq!(shelf.kubereel("story new.reel").ok(), whole);
    // A folder is replaced where its reel lies in it as it is.
    fs::write(shelf.path("job/run"), shelf.bytes("run.reel")).expect("written");
    let out = shelf.kubereel("seal job -o json").ok();
    let sealed: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(sealed["file"], "job/run");
    assert_eq!(sealed["bytes_before"], shelf.bytes("run.reel").len());
    assert_eq!(sealed["bytes_after"], shelf.bytes("job/run").len());
    assert_eq!(sealed["already_sealed"], false);
}

#[test]
fn a_sealed_reel_stays_and_takes_no_imports() {
    let shelf = Shelf::new();
    shelf.kubereel("seal run.reel").ok();
    let sealed = shelf.bytes("run.reel");
    let said = shelf.kubereel("seal run.reel").ok();
    assert_has(&said, "already sealed");
    let out = shelf.kubereel("seal run.reel -o json").ok();
    let json: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(json["already_sealed"], true);
    assert_eq!(json["bytes_before"], json["bytes_after"]);
    let line = r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","resourceVersion":"7"}},"ts":"2026-11-24T00:00:00Z"}"#;
    fs::write(shelf.path("more.jsonl"), line).expect("written");
    let _said = shelf
        .kubereel("import more.jsonl -o run.reel --append")
        .code(3)
        .says("the reel is sealed")
        .says("kubereel recover run.reel NEW.reel");
    assert!(shelf.bytes("run.reel") == sealed, "the file changed");
    assert_eq!(shelf.names(), ["more.jsonl", "run.reel"]);
    shelf.kubereel("recover run.reel new.reel").ok();
    let taken = shelf.kubereel("import more.jsonl -o new.reel --append");
    assert!(!taken.err.contains("sealed"), "{taken:?}");
}

#[test]
fn what_cannot_be_sealed_stays_as_it_is() {
    let shelf = Shelf::new();
    // As this version of the format writes it.
    shelf.kubereel("recover run.reel whole.reel").ok();
    let mut bytes = shelf.bytes("whole.reel");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40_000].fill(0);
    fs::write(shelf.path("broken.reel"), &bytes).expect("written");
    let _refused = shelf
        .kubereel("seal broken.reel")
        .code(3)
        .says("the reel is damaged: ")
        .says("kubereel recover broken.reel NEW.reel");
    assert!(shelf.bytes("broken.reel") == bytes, "the file changed");
    let _refused = shelf
        .kubereel("seal run.reel broken.reel")
        .code(2)
        .says("the file exists");
    fs::write(shelf.path("text"), "nothing of a reel").expect("written");
    let _refused = shelf.kubereel("seal text").code(3).says("not a reel");
    // One that is being recorded.
    let path = shelf.path("growing.reel");
    let mut appender = Appender::create(&path).expect("a reel");
    let stamp = Stamp::from_micros(1, 1);
    appender
        .append_note(
            stamp,
            Note::Mark {
                text: "x".to_owned(),
            },
        )
        .expect("appended");
    appender.commit().expect("committed");
    let _refused = shelf
        .kubereel("seal growing.reel")
        .code(3)
        .says("until its recorder has ended");
    drop(appender);
    shelf.kubereel("seal growing.reel").ok();
    let info = shelf.kubereel("info growing.reel").ok();
    assert_has(&info, "not finished");
    let expected = [
        "broken.reel",
        "growing.reel",
        "run.reel",
        "text",
        "whole.reel",
    ];
    assert_eq!(shelf.names(), expected);
}

#[test]
fn the_smallest_form_of_a_sealed_reel_is_a_new_file() {
    let shelf = Shelf::new();
    shelf.kubereel("seal run.reel").ok();
    let again = shelf.kubereel("seal --smallest run.reel").code(0);
    again.says(
        "hint: to make it smaller, write a new file: kubereel seal --smallest run.reel NEW.reel",
    );
    shelf.kubereel("seal --smallest run.reel new.reel").ok();
}

/// On a file system without room the same happens, by an error of the write alone.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_an_error_that_leaves_nothing() {
    let shelf = Shelf::new();
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"u"}}"#;
    fs::write(shelf.path("node.json"), node).expect("written");
    let before = shelf.names();
    for line in [
        "seal run.reel",
        "recover run.reel new.reel",
        "export run.reel all.jsonl",
        "import node.json --at 2026-11-22T23:21:11Z -o new.reel",
    ] {
        let mut limited = Command::new("sh");
        limited.current_dir(shelf.folder.path());
        let script = format!("ulimit -f 100; exec \"$0\" {line}");
        limited.args(["-c", &script, env!("CARGO_BIN_EXE_kubereel")]);
        let ran = run(&mut limited).code(5);
        // On a busy machine a line of progress is before it.
        let is_error = ran.err.lines().any(|line| line.starts_with("error: "));
        assert!(is_error, "{line}: {ran:?}");
        assert_eq!(shelf.names(), before, "{line}");
    }
}
