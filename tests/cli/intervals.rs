//! `kubereel intervals`, as a user runs it: on the demo, on files of intervals, on what is neither.

use super::run::{A, DEMO, Reel, assert_has};
use crate::script::{Script, pod};
use serde_json::Value;
use tempfile::TempDir;

fn lines(args: &str) -> Vec<Value> {
    let ran = kubereel!("intervals {args} -o json");
    // The demo has a gap on purpose.
    let out = ran.out;
    out.lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect()
}

fn of_source<'a>(all: &'a [Value], source: &str) -> Vec<&'a Value> {
    let of = |one: &&Value| one["source"] == source;
    all.iter().filter(of).collect()
}

#[test]
fn intervals_of_the_demo_are_told_and_narrowed() {
    let all = lines(DEMO);
    assert!(all.len() > 500, "{}", all.len());
    for source in ["OperatorState", "NodeState", "PodState", "KubeEvent"] {
        let of = of_source(&all, source);
        assert!(!of.is_empty(), "{source}");
        let narrowed = lines(&format!("{DEMO} --source {source}"));
        assert_eq!(narrowed.len(), of.len(), "{source}");
    }
    let unknown = kubereel!("intervals {DEMO} --source OperatorStat");
    assert_eq!(unknown.code, Some(2));
    unknown.says("did you mean OperatorState?");
    let lasting = lines(&format!("{DEMO} --lasting=10s"));
    assert!(!lasting.is_empty() && lasting.len() < all.len());
    let secs = |one: &Value| one["lasts_secs"].as_f64().expect("a number");
    assert!(lasting.iter().all(|one| secs(one) >= 10.0));
    let node = lines(&format!(
        "{DEMO} --locator node=^master-1$ --source NodeState"
    ));
    assert!(!node.is_empty());
    assert!(
        node.iter()
            .all(|one| one["locator"]["keys"]["node"] == "master-1")
    );
    // A moment that is printed is one that can be asked for.
    let from = node[0]["from"].as_str().expect("a time");
    let at = lines(&format!(
        "{DEMO} --source NodeState --from {from} --to {from}"
    ));
    assert!(at.contains(&node[0]));
}

#[test]
fn the_same_reel_gives_the_same_bytes() {
    let once = kubereel!("intervals {DEMO} -o upstream");
    let again = kubereel!("intervals {DEMO} -o upstream");
    assert!(once.out == again.out, "two runs differ");
}

#[test]
fn what_upstream_would_have_made_is_exported_and_read_back() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("artifacts/junit");
    let path = path.to_str().expect("UTF-8");
    let ran = kubereel!("intervals {DEMO} --export {path}");
    let files: Vec<&str> = ran.out.lines().collect();
    assert_eq!(files.len(), 5, "{ran:#?}");
    assert!(files[0].contains("/e2e-events_20"), "{}", files[0]);
    for word in ["spyglass", "everything", "operators", "kube-control-plane"] {
        let is_it = |file: &&str| file.contains(&format!("/e2e-timelines_{word}_20"));
        assert!(files.iter().any(is_it), "{word}");
    }
    let made = lines(&format!("{DEMO} --mode upstream"));
    let read = lines(files[0]);
    assert_eq!(made.len(), read.len());
    let text = |one: &Value| one["locator"]["text"].to_string() + &one["message"].to_string();
    let texts = |all: &[Value]| {
        let mut texts: Vec<String> = all.iter().map(text).collect();
        texts.sort();
        texts
    };
    assert_eq!(texts(&made), texts(&read));
    kubereel!("intervals {DEMO} --export {path}")
        .code(2)
        .says("--force");
    let again = kubereel!("intervals {DEMO} --export {path} --force");
    assert_eq!(again.out.lines().count(), 5);
}

#[test]
fn old_files_are_read_and_bad_ones_are_named() {
    let folder = TempDir::new().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let old = write(
        "e2e-events.json",
        r#"{"items":[{"level":"Error","locator":"ns/web pod/a-0","message":"reason/Failed it did",
            "from":"2021-03-29T19:30:26Z","to":"2021-03-29T19:31:47Z"}]}"#,
    );
    let out = kubereel!("intervals {old}").ok();
    assert_has(&out, "namespace/web pod/a-0");
    assert_has(&out, "1m 21s");
    assert_has(&out, "19:30:26.000Z");
    assert_eq!(
        kubereel!("intervals {old} --to 19:30").ok().lines().count(),
        1
    );
    kubereel!("intervals {old} --from rv:7")
        .code(2)
        .says("only a reel");
    let bad = write("bad.json", r#"{"items":[{"level":"Fatal"}]}"#);
    kubereel!("intervals {bad}")
        .code(3)
        .says("item 0")
        .says("\"Fatal\"");
    let other = write("other.json", r#"{"kind":"PodList"}"#);
    kubereel!("intervals {other}")
        .code(3)
        .says("no \"items\"")
        .says("kubereel import");
    kubereel!("intervals {DEMO} --locator pod=(").code(2);
    kubereel!("intervals {DEMO} --locator pod")
        .code(2)
        .says("KEY=PATTERN");
    kubereel!("intervals {DEMO} --locator Pod=web")
        .code(0)
        .says("no locator has the key \"Pod\"")
        .says("namespace, ");
    kubereel!("intervals {DEMO} --lasting=soon")
        .code(2)
        .says("30s");
    kubereel!("intervals {DEMO} --from end --to start")
        .code(2)
        .says(" is before --from ");
}

#[test]
fn a_time_span_outside_of_the_recording_is_not_complete() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("pods", "Pod", &["po"]);
        script.initial(stream, A, 9, &pod(A, 9, "x"));
        script.synced(stream, 10);
        script.wait(5000);
        script.bookmark(stream, 11);
        script.finish();
    });
    kubereel!("intervals {reel}").code(0).says("complete");
    for (from, to) in [
        ("2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"),
        ("start", "+2h"),
    ] {
        kubereel!("intervals {reel} --from {from} --to {to}")
            .code(4)
            .says("not observed outside of the recording, 14:00:00.000Z to 14:00:05.000Z");
    }
}
