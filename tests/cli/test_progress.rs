//! `kubereel test --progress json`: how far it is, for a program that started it.

use super::run::{DEMO, assert_has, kubereel, program};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

const ARGS: [&str; 6] = ["test", DEMO, "-o", "json", "--progress", "json"];

#[test]
fn every_line_says_how_far_it_is() {
    let ran = kubereel(&ARGS).code(1);
    let mut last = 0;
    let mut count = 0;
    for line in ran.err.lines() {
        let told: serde_json::Value = serde_json::from_str(line).expect(line);
        let (done, total) = (told["done"].as_u64(), told["total"].as_u64());
        let (done, total) = (done.expect("a number"), total.expect("a number"));
        assert!(last <= done && done <= total, "{line} after {last}");
        last = done;
        count += 1;
    }
    assert!(count > 0, "{}", ran.err);
    let report: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert!(report["runs"][0]["counts"]["fail"].as_u64() > Some(0));
}

#[test]
fn a_run_that_nobody_hears_ends() {
    let mut child = program()
        .args(ARGS)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut told = BufReader::new(child.stderr.take().expect("piped"));
    told.read_line(&mut line).expect("it tells");
    assert_has(&line, "\"done\"");
    drop(told);
    let mut out = String::new();
    let mut stdout = child.stdout.take().expect("piped");
    stdout.read_to_string(&mut out).expect("it ends");
    let report: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let error = report["runs"][0]["error"].as_str().unwrap_or_default();
    assert!(error.contains("stderr was closed"), "{out}");
    assert_eq!(report["runs"][0].get("counts"), None, "{out}");
    assert_eq!(child.wait().expect("ours").code(), Some(5));
}
