//! Events that repeat too often: an Event that repeats more than twenty times and is not allowed to
//! fails its namespace.
//!
//! In Rust, because the list of what may repeat is data of its own: regular expressions for each key of
//! a locator, and other intervals in which an Event may repeat.

use super::event::{is_installing, times};
use super::judged::judged_test;
use crate::builtin::rows::info;
use crate::interval::{Interval, Intervals, source};
use crate::interval_needs::IntervalNeeds;
use crate::known::{is_known_namespace, known_namespaces};
use crate::table::read_table;
use crate::verdict::{JudgeContext, MonitorTest, Needs, Severity, TestCase, TestFinding};
use kubereel_format::RecordedAt;
use regex::Regex;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// How often an Event may be repeated without a word about it.
const MOST_TIMES: u64 = 20;

/// The namespaces that a test judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin) enum NamespaceClass {
    /// Those that have a case of their own.
    Known,
    /// All others but those of e2e tests, in one case.
    Other,
    /// Those of e2e tests, in one case.
    E2e,
}

impl NamespaceClass {
    fn of(namespace: &str) -> Self {
        if namespace.starts_with("e2e-") {
            Self::E2e
        } else if is_known_namespace(namespace) {
            Self::Known
        } else {
            Self::Other
        }
    }

    const fn severity(self) -> Severity {
        match self {
            Self::E2e => Severity::Flake,
            Self::Known | Self::Other => Severity::Fail,
        }
    }

    const fn id(self) -> &'static str {
        match self {
            Self::Known => "events-do-not-repeat",
            Self::Other => "events-elsewhere-do-not-repeat",
            Self::E2e => "events-of-e2e-do-not-repeat",
        }
    }
}

/// Makes the test for some namespaces.
pub(in crate::builtin) fn test(place: NamespaceClass) -> Box<dyn MonitorTest> {
    let mut about = info(
        place.id(),
        "sig-arch",
        "pkg/monitortestlibrary/pathologicaleventlibrary",
        &format!(
            "No Event is repeated more than {MOST_TIMES} times, unless it is on the list of those that may."
        ),
    );
    about.is_flake_only = place.severity() == Severity::Flake;
    let looks_at = IntervalNeeds::those(is_looked_at);
    judged_test(
        about,
        Needs::seen("events"),
        looks_at,
        move |junit, scene| judge(place, junit, scene),
    )
}

fn case(
    place: NamespaceClass,
    junit: &str,
    namespace: &str,
    findings: Vec<TestFinding>,
) -> TestCase {
    let mut group = BTreeMap::new();
    if place == NamespaceClass::Known {
        group.insert("namespace".to_owned(), namespace.to_owned());
    }
    TestCase {
        group,
        findings,
        ..TestCase::named(junit.replace("{namespace}", namespace))
    }
}

fn judge(place: NamespaceClass, junit: &str, scene: &JudgeContext<'_>) -> Vec<TestCase> {
    let allowed = AllowedEvents::new(scene.intervals);
    let mut found: BTreeMap<&str, Vec<TestFinding>> = BTreeMap::new();
    for (event, times) in worst(scene, place, &allowed).into_values() {
        let namespace = event.locator.get("namespace").unwrap_or_default();
        let message = format!(
            "event happened {times} times, something is wrong: {} - reason/{} {}",
            event.locator, event.message.reason, event.message.human
        );
        let finding = TestFinding {
            severity: place.severity(),
            ..TestFinding::of(event, &event.message.reason, message)
        };
        found.entry(namespace).or_default().push(finding);
    }
    if place == NamespaceClass::Known {
        let each = known_namespaces().map(|namespace| {
            let findings = found.remove(namespace).unwrap_or_default();
            let case = case(place, junit, namespace, findings);
            case.doubt_unknown_phases(scene)
        });
        return each.collect();
    }
    let case = case(place, junit, "", found.into_values().flatten().collect());
    vec![case.doubt_unknown_phases(scene)]
}

/// Finds what repeats too often and may not: of each locator, reason and message the one that was reported
/// to have happened most often, in order of time.
fn worst<'a>(
    scene: &JudgeContext<'a>,
    place: NamespaceClass,
    allowed: &AllowedEvents,
) -> BTreeMap<(RecordedAt, String), (&'a Interval, u64)> {
    let is_upgrade = scene.facts.is_upgraded();
    let etcd_revision = etcd_revision(scene.intervals);
    let mut worst: BTreeMap<String, (&Interval, u64)> = BTreeMap::new();
    for event in scene.intervals.all() {
        let times = times(&event.message);
        let namespace = event.locator.get("namespace").unwrap_or_default();
        let is_meant = times > MOST_TIMES && NamespaceClass::of(namespace) == place;
        if !is_meant || is_installing(scene, event) {
            continue;
        }
        let run = RunFacts {
            topology: scene.facts.at(event.from).topology.as_deref(),
            is_upgrade,
            etcd_revision,
        };
        if allowed.by(event, times, run).is_some() {
            continue;
        }
        let what = format!(
            "{} - {} {}",
            event.locator, event.message.reason, event.message.human
        );
        let highest = worst.entry(what).or_insert((event, times));
        if times > highest.1 {
            *highest = (event, times);
        }
    }
    let in_time = worst
        .into_iter()
        .map(|(what, (event, times))| ((event.from, what), (event, times)));
    in_time.collect()
}

fn is_etcd_revision(event: &Interval) -> bool {
    event.message.reason.as_ref() == "NodeCurrentRevisionChanged"
        && event.locator.get("namespace") == Some("openshift-etcd-operator")
}

/// Returns whether an interval counts, or excuses one that does. Excuses lie in intervals of which there
/// are few: no entry of the list speaks of those of pods, or of Events.
fn is_looked_at(interval: &Interval) -> bool {
    let is_many = matches!(
        interval.source.as_str(),
        source::KUBE_EVENT | source::POD_MONITOR | source::POD_STATE
    );
    !is_many || times(&interval.message) > MOST_TIMES || is_etcd_revision(interval)
}

/// Returns the highest revision that Events report for a static Pod of etcd.
fn etcd_revision(intervals: &Intervals) -> Option<u64> {
    let told = intervals.all().iter();
    let told = told.filter(|event| is_etcd_revision(event));
    let pattern = Regex::new("to ([0-9]+) because static pod is ready").ok()?;
    let revisions = told.filter_map(|event| {
        let found = pattern.captures(&event.message.human)?;
        found.get(1)?.as_str().parse().ok()
    });
    revisions.max()
}

const LIST: &str = include_str!("allowed.yaml");

static ENTRIES: LazyLock<Vec<AllowedEvent>> = LazyLock::new(|| read_table(LIST));

/// An Event that may repeat: everything that is given must match.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedEvent {
    name: String,
    #[expect(dead_code, reason = "says to people why the entry is there")]
    why: String,
    #[serde(default)]
    keys: BTreeMap<String, EventPattern>,
    reason: Option<EventPattern>,
    message: Option<EventPattern>,
    at_most: Option<u64>,
    at_most_per_etcd_revision: Option<u64>,
    topology: Option<String>,
    during: Option<RequiredPhase>,
    #[serde(default)]
    within: Vec<ExcusingInterval>,
    #[expect(dead_code, reason = "says to people where it is worked on")]
    jira: Option<String>,
}

/// What a run must have done for an entry to count.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RequiredPhase {
    /// An upgrade.
    Upgrade,
}

/// Intervals inside which an Event may repeat.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExcusingInterval {
    source: String,
    #[serde(default)]
    keys: BTreeMap<String, EventPattern>,
    reason: Option<EventPattern>,
    message: Option<EventPattern>,
    #[serde(default)]
    annotations: BTreeMap<String, EventPattern>,
    #[serde(default)]
    before_secs: u32,
    #[serde(default)]
    after_secs: u32,
}

/// A regular expression of the list.
#[derive(Debug)]
struct EventPattern(Regex);

impl<'de> Deserialize<'de> for EventPattern {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        Regex::new(&text).map(Self).map_err(D::Error::custom)
    }
}

impl EventPattern {
    /// Returns whether a text matches a pattern, if there is one.
    fn fits(pattern: Option<&Self>, text: &str) -> bool {
        pattern.is_none_or(|pattern| pattern.0.is_match(text))
    }

    /// Returns whether the value of each key matches; a value that is not there is empty.
    fn fit_all<'v>(
        patterns: &BTreeMap<String, Self>,
        value: impl Fn(&str) -> Option<&'v str>,
    ) -> bool {
        let mut each = patterns.iter();
        each.all(|(key, pattern)| pattern.0.is_match(value(key).unwrap_or_default()))
    }
}

/// What is known of a run that entries ask for.
#[derive(Clone, Copy, Debug, Default)]
struct RunFacts<'a> {
    /// The topology of the control plane when the Event was recorded.
    topology: Option<&'a str>,
    /// Whether the run upgraded.
    is_upgrade: bool,
    /// The highest revision that etcd's static Pods reached, if an Event names one.
    etcd_revision: Option<u64>,
}

/// The list, with the spans of a run inside which its entries hold.
#[derive(Debug)]
struct AllowedEvents(Vec<(&'static AllowedEvent, Vec<(RecordedAt, RecordedAt)>)>);

impl AllowedEvents {
    /// Finds the spans of a run that the entries speak of.
    fn new(intervals: &Intervals) -> Self {
        let entries = ENTRIES.iter().map(|entry| {
            let spans = entry
                .within
                .iter()
                .flat_map(|within| within.spans(intervals));
            (entry, spans.collect())
        });
        Self(entries.collect())
    }

    /// Returns the name of the first entry that lets an Event repeat as often as it did.
    fn by(&self, event: &Interval, times: u64, run: RunFacts<'_>) -> Option<&str> {
        let to = event.to.unwrap_or(event.from);
        let found = self.0.iter().find(|(entry, spans)| {
            let mut spans = spans.iter();
            entry.allows(event, times, run)
                && (entry.within.is_empty()
                    || spans.any(|(from, until)| *from < event.from && to < *until))
        });
        found.map(|(entry, _)| entry.name.as_str())
    }
}

impl AllowedEvent {
    /// Returns whether everything but the spans lets an Event repeat.
    fn allows(&self, event: &Interval, times: u64, run: RunFacts<'_>) -> bool {
        let topology = self.topology.as_deref();
        let of_revisions = |each: u64| {
            run.etcd_revision
                .is_some_and(|revisions| times <= each.saturating_mul(revisions))
        };
        (self.during.is_none() || run.is_upgrade)
            && topology.is_none_or(|topology| run.topology == Some(topology))
            && self.at_most.is_none_or(|most| times <= most)
            && self.at_most_per_etcd_revision.is_none_or(of_revisions)
            && EventPattern::fits(self.reason.as_ref(), &event.message.reason)
            && EventPattern::fit_all(&self.keys, |key| event.locator.get(key))
            && EventPattern::fits(self.message.as_ref(), &event.message.human)
    }
}

impl ExcusingInterval {
    /// Returns the spans of a run that it describes, widened.
    fn spans<'a>(
        &'a self,
        intervals: &'a Intervals,
    ) -> impl Iterator<Item = (RecordedAt, RecordedAt)> + 'a {
        let widened = |at: RecordedAt, secs: i64| RecordedAt {
            micros: at.micros.saturating_add(secs.saturating_mul(1_000_000)),
        };
        let end = intervals.end();
        let meant = intervals.of(&self.source).filter(|interval| {
            let message = &interval.message;
            EventPattern::fit_all(&self.keys, |key| interval.locator.get(key))
                && EventPattern::fit_all(&self.annotations, |name| message.annotation(name))
                && EventPattern::fits(self.reason.as_ref(), &message.reason)
                && EventPattern::fits(self.message.as_ref(), &message.human)
        });
        meant.map(move |interval| {
            let from = widened(interval.from, -i64::from(self.before_secs));
            (
                from,
                widened(interval.to_or(end), i64::from(self.after_secs)),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{IntervalMessage, Locator, Source};
    use kubereel_format::RecordedAt;

    fn event(keys: &[(&str, &str)], reason: &str, human: &str, at_secs: i64) -> Interval {
        let at = RecordedAt {
            micros: at_secs * 1_000_000,
        };
        Interval {
            source: Source::new("KubeEvent"),
            locator: Locator::new("Kind", keys.iter().copied()),
            message: IntervalMessage::new(human).reason(reason),
            from: at,
            to: Some(at),
            ..Interval::default()
        }
    }

    fn nothing() -> AllowedEvents {
        let none = Intervals::new(Vec::new(), RecordedAt::default(), RecordedAt::default());
        AllowedEvents::new(&none)
    }

    fn asked<'a>(allowed: &'a AllowedEvents, event: &Interval, times: u64) -> Option<&'a str> {
        allowed.by(event, times, RunFacts::default())
    }

    #[test]
    fn the_list_can_be_read_and_names_are_unique() {
        let allowed = nothing();
        let mut names: Vec<_> = allowed.0.iter().map(|(entry, _)| &entry.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), count), (48, 48));
    }

    #[test]
    fn excuses_lie_in_intervals_of_which_there_are_few() {
        let shadows = ENTRIES.iter().flat_map(|entry| &entry.within);
        let sources: Vec<&str> = shadows.map(|shadow| shadow.source.as_str()).collect();
        assert!(!sources.is_empty());
        for many in ["KubeEvent", "PodMonitor", "PodState"] {
            assert!(!sources.contains(&many), "{many} is not held for excuses");
        }
    }

    #[test]
    fn all_that_an_entry_says_must_hold() {
        let allowed = nothing();
        let pulls = "Back-off pulling image \"quay.io/x\"";
        let in_test = event(&[("namespace", "e2e-a")], "BackOff", pulls, 0);
        let in_platform = event(&[("namespace", "openshift-dns")], "BackOff", pulls, 0);
        assert_eq!(asked(&allowed, &in_test, 30), Some("E2EImagePullBackOff"));
        assert_eq!(asked(&allowed, &in_platform, 30), None);
        let other = event(&[("namespace", "openshift-e2e-loki")], "Any", "any", 0);
        assert_eq!(asked(&allowed, &other, 30), Some("E2ELoki"));
    }

    #[test]
    fn entries_of_upgrades_count_in_upgrades_and_up_to_their_number() {
        let allowed = nothing();
        let keys = [
            ("namespace", "openshift-monitoring"),
            ("pod", "prometheus-k8s-0"),
        ];
        let probe = event(&keys, "Unhealthy", "Readiness probe errored: no", 0);
        let upgrade = RunFacts {
            is_upgrade: true,
            ..RunFacts::default()
        };
        assert_eq!(allowed.by(&probe, 40, RunFacts::default()), None);
        assert_eq!(
            allowed.by(&probe, 100, upgrade),
            Some("PrometheusReadinessProbeErrors")
        );
        assert_eq!(allowed.by(&probe, 101, upgrade), None);
    }

    #[test]
    fn a_topology_that_nothing_told_fits_no_entry_of_one() {
        let allowed = nothing();
        let keys = [("namespace", "openshift-kube-apiserver-operator")];
        let text = "apiServerArguments.etcd-servers has less than two live etcd endpoints: x";
        let missing = event(&keys, "ConfigMissing", text, 0);
        let two = RunFacts {
            topology: Some("DualReplica"),
            ..RunFacts::default()
        };
        assert_eq!(
            allowed.by(&missing, 30, two),
            Some("EtcdEndpointsConfigMissingDuringTwoNodeTests")
        );
        assert_eq!(asked(&allowed, &missing, 30), None);
    }

    #[test]
    fn each_revision_of_etcd_may_fail_twelve_probes() {
        let allowed = nothing();
        let keys = [("namespace", "openshift-etcd"), ("pod", "etcd-guard-m0")];
        let probe = event(&keys, "ProbeError", "Readiness probe error: 500", 0);
        let third = RunFacts {
            etcd_revision: Some(3),
            ..RunFacts::default()
        };
        assert_eq!(
            allowed.by(&probe, 36, third),
            Some("EtcdReadinessProbeFailuresPerRevisionChange")
        );
        assert_eq!(allowed.by(&probe, 37, third), None);
        assert_eq!(asked(&allowed, &probe, 21), None);
    }

    #[test]
    fn an_event_may_repeat_inside_an_interval_that_an_entry_speaks_of() {
        let at = |secs: i64| RecordedAt {
            micros: secs * 1_000_000,
        };
        let test = Interval {
            source: Source::new("E2ETest"),
            locator: Locator::new(
                "E2ETest",
                [("e2e-test", "[x] imagepolicy signature validation y")],
            ),
            from: at(1_000),
            to: Some(at(1_100)),
            ..Interval::default()
        };
        let run = Intervals::new(vec![test], at(0), at(9_000));
        let allowed = AllowedEvents::new(&run);
        let name = Some("DeferringOperatorNodeUpdateTooOften");
        for (secs, expected) in [(880, None), (881, name), (1_219, name), (1_220, None)] {
            let event = event(&[("node", "m0")], "DeferringOperatorNodeUpdate", "x", secs);
            assert_eq!(asked(&allowed, &event, 30), expected, "{secs}");
        }
    }
}
