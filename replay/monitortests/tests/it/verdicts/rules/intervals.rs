//! Operators over intervals.

use super::{HEAD, IT};
use crate::verdicts::judged::{Verdicts, judged_by};
use crate::verdicts::reel::Reel;

/// An operator that is degraded twice.
fn story() -> Reel {
    let bad = |reason: &'static str| [("Degraded", "True", reason)];
    Reel::cluster()
        .at("10:05:00")
        .operator("etcd", &bad("First"))
        .at("10:05:40")
        .operator("etcd", &[("Degraded", "False", "AsExpected")])
        .at("10:20:00")
        .operator("etcd", &bad("Second"))
        .at("10:30:00")
        .operator("etcd", &[("Degraded", "False", "AsExpected")])
        .at("10:40:00")
        .operator("dns", &bad("Third"))
        .until("11:00:00")
}

fn rule(rest: &str) -> String {
    format!(
        "{HEAD}  intervals:
    sources: [OperatorState]
    where: interval.annotations.condition == 'Degraded' && interval.annotations.status == 'True'
{rest}"
    )
}

fn tried(lines: &str) -> Verdicts {
    let lines = lines.replace('\n', "\n    ");
    judged_by(
        story(),
        &rule(&format!(
            "  expect:\n  - {lines}\n    message: found ${{interval.reason}}\n"
        )),
    )
}

#[test]
fn never_and_always_find_intervals() {
    let found = tried("never: 'true'\nforAtLeast: 10m");
    let expected = ["10:20:00.000Z 10:30:00.000Z", "10:40:00.000Z -"];
    assert_eq!(found.findings(IT), expected);
    found.says(IT, "10:20:00", "found Second");
    let found = tried("always: interval.reason != 'First'");
    assert_eq!(found.findings(IT), ["10:05:00.000Z 10:05:40.000Z"]);
    tried("never: interval.keys.clusteroperator == 'network'").passes(IT);
}

#[test]
fn counts_are_per_subject_or_case() {
    let found = tried("atMost: {times: 1, of: 'true'}");
    assert_eq!(found.findings(IT), ["10:05:00.000Z 10:20:00.000Z"]);
    tried("atMost: {times: 2, of: 'true'}").passes(IT);
    let found = tried("atMost: {times: 2, of: 'true'}\ncountedPer: case");
    assert_eq!(found.findings(IT), ["10:05:00.000Z 10:40:00.000Z"]);
    tried("atMost: {times: 1, of: 'true', in: 14m}").passes(IT);
    let found = tried("total: {of: 'true', above: 10m39s}");
    assert_eq!(found.findings(IT).len(), 2);
    let found = tried("highest: {of: 'interval.duration > duration(\"11m\") ? 2 : 1', above: 1}");
    assert_eq!(found.findings(IT), ["10:40:00.000Z -"]);
}

#[test]
fn one_leads_to_the_other_of_the_same_subject() {
    let lines = |to: &str, within: &str| {
        format!(
            "leadsTo:\n  from: interval.reason == 'First'\n  to: interval.reason == '{to}'\n  within: {within}"
        )
    };
    tried(&lines("Second", "15m")).passes(IT);
    tried(&lines("Second", "14m")).fails(IT, "10:05:00", "found First");
    tried(&lines("Third", "40m")).fails(IT, "10:05:00", "found First");
}

#[test]
fn what_should_come_is_missed_in_each_case() {
    let rest = "  per:
    operator: interval.keys.clusteroperator
  each:
    operator: operators
  expect:
  - eventually: interval.duration > duration('5m')
    message: ${place.operator} was never degraded for long
";
    let verdicts = judged_by(
        story(),
        &rule(rest).replace("junit: it\n", "junit: it of {operator}\n"),
    );
    verdicts.passes("it of etcd");
    verdicts.passes("it of dns");
    verdicts.fails(
        "it of network",
        "10:00:00",
        "network was never degraded for long",
    );
    assert_eq!(verdicts.count(), 34);
}

#[test]
fn other_intervals_are_read() {
    let rest = "  also:
    earlier:
      sources: [OperatorState]
      where: interval.annotations.condition == 'Degraded' && interval.annotations.status == 'True' && interval.reason == 'First'
  when:
  - cel: size(also.earlier) == 1
    otherwise: there was not one
  expect:
  - never: interval.from > also.earlier[0].to && interval.keys == also.earlier[0].keys
    message: ${interval.reason} after ${also.earlier[0].reason}
";
    let verdicts = judged_by(story(), &rule(rest));
    assert_eq!(verdicts.findings(IT).len(), 1);
    verdicts.fails(IT, "10:20:00", "Second after First");
}

#[test]
fn an_absent_member_is_unknown() {
    tried("never: interval.annotations.nix == 'x'").is(IT, "unknown");
    tried("never: interval.reason == 3").is(IT, "error");
}
