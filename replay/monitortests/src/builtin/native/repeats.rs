//! Events that repeat too often: an Event that repeats more than twenty times and is not allowed to
//! fails its namespace.
//!
//! In Rust, because the list of what may repeat is data of its own: regular expressions for each key of
//! a locator, and other intervals in which an Event may repeat.

use super::event::{is_installing, times};
use crate::builtin::rows::info;
use crate::interval::{Interval, Intervals, source};
use crate::interval_needs::IntervalNeeds;
use crate::known::{is_known_namespace, known_namespaces};
use crate::verdict::{
    JudgeContext, MonitorTest, MonitorTestInfo, Needs, Severity, TestCase, TestFinding,
};
use kubereel_format::RecordedAt;
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use thiserror::Error;

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

/// Judges how often Events are repeated.
struct RepeatedEvents {
    place: NamespaceClass,
    about: MonitorTestInfo,
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
    Box::new(RepeatedEvents { place, about })
}

impl RepeatedEvents {
    fn case(&self, namespace: &str, findings: Vec<TestFinding>) -> TestCase {
        let mut group = BTreeMap::new();
        if self.place == NamespaceClass::Known {
            group.insert("namespace".to_owned(), namespace.to_owned());
        }
        TestCase {
            group,
            findings,
            ..TestCase::named(self.about.junit.replace("{namespace}", namespace))
        }
    }
}

impl MonitorTest for RepeatedEvents {
    fn about(&self) -> &MonitorTestInfo {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs::seen("events")
    }

    fn looks_at(&self) -> IntervalNeeds {
        IntervalNeeds::those(is_looked_at)
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        let allowed = match AllowedEvents::new(scene.intervals) {
            Ok(allowed) => allowed,
            Err(error) => {
                let mut case = self.case("", Vec::new());
                case.error = Some(error.to_string());
                return vec![case];
            }
        };
        let mut found: BTreeMap<&str, Vec<TestFinding>> = BTreeMap::new();
        for (event, times) in worst(scene, self.place, &allowed).into_values() {
            let namespace = event.locator.get("namespace").unwrap_or_default();
            let message = format!(
                "event happened {times} times, something is wrong: {} - reason/{} {}",
                event.locator, event.message.reason, event.message.human
            );
            let finding = TestFinding {
                severity: self.place.severity(),
                ..TestFinding::of(event, &event.message.reason, message)
            };
            found.entry(namespace).or_default().push(finding);
        }
        if self.place == NamespaceClass::Known {
            let each = known_namespaces().map(|namespace| {
                let findings = found.remove(namespace).unwrap_or_default();
                self.case(namespace, findings)
            });
            return each.collect();
        }
        vec![self.case("", found.into_values().flatten().collect())]
    }
}

/// Finds what repeats too often and may not: of each locator, reason and message the one that was told
/// to have happened most often, in order of time.
fn worst<'a>(
    scene: &JudgeContext<'a>,
    place: NamespaceClass,
    allowed: &AllowedEvents,
) -> BTreeMap<(RecordedAt, String), (&'a Interval, u64)> {
    let is_upgrade = upgraded(scene);
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

/// Tells whether the run upgraded: by what is known of the cluster, or by the Events that CI writes.
fn upgraded(scene: &JudgeContext<'_>) -> bool {
    !scene.facts.upgrades().is_empty() || scene.intervals.all().iter().any(is_upgrade_begin)
}

fn is_upgrade_begin(event: &Interval) -> bool {
    event.locator.get("clusterversion") == Some("cluster")
        && matches!(
            event.message.reason.as_ref(),
            "UpgradeStarted" | "UpgradeRollback"
        )
}

fn is_etcd_revision(event: &Interval) -> bool {
    event.message.reason.as_ref() == "NodeCurrentRevisionChanged"
        && event.locator.get("namespace") == Some("openshift-etcd-operator")
}

/// Tells whether an interval counts, or excuses one that does. Excuses lie in intervals of which there
/// are few: no entry of the list speaks of those of pods, or of Events.
fn is_looked_at(interval: &Interval) -> bool {
    let is_many = matches!(
        interval.source.as_str(),
        source::KUBE_EVENT | source::POD_MONITOR | source::POD_STATE
    );
    !is_many
        || times(&interval.message) > MOST_TIMES
        || is_upgrade_begin(interval)
        || is_etcd_revision(interval)
}

/// Gives the highest revision that a static Pod of etcd was told to have reached.
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

/// Why the list of what may repeat cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
enum AllowedError {
    /// It is no list of entries.
    #[error("the list of events that may repeat cannot be read: {source}")]
    Yaml {
        /// What the parser says.
        #[source]
        source: serde_saphyr::Error,
    },
    /// An entry has a regular expression that is none.
    #[error("{name} in the list of events that may repeat: {source}")]
    Pattern {
        /// The entry.
        name: String,
        /// What is wrong with it.
        #[source]
        source: regex::Error,
    },
}

/// An entry as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedEventYaml {
    name: String,
    #[expect(dead_code, reason = "says to people why the entry is there")]
    why: String,
    #[serde(default)]
    keys: BTreeMap<String, String>,
    reason: Option<String>,
    message: Option<String>,
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

/// What is known of a run that entries ask for.
#[derive(Clone, Copy, Debug, Default)]
struct RunFacts<'a> {
    /// The topology of the control plane when the Event was told.
    topology: Option<&'a str>,
    /// Whether the run upgraded.
    is_upgrade: bool,
    /// The highest revision that etcd's static Pods reached, if an Event told one.
    etcd_revision: Option<u64>,
}

/// An entry, ready to be asked.
#[derive(Debug)]
struct AllowedEvent {
    name: String,
    keys: Vec<(String, Regex)>,
    reason: Option<Regex>,
    message: Option<Regex>,
    at_most: Option<u64>,
    at_most_per_etcd_revision: Option<u64>,
    topology: Option<String>,
    during: Option<RequiredPhase>,
    within: Option<ExcusedSpans>,
}

/// The list, ready to be asked.
#[derive(Debug)]
struct AllowedEvents(Vec<AllowedEvent>);

impl AllowedEvents {
    /// Reads the list and finds the intervals of a run that its entries speak of.
    ///
    /// # Errors
    /// When the list cannot be read.
    fn new(intervals: &Intervals) -> Result<Self, AllowedError> {
        let written: Vec<AllowedEventYaml> =
            serde_saphyr::from_str(LIST).map_err(|source| AllowedError::Yaml { source })?;
        let entries = written
            .into_iter()
            .map(|written| AllowedEvent::new(written, intervals));
        entries.collect::<Result<_, _>>().map(Self)
    }

    /// Gives the name of the first entry that lets an Event repeat as often as it did.
    fn by(&self, event: &Interval, times: u64, run: RunFacts<'_>) -> Option<&str> {
        let found = self.0.iter().find(|entry| entry.allows(event, times, run));
        found.map(|entry| entry.name.as_str())
    }
}

impl AllowedEvent {
    fn new(written: AllowedEventYaml, intervals: &Intervals) -> Result<Self, AllowedError> {
        let pattern = |text: &str| {
            Regex::new(text).map_err(|source| AllowedError::Pattern {
                name: written.name.clone(),
                source,
            })
        };
        let keys = written
            .keys
            .iter()
            .map(|(key, text)| Ok((key.clone(), pattern(text)?)));
        let within = if written.within.is_empty() {
            None
        } else {
            Some(ExcusedSpans::new(&written.within, intervals, &pattern)?)
        };
        Ok(Self {
            keys: keys.collect::<Result<_, AllowedError>>()?,
            reason: written.reason.as_deref().map(pattern).transpose()?,
            message: written.message.as_deref().map(pattern).transpose()?,
            at_most: written.at_most,
            at_most_per_etcd_revision: written.at_most_per_etcd_revision,
            topology: written.topology,
            during: written.during,
            within,
            name: written.name,
        })
    }

    fn allows(&self, event: &Interval, times: u64, run: RunFacts<'_>) -> bool {
        let fits = |pattern: &Option<Regex>, text: &str| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(text))
        };
        let of_revisions = |each: u64| {
            run.etcd_revision
                .is_some_and(|revisions| times <= each.saturating_mul(revisions))
        };
        (self.during.is_none() || run.is_upgrade)
            && self
                .topology
                .as_deref()
                .is_none_or(|asked| run.topology == Some(asked))
            && self.at_most.is_none_or(|most| times <= most)
            && self.at_most_per_etcd_revision.is_none_or(of_revisions)
            && fits(&self.reason, &event.message.reason)
            && self
                .keys
                .iter()
                .all(|(key, pattern)| pattern.is_match(event.locator.get(key).unwrap_or_default()))
            && fits(&self.message, &event.message.human)
            && self
                .within
                .as_ref()
                .is_none_or(|within| within.holds(event))
    }
}

/// Which intervals excuse, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExcusingInterval {
    source: String,
    #[serde(default)]
    keys: BTreeMap<String, String>,
    reason: Option<String>,
    message: Option<String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
    #[serde(default)]
    before_secs: u32,
    #[serde(default)]
    after_secs: u32,
}

/// The spans of a run inside which an Event may repeat.
#[derive(Debug)]
struct ExcusedSpans(Vec<(RecordedAt, RecordedAt)>);

impl ExcusedSpans {
    /// Finds them.
    ///
    /// # Errors
    /// When `pattern` refuses a regular expression.
    fn new(
        shadows: &[ExcusingInterval],
        intervals: &Intervals,
        pattern: &dyn Fn(&str) -> Result<Regex, AllowedError>,
    ) -> Result<Self, AllowedError> {
        let mut spans = Vec::new();
        for shadow in shadows {
            let keys = patterns(&shadow.keys, pattern)?;
            let annotations = patterns(&shadow.annotations, pattern)?;
            let reason = shadow.reason.as_deref().map(pattern).transpose()?;
            let message = shadow.message.as_deref().map(pattern).transpose()?;
            let fits = |pattern: &Option<Regex>, text: &str| {
                pattern
                    .as_ref()
                    .is_none_or(|pattern| pattern.is_match(text))
            };
            let meant = intervals.of(&shadow.source).filter(|interval| {
                let locator = &interval.locator;
                let said = &interval.message;
                keys.iter()
                    .all(|(key, pattern)| pattern.is_match(locator.get(key).unwrap_or_default()))
                    && annotations.iter().all(|(name, pattern)| {
                        pattern.is_match(said.annotation(name).unwrap_or_default())
                    })
                    && fits(&reason, &said.reason)
                    && fits(&message, &said.human)
            });
            spans.extend(meant.map(|interval| {
                let widened = |at: RecordedAt, secs: i64| RecordedAt {
                    micros: at.micros.saturating_add(secs.saturating_mul(1_000_000)),
                };
                (
                    widened(interval.from, -i64::from(shadow.before_secs)),
                    widened(
                        interval.to_or(intervals.end()),
                        i64::from(shadow.after_secs),
                    ),
                )
            }));
        }
        Ok(Self(spans))
    }

    /// Tells whether an Event lies strictly inside one of them.
    fn holds(&self, event: &Interval) -> bool {
        let to = event.to.unwrap_or(event.from);
        let mut spans = self.0.iter();
        spans.any(|(from, until)| *from < event.from && to < *until)
    }
}

fn patterns(
    written: &BTreeMap<String, String>,
    pattern: &dyn Fn(&str) -> Result<Regex, AllowedError>,
) -> Result<Vec<(String, Regex)>, AllowedError> {
    let ready = written
        .iter()
        .map(|(key, text)| Ok((key.clone(), pattern(text)?)));
    ready.collect()
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
        AllowedEvents::new(&none).expect("the list can be read")
    }

    fn asked<'a>(allowed: &'a AllowedEvents, event: &Interval, times: u64) -> Option<&'a str> {
        allowed.by(event, times, RunFacts::default())
    }

    #[test]
    fn the_list_can_be_read_and_names_are_unique() {
        let allowed = nothing();
        let mut names: Vec<_> = allowed.0.iter().map(|entry| &entry.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), count), (48, 48));
    }

    #[test]
    fn excuses_lie_in_intervals_of_which_there_are_few() {
        let written: Vec<AllowedEventYaml> =
            serde_saphyr::from_str(LIST).expect("the list can be read");
        let shadows = written.iter().flat_map(|entry| &entry.within);
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
        let allowed = AllowedEvents::new(&run).expect("the list can be read");
        let name = Some("DeferringOperatorNodeUpdateTooOften");
        for (secs, expected) in [(880, None), (881, name), (1_219, name), (1_220, None)] {
            let event = event(&[("node", "m0")], "DeferringOperatorNodeUpdate", "x", secs);
            assert_eq!(asked(&allowed, &event, 30), expected, "{secs}");
        }
    }
}
