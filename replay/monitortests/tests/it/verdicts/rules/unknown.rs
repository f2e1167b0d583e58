//! What cannot be known is neither passed nor failed.

use super::{HEAD, IT, check, over_objects};
use crate::verdicts::judged::judged_by;
use crate::verdicts::reel::Reel;
use serde_json::{Value, json};

fn map(data: &Value) -> Value {
    json!({"kind": "ConfigMap", "metadata": {"namespace": "shop", "name": "cm"}, "data": data})
}

fn reel(data: &Value) -> Reel {
    Reel::new().at("10:01:00").put(map(data)).until("11:00:00")
}

#[test]
fn an_absent_field_is_no_pass() {
    let rule = check("never: object.data.phase == 'bad'");
    let verdicts = judged_by(reel(&json!({"a": "1"})), &rule);
    verdicts.is(IT, "unknown");
    let dark = verdicts.dark(IT);
    assert!(
        dark.contains(
            "the field `phase` is absent in configmaps shop/cm at 2026-11-21T10:01:00.000Z"
        ),
        "{dark}"
    );
    let said = check("never: object.data.?phase.orValue('') == 'bad'");
    judged_by(reel(&json!({"a": "1"})), &said).passes(IT);
    let has = check("never: has(object.status.phase) && object.status.phase == 'bad'");
    judged_by(reel(&json!({"a": "1"})), &has).passes(IT);
}

#[test]
fn an_absent_field_does_not_hide_what_is_found() {
    let rule = check("never: object.data.a == '1' || object.data.phase == 'bad'");
    judged_by(reel(&json!({"a": "1"})), &rule).is(IT, "fail");
}

#[test]
fn an_absent_field_of_where_is_no_pass() {
    let rule = over_objects(
        "    where: object.data.typo == '1'
  expect:
  - never: 'true'
    message: m
",
    );
    judged_by(reel(&json!({"a": "1"})), &rule).is(IT, "unknown");
}

#[test]
fn a_wrong_type_is_an_error_that_names_object_and_moment() {
    let wrong = [
        (
            "never: object.data.n.contains('x')",
            "`contains` does not accept number",
        ),
        (
            "never: object.data.n == 'x'",
            "cannot compare number with string",
        ),
        (
            "never: object.data.n.x == 'x'",
            "cannot read field `x` of number",
        ),
        ("never: object.data.n", "expected bool, found number"),
        (
            "never: object.data.n + 'x' == 'x'",
            "no arithmetic between number and string",
        ),
        ("never: object.data.n / 0 == 1", "division by zero"),
        (
            "never: int(object.data.s) == 1",
            "`x y` is not a number in range",
        ),
        (
            "never: timestamp(object.data.s) > at",
            "`x y` is not an RFC 3339 time",
        ),
        (
            "never: object.data.n.all(x, true)",
            "expected list, found number",
        ),
        (
            "highest: {of: object.data.s, above: 1}",
            "`highest` expects a number, found string",
        ),
    ];
    for (lines, what) in wrong {
        let verdicts = judged_by(reel(&json!({"n": 3, "s": "x y"})), &check(lines));
        verdicts.is(IT, "error");
        let why = verdicts.why();
        assert!(
            why.contains("configmaps shop/cm at 2026-11-21T10:01:00.000Z: "),
            "{why}"
        );
        assert!(why.contains(what), "{lines}: {why}");
    }
}

#[test]
fn an_evaluation_that_takes_too_long_is_an_error() {
    let many: Vec<u32> = (0..1000).collect();
    let lines = "never: object.data.l.exists(x, object.data.l.exists(y, x + y < 0))";
    let verdicts = judged_by(reel(&json!({ "l": many })), &check(lines));
    verdicts.is(IT, "error");
    assert!(
        verdicts.why().contains("takes more than 200000 steps"),
        "{}",
        verdicts.why()
    );
}

#[test]
fn what_was_not_recorded_is_skipped() {
    let rule = check("never: 'true'");
    let verdicts = judged_by(reel(&json!({})).without("ConfigMap"), &rule);
    verdicts.is(IT, "skipped");
    assert!(verdicts.why().contains("configmaps"), "{}", verdicts.why());
}

#[test]
fn a_gap_leaves_open_what_it_may_hide() {
    let rule = check("never: object.data.a == '1'\nforAtLeast: 10m");
    let at = |reel: Reel, at: &str, a: &str| reel.at(at).put(map(&json!({ "a": a })));
    // Nothing wrong is seen, but the gap may have hidden an object.
    let quiet = at(Reel::new(), "10:01:00", "0").until("11:00:00");
    let torn = quiet.gap("ConfigMap", "10:10:00", "10:20:00");
    judged_by(torn, &rule).is(IT, "unknown");
    // It is unchanged after the gap, and so it was in it.
    let bad = at(Reel::new(), "10:05:00", "1").until("10:30:00");
    let torn = bad.gap("ConfigMap", "10:10:00", "10:20:00");
    judged_by(torn, &rule).fails(IT, "10:05:00", "found");
    // What is found outside of the gap stays found.
    let before = at(at(Reel::new(), "10:01:00", "1"), "10:12:00", "0").until("11:00:00");
    let torn = before.gap("ConfigMap", "10:20:00", "10:30:00");
    judged_by(torn, &rule).fails(IT, "10:01:00", "found");
}

#[test]
fn what_was_received_late_leaves_open_how_long_it_lasted() {
    let put = |reel: Reel, at: &str, a: &str| reel.at(at).put(map(&json!({ "a": a })));
    // It is bad from some time in the pause on, and for 9 minutes after it.
    let begun_late = {
        let reel = put(Reel::new(), "10:01:00", "0").pause("10:05:00", "10:10:00");
        put(put(reel, "10:10:01", "1"), "10:19:01", "0").until("11:00:00")
    };
    // It is bad for 9 minutes before the pause, and for some time in it.
    let ended_late = {
        let reel = put(Reel::new(), "10:01:00", "1").pause("10:10:00", "10:15:00");
        put(reel, "10:15:01", "0").until("11:00:00")
    };
    let gone_late = {
        let reel = put(Reel::new(), "10:01:00", "1").pause("10:10:00", "10:15:00");
        let reel = reel.at("10:15:01").gone("ConfigMap", "shop/cm");
        reel.until("11:00:00")
    };
    let lasting = |span: &str| check(&format!("never: object.data.a == '1'\nforAtLeast: {span}"));
    for (story, from) in [
        (begun_late.clone(), "10:10:01"),
        (ended_late, "10:01:00"),
        (gone_late, "10:01:00"),
    ] {
        judged_by(story.clone(), &lasting("9m")).fails(IT, from, "found");
        let verdicts = judged_by(story.clone(), &lasting("9m30s"));
        verdicts.is(IT, "unknown");
        let dark = verdicts.dark(IT);
        assert!(dark.contains("was received late"), "{dark}");
        judged_by(story.clone(), &lasting("15m")).passes(IT);
        // What depends on no time is certain.
        let never = check("never: object.data.a == '1'");
        judged_by(story.clone(), &never).fails(IT, from, "found");
        judged_by(story, &check("never: object.data.a == '2'")).passes(IT);
    }
    let within = |span: &str| {
        let rule = format!("eventually: object.data.a == '1'\nwithin: {span}");
        judged_by(begun_late.clone(), &check(&rule))
    };
    within("3m").fails(IT, "10:01:00", "found");
    within("6m").is(IT, "unknown");
    within("10m").passes(IT);
}

#[test]
fn a_time_limit_that_was_over_before_the_object_was_observed_is_no_pass() {
    let since = "timestamp(object.metadata.creationTimestamp)";
    let rule = |since: &str| {
        check(&format!(
            "eventually: object.data.a == '1'\nwithin: 60s\nsince: {since}"
        ))
    };
    let old = || {
        let mut object = map(&json!({"a": "0"}));
        let created = json!("2026-11-21T09:50:00Z");
        if let Some(metadata) = object.get_mut("metadata") {
            metadata["creationTimestamp"] = created;
        }
        Reel::new().put(object).until("11:00:00")
    };
    let verdicts = judged_by(old(), &rule(since));
    verdicts.is(IT, "unknown");
    let dark = verdicts.dark(IT);
    let why = "configmaps shop/cm at 2026-11-21T10:00:00.000Z was observed for the first time, after the time limit";
    assert!(dark.contains(why), "{dark}");
    // Within a limit that is over later it may have come true before.
    let long = rule(since).replace("within: 60s", "within: 30m");
    let verdicts = judged_by(old(), &long);
    verdicts.is(IT, "unknown");
    let dark = verdicts.dark(IT);
    let why = "was observed for the first time, within the time limit";
    assert!(dark.contains(why), "{dark}");
    let came = old().at("10:05:00").put(map(&json!({"a": "1"})));
    judged_by(came.until("11:00:00"), &long).passes(IT);
    // The run began with the first list, and the object of another one with its creation.
    let started = rule("started").replace("within: 60s", "within: 30m");
    judged_by(old(), &started).fails(IT, "10:00:00", "found in cm");
    let created = reel(&json!({"a": "0"}));
    judged_by(created, &long).fails(IT, "10:01:00", "found in cm");
    // It was created after the limit.
    let never = rule("timestamp('2026-11-21T09:40:00Z')");
    judged_by(old(), &never).fails(IT, "09:40:00", "found in cm");
    // From when on it has time is unknown.
    let absent = rule("timestamp(object.data.since)");
    let verdicts = judged_by(reel(&json!({"a": "1"})), &absent);
    verdicts.is(IT, "unknown");
    assert!(
        verdicts.dark(IT).contains("`since`"),
        "{}",
        verdicts.dark(IT)
    );
}

#[test]
fn a_lost_end_is_neither_passed_nor_failed() {
    let at = |reel: Reel, at: &str, a: &str| reel.at(at).put(map(&json!({ "a": a })));
    // What the recording has after its last record is a moment.
    let torn = || {
        at(Reel::new(), "10:01:00", "1")
            .until("10:30:00")
            .torn("ConfigMap")
    };
    for rule in [
        "atEnd: object.data.a == '0'",
        "eventually: object.data.a == '0'",
    ] {
        judged_by(torn(), &check(rule)).is(IT, "unknown");
    }
    let found = judged_by(torn(), &check("never: object.data.a == '1'"));
    found.fails(IT, "10:01:00", "found");
    assert_eq!(found.ends_not_observed(IT), [true]);
    let whole = at(Reel::new(), "10:01:00", "1").until("10:30:00");
    let found = judged_by(whole, &check("never: object.data.a == '1'"));
    assert_eq!(found.ends_not_observed(IT), [false]);
    // The end that a later version shows is an end.
    let ended = at(at(Reel::new(), "10:01:00", "1"), "10:30:00", "0");
    let ended = ended.until("10:30:00").torn("ConfigMap");
    let found = judged_by(ended, &check("never: object.data.a == '1'"));
    assert_eq!(found.ends_not_observed(IT), [false]);
}

#[test]
fn a_fact_that_nothing_told_skips() {
    let rule = check("never: 'true'").replace(
        "  objects:",
        "  when:\n  - cel: facts.topology == 'External'\n    otherwise: it is not external\n  objects:",
    );
    let unknown = judged_by(reel(&json!({})), &rule);
    unknown.is(IT, "skipped");
    assert!(unknown.why().contains("`topology`"), "{}", unknown.why());
    let known = Reel::new().infrastructure("HighlyAvailable", "AWS");
    let known = known.at("10:01:00").put(map(&json!({}))).until("11:00:00");
    let known = judged_by(known, &rule);
    known.is(IT, "skipped");
    assert_eq!(known.why(), "it is not external");
}

#[test]
fn an_unknown_phase_of_the_cluster_is_neither_passed_nor_failed() {
    let during =
        |phase: &str, a: &str| check(&format!("never: object.data.a == '{a}'\nduring: [{phase}]"));
    let story = |reel: Reel| {
        let reel = reel.at("10:01:00").put(map(&json!({"a": "1"})));
        reel.until("11:00:00")
    };
    let unknown = || story(Reel::cluster().without("ClusterVersion"));
    for phase in ["stable", "upgrade", "upgrade, stable", "install"] {
        let verdicts = judged_by(unknown(), &during(phase, "1"));
        verdicts.is(IT, "unknown");
        let dark = verdicts.dark(IT);
        let why = "the phase of the cluster is unknown (clusterversions.config.openshift.io was not recorded";
        assert!(dark.contains(why), "{phase}: {dark}");
        assert!(dark.contains("found in cm"), "{phase}: {dark}");
        // In no phase was anything wrong.
        judged_by(unknown(), &during(phase, "2")).passes(IT);
    }
    judged_by(unknown(), &check("never: object.data.a == '1'")).is(IT, "fail");
    // Without a ClusterVersion there is neither an installation nor an upgrade.
    for reel in [Reel::cluster, Reel::new] {
        judged_by(story(reel()), &during("stable", "1")).fails(IT, "10:01:00", "found");
        judged_by(story(reel()), &during("upgrade", "1")).passes(IT);
    }
}

#[test]
fn intervals_of_an_unknown_phase_are_neither_passed_nor_failed() {
    let rule = |head: &str, operator: &str, tail: &str| {
        format!(
            "{HEAD}  intervals:\n    sources: [OperatorState]\n{head}  expect:\n  - {operator}: interval.annotations.condition == 'Degraded'\n{tail}    message: found\n"
        )
    };
    let (of_choice, of_check) = ("    during: [stable]\n", "    during: [stable]\n");
    let story = |reel: Reel| {
        let reel = reel.at("10:05:00");
        let reel = reel.operator("etcd", &[("Degraded", "True", "Bad")]);
        reel.until("11:00:00")
    };
    for (head, tail) in [(of_choice, ""), ("", of_check)] {
        let never = rule(head, "never", tail);
        judged_by(story(Reel::cluster()), &never).fails(IT, "10:05:00", "found");
        let eventually = rule(head, "eventually", tail);
        judged_by(story(Reel::cluster()), &eventually).passes(IT);
        for rule in [never, eventually] {
            let unknown = story(Reel::cluster().without("ClusterVersion"));
            judged_by(unknown, &rule).is(IT, "unknown");
        }
    }
}
