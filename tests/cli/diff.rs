//! Tests of `kubereel diff`: the differences between two moments, and the output when one of them
//! is not known.

use super::run::{DEMO, Spell, assert_has, demo_spell, kubereel, pods_with_gap};
use serde_json::{Value, json};

#[test]
fn created_deleted_and_changed_objects_are_told_apart() {
    let reel = pods_with_gap();
    let diff = |from: &str, to: &str| kubereel!("diff {reel} pods --from {from} --to {to}").code(0);
    let ran = diff("14:00:01", "14:00:05");
    let expected = "\
~ pods/a -n default  1 version, the last at 14:00:05.000Z
    metadata.labels.app  x → y
+ pods/b -n web  created, first seen at 14:00:03.000Z
";
    assert_eq!(ran.out, expected);
    let expected = "\
from 14:00:01.000Z (+1s, rv 9) · complete
to   14:00:05.000Z (+5s, rv 14) · complete
2 objects differ
";
    assert_eq!(ran.err, expected);
    let expected = "- pods/b -n web  deleted, last seen at 14:00:07.000Z\n";
    assert_eq!(diff("14:00:05", "14:00:07").out, expected);
    diff("14:00:05", "14:00:06").says("nothing differs");
}

#[test]
fn from_the_start_is_from_the_first_state_of_each_resource() {
    // The first record comes before the first lists.
    let ran = kubereel!("diff {DEMO} nodes --from start --to end").code(0);
    ran.prints("+ nodes/master-1");
    let ran = kubereel!("diff {DEMO} --from start").code(0);
    assert!(!ran.err.contains("not known"), "{ran:#?}");
    assert!(
        ran.out
            .contains("+ clusteroperators.config.openshift.io/etcd")
    );
    for (flag, other, near) in [("--from", "--to", "start"), ("--to", "--from", "end")] {
        kubereel!("diff {DEMO} {flag} 2020-01-01T00:00:00Z {other} end")
            .code(2)
            .says(&format!(
                "error: {flag}: 2020-01-01T00:00:00.000Z is outside of the recording, 2026-11-22T23:21:11"
            ))
            .says(&format!("hint: {flag} {near}\n"));
        kubereel!("diff {DEMO} {flag} mark:nothing {other} end")
            .code(2)
            .says(&format!("error: {flag}: no mark"));
    }
}

#[test]
fn the_question_narrows() {
    let reel = pods_with_gap();
    let diff = |more: &str| kubereel!("diff {reel} --from 14:00:01 --to 14:00:05 {more}").ok();
    let heads = |out: String| -> Vec<String> {
        let heads = out.lines().filter(|line| !line.starts_with(' '));
        heads
            .map(|line| line.split("  ").next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(heads(diff("pods/a")), ["~ pods/a -n default"]);
    assert_eq!(heads(diff("pods -n web")), ["+ pods/b -n web"]);
    assert_eq!(heads(diff("pods -A")).len(), 2);
    assert_eq!(heads(diff("pods -l app=x")), ["~ pods/a -n default"]);
    assert!(diff("pods --field .spec.replicas").is_empty());
    let out = diff("pods --field .metadata.labels.app");
    assert_has(&out, "    metadata.labels.app  + y");
}

#[test]
fn differences_can_decide_the_exit_code() {
    let reel = pods_with_gap();
    let code = |from: &str, to: &str, more: &str| {
        kubereel!("diff {reel} pods --from {from} --to {to} {more}").code
    };
    assert_eq!(code("14:00:01", "14:00:05", ""), Some(0));
    assert_eq!(code("14:00:01", "14:00:05", "--exit-code"), Some(1));
    assert_eq!(code("14:00:05", "14:00:06", "--exit-code"), Some(0));
    // What is not known is neither yes nor no.
    assert_eq!(code("14:00:05", "14:00:09", "--exit-code"), Some(4));
    assert_eq!(code("14:00:00", "14:00:05", ""), Some(4));
    assert_eq!(code("start", "14:00:05", "--exit-code"), Some(1));
}

#[test]
fn moments_that_are_not_known_are_named() {
    let reel = pods_with_gap();
    kubereel!("diff {reel} pods --from 14:00:05 --to 14:00:09")
        .code(4)
        .says("to   14:00:09.000Z (+9s, rv 16) · inside a gap 14:00:07.000Z–14:00:12.000Z");
    kubereel!("diff {reel} pods --from 14:00:00")
        .code(4)
        .says("error: pods are not known at 14:00:00.000Z yet");
    kubereel!("diff {reel} --from 14:00:00")
        .code(4)
        .says("error: no resource is known at both moments")
        .says("14:00:01.000Z");
    // Deployments were never listed.
    kubereel!("diff {reel} --from 14:00:02 --to 14:00:05")
        .code(4)
        .says("not known at both moments: deployments.apps")
        .says("2 objects differ as far as both states are known");
}

#[test]
fn what_names_nothing_is_explained() {
    let reel = pods_with_gap();
    let diff = |more: &str| kubereel!("diff {reel} --from 14:00:01 --to 14:00:02 {more}");
    diff("pods/b")
        .code(1)
        .says("pods/b not found at either moment")
        .says(r#""b" existed from 14:00:03.000Z to 14:00:07.000Z"#);
    diff("pds").code(2).says("did you mean pods?");
    diff("pods --field a..b")
        .code(2)
        .says("a member has no name");
    kubereel!("diff {reel}").code(2).says("--from");
    kubereel!("diff {DEMO} co/etcdd --from +39s")
        .code(1)
        .says("did you mean etcd?");
}

#[test]
fn json_has_stable_names() {
    let field = ".status.conditions[Degraded].status";
    let Spell { before, at, rv, .. } = demo_spell();
    let told: Value = serde_json::from_str(
        &kubereel!("diff {DEMO} co --from {before} --to {at} --field {field} -o json").ok(),
    )
    .expect("JSON");
    let expected = "clusteroperators.config.openshift.io";
    assert_eq!(told["from"][0]["resource"], expected);
    assert_eq!(told["from"][0]["at"], before.replace('Z', ".000Z"));
    assert_eq!(told["to"][0]["trust"], "complete");
    assert_eq!(told["unknown"], json!([]));
    let differences = told["differences"].as_array().expect("differences");
    assert_eq!(differences.len(), 1);
    let one = &differences[0];
    assert_eq!(one["name"], "image-registry");
    assert_eq!(one["namespace"], "");
    assert_eq!(one["change"], "changed");
    assert_eq!(one["new"]["rv"], rv);
    assert!(one["old"]["at"].as_str().expect("a time") < before.as_str());
    assert_eq!(
        one["changes"],
        json!([{
            "path": "status.conditions[Degraded].status",
            "change": "changed", "old": "False", "new": "True",
        }])
    );
    let all = ["diff", DEMO, "--from", "+36s", "--to", "+38s", "-o", "json"];
    let told: Value = serde_json::from_str(&kubereel(&all).ok()).expect("JSON");
    assert!(told["differences"].as_array().expect("a list").len() > 20);
}
