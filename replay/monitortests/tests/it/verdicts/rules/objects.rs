//! Operators over objects.

use super::{IT, check, over_objects};
use crate::verdicts::judged::{Verdicts, judged_by};
use crate::verdicts::reel::Reel;
use serde_json::json;

/// Puts a config map whose data say so.
trait Says {
    fn says_at(self, at: &str, data: &[(&str, &str)]) -> Self;
}

impl Says for Reel {
    fn says_at(self, at: &str, data: &[(&str, &str)]) -> Self {
        let data: serde_json::Map<_, _> = data
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let object = json!({
            "kind": "ConfigMap",
            "metadata": {"namespace": "shop", "name": "cm"},
            "data": data,
        });
        self.at(at).put(object)
    }
}

/// A config map whose `a` is set at times.
fn story(steps: &[(&str, &str)]) -> Reel {
    let begun = Reel::new();
    let told = steps
        .iter()
        .fold(begun, |reel, (at, a)| reel.says_at(at, &[("a", a)]));
    told.until("11:00:00")
}

fn tried(steps: &[(&str, &str)], lines: &str) -> Verdicts {
    judged_by(story(steps), &check(lines))
}

#[test]
fn never_finds_each_span() {
    let steps = [
        ("10:01:00", "0"),
        ("10:02:00", "1"),
        ("10:05:00", "0"),
        ("10:50:00", "1"),
    ];
    let found = tried(&steps, "never: object.data.a == '1'");
    found.fails(IT, "10:02:00", "found in cm");
    found.fails(IT, "10:50:00", "found in cm");
    let long = tried(&steps, "never: object.data.a == '1'\nforAtLeast: 5m");
    long.fails(IT, "10:50:00", "found in cm");
    assert_eq!(long.findings(IT), ["10:50:00.000Z -"]);
    tried(&steps, "never: object.data.a == '1'\nforAtLeast: 11m").passes(IT);
    tried(&steps, "never: object.data.a == '2'").passes(IT);
    let expected = ["10:02:00.000Z 10:05:00.000Z", "10:50:00.000Z -"];
    assert_eq!(found.findings(IT), expected);
}

#[test]
fn what_lasts_exactly_as_long_is_found() {
    let steps = [("10:02:00", "1"), ("10:02:40", "0")];
    let at_least = |span: &str| {
        let lines = format!("never: object.data.a == '1'\nforAtLeast: {span}");
        tried(&steps, &lines)
    };
    at_least("40s").fails(IT, "10:02:00", "found");
    at_least("41s").passes(IT);
}

#[test]
fn always_finds_what_is_false() {
    let steps = [("10:01:00", "0"), ("10:02:00", "1"), ("10:05:00", "0")];
    let found = tried(&steps, "always: object.data.a == '0'");
    assert_eq!(found.findings(IT), ["10:02:00.000Z 10:05:00.000Z"]);
}

#[test]
fn at_end_looks_at_the_end_alone() {
    let good = [("10:01:00", "1"), ("10:02:00", "0")];
    tried(&good, "atEnd: object.data.a == '0'").passes(IT);
    let bad = [("10:01:00", "0"), ("10:02:00", "1")];
    let found = tried(&bad, "atEnd: object.data.a == '0'");
    assert_eq!(found.findings(IT), ["10:02:00.000Z -"]);
    let gone = story(&bad).gone("ConfigMap", "shop/cm");
    judged_by(gone, &check("atEnd: object.data.a == '0'")).passes(IT);
}

#[test]
fn eventually_waits_its_time() {
    let steps = [("10:01:00", "0"), ("10:05:00", "1")];
    tried(&steps, "eventually: object.data.a == '1'\nwithin: 4m").passes(IT);
    let late = tried(&steps, "eventually: object.data.a == '1'\nwithin: 3m59s");
    assert_eq!(late.findings(IT), ["10:01:00.000Z 10:05:00.000Z"]);
    let never = tried(&steps, "eventually: object.data.a == '2'");
    assert_eq!(never.findings(IT), ["10:01:00.000Z -"]);
    // The run ends before the time is over.
    tried(&steps, "eventually: object.data.a == '2'\nwithin: 2h").passes(IT);
    let since = "eventually: object.data.a == '1'\nwithin: 5m\nsince: started";
    tried(&steps, since).passes(IT);
    let since = "eventually: object.data.a == '1'\nwithin: 5m\nsince: appeared - duration('2m')";
    tried(&steps, since).fails(IT, "09:59:00", "found");
    // What is in time by its own begin may be late by that of the run.
    let since = "eventually: object.data.a == '1'\nwithin: 4m30s\nsince: started";
    let late = tried(&steps, since);
    assert_eq!(late.findings(IT), ["10:00:00.000Z 10:05:00.000Z"]);
    late.fails(IT, "10:00:00", "found in cm");
    // It is created when the time is over.
    let too_late = tried(&[("10:06:00", "1")], since);
    too_late.fails(IT, "10:00:00", "found in cm");
    // It goes before the time is over.
    let gone = Reel::new()
        .says_at("10:01:00", &[("a", "0")])
        .at("10:02:00")
        .gone("ConfigMap", "shop/cm")
        .until("11:00:00");
    judged_by(
        gone.clone(),
        &check("eventually: object.data.a == '1'\nwithin: 5m"),
    )
    .passes(IT);
    let found = judged_by(gone, &check("eventually: object.data.a == '1'"));
    assert_eq!(found.findings(IT), ["10:01:00.000Z 10:02:00.000Z"]);
}

#[test]
fn leads_to_wants_the_second_after_the_first() {
    let lines = "leadsTo:\n  from: object.data.a == '1'\n  to: object.data.a == '2'\n  within: 3m";
    let steps = [("10:01:00", "0"), ("10:02:00", "1"), ("10:05:00", "2")];
    tried(&steps, lines).passes(IT);
    let steps = [("10:01:00", "0"), ("10:02:00", "1"), ("10:05:01", "2")];
    let found = tried(&steps, lines);
    assert_eq!(found.findings(IT), ["10:02:00.000Z 10:05:01.000Z"]);
    let steps = [
        ("10:01:00", "0"),
        ("10:02:00", "1"),
        ("10:59:00", "0"),
        ("10:59:30", "1"),
    ];
    assert_eq!(tried(&steps, lines).findings(IT), ["10:02:00.000Z -"]);
}

#[test]
fn until_holds_up_to_the_other() {
    let lines = "until:\n  hold: object.data.a == '0'\n  until: object.data.a == '2'";
    let steps = [("10:01:00", "0"), ("10:05:00", "2"), ("10:06:00", "1")];
    tried(&steps, lines).passes(IT);
    let steps = [("10:01:00", "0"), ("10:03:00", "1"), ("10:05:00", "2")];
    let found = tried(&steps, lines);
    assert_eq!(found.findings(IT), ["10:03:00.000Z 10:05:00.000Z"]);
}

#[test]
fn stays_holds_after_the_other() {
    let lines = |span: &str| {
        format!("stays:\n  after: object.data.a == '1'\n  hold: object.data.a != '2'{span}")
    };
    let steps = [("10:01:00", "2"), ("10:02:00", "1"), ("10:05:00", "2")];
    let found = tried(&steps, &lines(""));
    assert_eq!(found.findings(IT), ["10:05:00.000Z -"]);
    tried(&steps, &lines("\n  for: 3m")).fails(IT, "10:05:00", "found");
    tried(&steps, &lines("\n  for: 2m59s")).passes(IT);
}

#[test]
fn at_most_counts_within_a_window() {
    let steps = [
        ("10:01:00", "1"),
        ("10:02:00", "0"),
        ("10:03:00", "1"),
        ("10:04:00", "0"),
        ("10:05:00", "1"),
        ("10:30:00", "0"),
        ("10:31:00", "1"),
    ];
    let lines = |times: u64, span: &str| {
        format!("atMost: {{times: {times}, of: \"object.data.a == '1'\"{span}}}")
    };
    let found = tried(&steps, &lines(3, ""));
    assert_eq!(found.findings(IT), ["10:01:00.000Z 10:31:00.000Z"]);
    tried(&steps, &lines(4, "")).passes(IT);
    let found = tried(&steps, &lines(2, ", in: 4m"));
    assert_eq!(found.findings(IT), ["10:01:00.000Z 10:05:00.000Z"]);
    tried(&steps, &lines(2, ", in: 3m59s")).passes(IT);
}

#[test]
fn flaps_counts_both_ways() {
    let steps = [
        ("10:01:00", "1"),
        ("10:02:00", "0"),
        ("10:02:30", "1"),
        ("10:30:00", "0"),
    ];
    let lines = |more: u64, span: &str| {
        format!("flaps: {{moreThan: {more}, of: \"object.data.a == '1'\"{span}}}")
    };
    let found = tried(&steps, &lines(1, ", in: 30s"));
    assert_eq!(found.findings(IT), ["10:02:00.000Z 10:02:30.000Z"]);
    tried(&steps, &lines(1, ", in: 29s")).passes(IT);
    tried(&steps, &lines(3, "")).passes(IT);
    tried(&steps, &lines(2, "")).fails(IT, "10:02:00", "found");
}

#[test]
fn highest_and_total_are_measured() {
    let steps = [("10:01:00", "3"), ("10:02:00", "7"), ("10:05:00", "5")];
    let rule = |above: u64| {
        check(&format!(
            "highest: {{of: int(object.data.a), above: {above}}}"
        ))
        .replace("found in", "${count} in")
    };
    judged_by(story(&steps), &rule(6)).fails(IT, "10:02:00", "7 in cm");
    judged_by(story(&steps), &rule(7)).passes(IT);
    let lines = |above: &str| format!("total: {{of: object.data.a == '7', above: {above}}}");
    tried(&steps, &lines("179s")).fails(IT, "10:02:00", "found");
    tried(&steps, &lines("180s")).passes(IT);
}

#[test]
fn highest_and_total_count_what_began_in_their_phases() {
    let reel = || {
        let steps = [
            ("10:01:00", "9"),
            ("10:03:00", "0"),
            ("10:10:00", "7"),
            ("10:12:00", "0"),
            ("10:30:00", "7"),
            ("10:31:00", "0"),
        ];
        let mut reel = Reel::cluster().installed("4.21.1");
        for (at, a) in steps {
            if at == "10:10:00" {
                reel = reel.at("10:05:00").upgrade_begins("4.21.2");
            } else if at == "10:30:00" {
                reel = reel.at("10:20:00").upgrade_ends();
            }
            reel = reel.says_at(at, &[("a", a)]);
        }
        reel.until("11:00:00")
    };
    let judged = |expect: &str, phase: &str| {
        let rule = check(&format!("{expect}\nduring: [{phase}]"));
        judged_by(reel(), &rule.replace("found in", "${count} in"))
    };
    let highest = "highest: {of: int(object.data.a), above: 6}";
    judged(highest, "upgrade").fails(IT, "10:10:00", "7 in cm");
    judged(highest, "stable").fails(IT, "10:01:00", "9 in cm");
    let total = |above: &str| format!("total: {{of: object.data.a != '0', above: {above}}}");
    judged(&total("119s"), "upgrade").fails(IT, "10:10:00", "2m 00s in cm");
    judged(&total("120s"), "upgrade").passes(IT);
    judged(&total("179s"), "stable").fails(IT, "10:01:00", "3m 00s in cm");
    let per_case = |above: &str| format!("{}\ncountedPer: case", total(above));
    judged(&per_case("120s"), "upgrade").passes(IT);
    judged(&per_case("119s"), "upgrade").fails(IT, "10:10:00", "2m 00s in cm");
    // Of what is counted a decision can be made.
    let flaky = check(&format!("{highest}\nflakeIf: count < 8\nduring: [upgrade]"));
    judged_by(reel(), &flaky).is(IT, "flake");
}

#[test]
fn predicates_of_change_see_both_versions() {
    let steps = [("10:01:00", "0"), ("10:02:00", "1"), ("10:05:00", "0")];
    let found = tried(&steps, "never: old.data.a == '0' && object.data.a == '1'");
    assert_eq!(found.findings(IT), ["10:02:00.000Z 10:02:00.000Z"]);
    let gone = story(&steps).gone("ConfigMap", "shop/cm");
    let found = judged_by(gone, &check("never: action == 'gone'"));
    assert_eq!(found.findings(IT).len(), 1);
    let again = Reel::new()
        .says_at("10:01:00", &[("a", "0")])
        .at("10:02:00")
        .gone("ConfigMap", "shop/cm")
        .says_at("10:03:00", &[("a", "1")])
        .until("11:00:00");
    let rule = check("never: former.metadata.uid != object.metadata.uid && former.data.a == '0'");
    judged_by(again, &rule).fails(IT, "10:03:00", "found");
}

#[test]
fn predicates_of_change_are_evaluated_at_each_change() {
    let steps = [("10:01:00", "0"), ("10:02:00", "1"), ("10:05:00", "1")];
    let data = [("10:03:00", "x"), ("10:04:00", "y")];
    let reel = || {
        let mut all: Vec<(&str, &str, &str)> = Vec::new();
        all.extend(steps.map(|(at, a)| (at, a, "")));
        all.extend(data.map(|(at, b)| (at, "1", b)));
        all.sort_unstable();
        let begun = Reel::new();
        let told = all.iter().fold(begun, |reel, (at, a, b)| {
            reel.says_at(at, &[("a", a), ("b", b)])
        });
        told.until("11:00:00")
    };
    for (predicate, at) in [
        ("action == 'changed'", "10:02:00"),
        ("action != 'appeared' && action != 'gone'", "10:02:00"),
        ("old.data.a == '1'", "10:03:00"),
        ("old.data.a == object.data.a", "10:03:00"),
    ] {
        let found = judged_by(reel(), &check(&format!("never: {predicate}")));
        found.fails(IT, at, "found in cm");
    }
    let of = "atMost: {times: 2, of: \"old.data.a == '1'\"}";
    judged_by(reel(), &check(of)).fails(IT, "10:03:00", "found in cm");
    judged_by(
        reel(),
        &check("never: old.data.a == '1' && object.data.a != old.data.a"),
    )
    .passes(IT);
}

#[test]
fn places_make_cases_and_severity_depends() {
    let rule = over_objects(
        "  per:
    where: object.data.a
  each:
    where: places
  unlisted: {junit: it elsewhere}
  expect:
  - never: object.data.b == 'bad'
    flakeIf: place.where == 'y'
    reason: b=${object.data.b}
    message: \"${place.where}: ${object.data.b}\"
",
    )
    .replace("junit: it\n", "junit: it in {where}\n");
    let rule = format!("constants:\n  places: [x, y, z]\n{rule}");
    let put = |reel: Reel, name: &str, a: &str, b: &str| {
        reel.put(json!({
            "kind": "ConfigMap",
            "metadata": {"namespace": "shop", "name": name},
            "data": {"a": a, "b": b},
        }))
    };
    let mut reel = Reel::new().at("10:01:00");
    for (name, a, b) in [
        ("1", "x", "bad"),
        ("2", "y", "bad"),
        ("3", "q", "bad"),
        ("4", "q", "good"),
    ] {
        reel = put(reel, name, a, b);
    }
    let verdicts = judged_by(reel.until("10:10:00"), &rule);
    verdicts.fails("it in x", "10:01:00", "x: bad");
    verdicts.says("it in y", "10:01:00", "y: bad");
    assert_eq!(verdicts.names_of_failed(), ["it elsewhere", "it in x"]);
    verdicts.passes("it in z");
    assert_eq!(verdicts.count(), 4);
}

#[test]
fn items_are_watched_one_by_one() {
    let rule = over_objects(
        "    items:
      in: object.?status.?containers.orValue([])
      as: container
      key: container.name
  expect:
  - never: oldItem.count < container.count
    message: ${container.name} went from ${oldItem.count} to ${container.count}
  - atEnd: container.count < 3
    message: ${container.name} ended with ${container.count}
",
    );
    let put = |reel: Reel, at: &str, counts: &[(&str, i64)]| {
        let containers: Vec<_> = counts
            .iter()
            .map(|(name, count)| json!({"name": name, "count": count}))
            .collect();
        reel.at(at).put(json!({
            "kind": "ConfigMap",
            "metadata": {"namespace": "shop", "name": "cm"},
            "status": {"containers": containers},
        }))
    };
    let reel = put(Reel::new(), "10:01:00", &[("a", 0), ("b", 2)]);
    let reel = put(reel, "10:02:00", &[("b", 2), ("a", 1)]);
    let reel = put(reel, "10:03:00", &[("b", 3), ("a", 1), ("c", 9)]);
    let verdicts = judged_by(reel.clone().until("11:00:00"), &rule);
    verdicts.says(IT, "10:02:00", "a went from 0 to 1");
    verdicts.says(IT, "10:03:00", "b went from 2 to 3");
    verdicts.says(IT, "10:03:00", "b ended with 3");
    verdicts.says(IT, "10:03:00", "c ended with 9");
    assert_eq!(verdicts.findings(IT).len(), 4);
    let reel = put(reel, "10:04:00", &[("a", 1)]);
    let verdicts = judged_by(reel.until("11:00:00"), &rule);
    assert_eq!(verdicts.findings(IT).len(), 2);
}

#[test]
fn related_objects_are_found_and_followed() {
    let rule = over_objects(
        "  related:
    selecting:
      resource: poddisruptionbudgets.policy
      selecting: object.metadata.labels
    selected:
      resource: pods
      selectedBy: object.selector
    named:
      resource: nodes
      name: object.data.a
    owned:
      resource: pods
      owned: true
    like:
      resource: pods
      where: other.metadata.name == object.metadata.name
  expect:
  - never: size(selecting) == 1 && size(selected) == 1 && size(named) == 1 && size(owned) == 1 && size(like) == 1
    message: ${selected[0].metadata.name} ${named[0].metadata.name} ${like[0].metadata.name}
",
    );
    let reel = Reel::new().node("m0", "master").at("10:01:00").put(json!({
        "kind": "ConfigMap",
        "metadata": {"namespace": "shop", "name": "cm", "uid": "u-1", "labels": {"app": "x", "more": "y"}},
        "selector": {"matchLabels": {"app": "p"}},
        "data": {"a": "m0"},
    }));
    let reel = reel.at("10:02:00").put(json!({
        "kind": "PodDisruptionBudget",
        "metadata": {"namespace": "shop", "name": "b"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}},
    }));
    let pod = |name: &str, labels: serde_json::Value, owner: &str| {
        json!({
            "kind": "Pod",
            "metadata": {"namespace": "shop", "name": name, "labels": labels, "ownerReferences": [{"uid": owner}]},
        })
    };
    let reel = reel.put(pod("p1", json!({"app": "p"}), "other"));
    let reel = reel.at("10:03:00").put(pod("cm", json!({}), "u-1"));
    let reel = reel.at("10:07:00").gone("PodDisruptionBudget", "shop/b");
    let verdicts = judged_by(reel.until("11:00:00"), &rule);
    verdicts.fails(IT, "10:03:00", "p1 m0 cm");
    assert_eq!(verdicts.findings(IT), ["10:03:00.000Z 10:07:00.000Z"]);
}

#[test]
fn what_is_chosen_by_a_predicate_is_watched_only_then() {
    let rule = over_objects(
        "    where: object.data.b == 'on'
  expect:
  - never: object.data.a == '1'
    message: m
",
    );
    let reel = Reel::new()
        .says_at("10:01:00", &[("a", "1"), ("b", "off")])
        .says_at("10:02:00", &[("a", "1"), ("b", "on")])
        .says_at("10:03:00", &[("a", "1"), ("b", "off")])
        .until("11:00:00");
    let verdicts = judged_by(reel, &rule);
    assert_eq!(verdicts.findings(IT), ["10:02:00.000Z 10:03:00.000Z"]);
}

#[test]
fn what_items_and_since_cannot_be_is_an_error() {
    let list = json!([{"name": "x", "port": 53, "at": "soon"}, {"name": "y", "port": 53}]);
    let reel = || {
        let object = json!({
            "kind": "ConfigMap",
            "metadata": {"namespace": "shop", "name": "cm"},
            "status": {"list": list},
        });
        Reel::new().at("10:01:00").put(object).until("10:10:00")
    };
    let items = |list: &str, key: &str| {
        over_objects(&format!(
            "    items: {{in: {list}, as: it, key: {key}}}\n  expect:\n  - never: 'true'\n    message: m\n"
        ))
    };
    for (list, key, why) in [
        (
            "object.status",
            "it.name",
            "`items.in` must be a list, found map",
        ),
        (
            "object.status.list",
            "string(it.port)",
            "two items have the key `53`",
        ),
        (
            "object.status.list",
            "it",
            "`items.key` must be a string, found map",
        ),
    ] {
        let found = judged_by(reel(), &items(list, key));
        found.is(IT, "error");
        assert!(found.why().contains(why), "{}", found.why());
        assert!(
            found.why().contains("shop/cm at 2026-11-21T10:01:00"),
            "{}",
            found.why()
        );
    }
    let first = "string(it.port), duplicates: first";
    let found = judged_by(reel(), &items("object.status.list", first));
    found.fails(IT, "10:01:00", "m");
    judged_by(reel(), &items("object.status.lists", "it.name")).is(IT, "unknown");
    judged_by(reel(), &items("object.status.list", "it.name")).fails(IT, "10:01:00", "m");
    let since = "eventually: has(object.status.x)\nwithin: 1m\nsince: object.status.list[0].at";
    let found = judged_by(reel(), &check(since));
    assert!(
        found.why().contains("`since` must be a timestamp"),
        "{}",
        found.why()
    );
}

#[test]
fn a_name_is_looked_for_in_all_namespaces() {
    let put = |reel: Reel, namespace: &str, name: &str| {
        reel.put(json!({"kind": "Pod", "metadata": {"namespace": namespace, "name": name}}))
    };
    let reel = put(Reel::new().at("10:00:00"), "elsewhere", "web");
    let reel = reel.says_at("10:01:00", &[("a", "web")]).until("10:10:00");
    let rule = over_objects(
        "  related:\n    pods: {resource: pods, name: object.data.a, anywhere: true}\n  expect:\n  - atEnd: size(pods) == 1\n    message: m\n",
    );
    judged_by(reel, &rule).passes(IT);
}

#[test]
fn values_that_are_not_listed_are_counted_together() {
    let rule = over_objects(
        "  per: {where: object.data.a}
  each: {where: places}
  unlisted: {junit: it elsewhere}
  expect:
  - atMost: {times: 1, of: 'true'}
    countedPer: case
    message: m
",
    )
    .replace("junit: it\n", "junit: it in {where}\n");
    let rule = format!("constants:\n  places: [x]\n{rule}");
    let mut reel = Reel::new().at("10:01:00");
    for name in ["p", "q"] {
        reel = reel.put(json!({
            "kind": "ConfigMap",
            "metadata": {"namespace": "shop", "name": name},
            "data": {"a": name},
        }));
    }
    let found = judged_by(reel.until("10:10:00"), &rule);
    assert_eq!(found.names_of_failed(), ["it elsewhere"]);
}
