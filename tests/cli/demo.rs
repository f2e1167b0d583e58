//! `kubereel demo`: it shows what the data holds, by the same code as the commands.

use super::run::{DEMO, Reel, assert_has, kubereel, operator};
use crate::script::Script;
use kubereel_format::EndCause;

/// A recording in which one operator is degraded for a time, another for a shorter one.
fn degraded(name: &str, millis: i64) -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched(
            "clusteroperators.config.openshift.io",
            "ClusterOperator",
            &["co"],
        );
        operator(&mut script, stream, name, 5, "False");
        operator(&mut script, stream, "other", 6, "True");
        script.synced(stream, 10);
        script.wait(10_000);
        operator(&mut script, stream, "other", 11, "False");
        script.wait(1000);
        operator(&mut script, stream, name, 12, "True");
        script.wait(millis);
        operator(&mut script, stream, name, 13, "False");
        script.wait(1000);
        script.finish();
    })
}

#[test]
fn the_walk_follows_the_data() {
    for (name, millis, words) in [
        (
            "etcd",
            38_400,
            "At 14:00:11.000Z the operator etcd became degraded, for 38.4s.",
        ),
        (
            "network",
            2_000,
            "At 14:00:11.000Z the operator network became degraded, for 2.0s.",
        ),
    ] {
        let reel = degraded(name, millis);
        let out = kubereel!("demo {reel}").ok();
        assert!(out.contains(words), "{words:?} not in\n{out}");
    }
}

#[test]
fn every_command_shown_prints_what_the_walk_printed() {
    let reel = degraded("etcd", 2_000);
    let out = kubereel!("demo {reel}").ok();
    let mut shown = 0;
    let mut rest = out.as_str();
    while let Some((_, after)) = rest.split_once("$ kubereel ") {
        let (words, after) = after.split_once('\n').expect("an answer");
        let words: Vec<&str> = words.split_whitespace().collect();
        let answer = kubereel(&words).ok();
        assert!(!answer.is_empty());
        assert!(
            after.starts_with(&answer),
            "{words:?} prints\n{answer}\nnot\n{after}"
        );
        shown += 1;
        rest = after;
    }
    assert_eq!(shown, 5, "{out}");
}

#[test]
fn the_walk_ends_with_three_commands_that_work() {
    let out = kubereel!("demo").ok();
    let next: Vec<&str> = out
        .lines()
        .filter_map(|line| line.strip_prefix("  kubereel "))
        .collect();
    assert_eq!(next.len(), 3, "{out}");
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("demo.reel");
    let saved = saved.to_str().expect("text");
    kubereel!("demo --save {saved}").ok();
    kubereel!("demo --save {saved}")
        .code(2)
        .says("demo.reel: file exists\nhint: choose another file, or overwrite it with --force");
    kubereel!("demo --save {saved} --force").ok();
    for words in next {
        let words = words.replace("demo.reel", saved);
        let words: Vec<&str> = words.split_whitespace().collect();
        assert!(!kubereel(&words).ok().is_empty(), "{words:?}");
    }
}

#[test]
fn a_recording_in_which_nothing_failed_says_so() {
    let reel = super::run::pods_with_gap();
    let out = kubereel!("demo {reel}").ok();
    assert_has(&out, "No operator became degraded");
}

#[test]
fn a_recording_with_an_unknown_part_does_not_claim_that_nothing_failed() {
    let gap = Reel::write(|path| {
        let mut script = Script::begin(path);
        let operators = script.resource(
            "clusteroperators.config.openshift.io",
            "ClusterOperator",
            &["co"],
        );
        let stream = script.connect(operators, None);
        operator(&mut script, stream, "etcd", 5, "False");
        script.synced(stream, 10);
        script.wait(1000);
        let from = script.now();
        script.disconnect(stream, EndCause::Expired);
        script.wait(5000);
        let stream = script.connect(operators, None);
        script.gap(operators, 10, 30, from);
        script.synced(stream, 30);
        script.wait(1000);
        script.finish();
    });
    let out = kubereel!("demo {gap}").code(0).out;
    let words = "No operator became degraded in it, as far as it was observed.";
    assert_has(&out, words);

    let folder = tempfile::tempdir().expect("a folder");
    let cut = folder.path().join("cut.reel");
    let name = cut.to_str().expect("text");
    kubereel!("recover {DEMO} {name}").ok();
    let whole = std::fs::read(&cut).expect("a reel");
    std::fs::write(&cut, &whole[..whole.len() * 3 / 5]).expect("written");
    let out = kubereel!("demo {name}").out;
    let words = "No operator became degraded in the readable part of it.";
    assert_has(&out, words);
}
