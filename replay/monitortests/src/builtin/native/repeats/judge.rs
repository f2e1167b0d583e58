//! Owns the test of Events that repeat: what is counted, and in which case. Refuses to know what may
//! repeat: `allowed` does.

use super::allowed::{Allowed, Run};
use crate::builtin::native::event::{is_installing, subject_of, times};
use crate::feed::Watcher;
use crate::interval::{Interval, Intervals, source};
use crate::known::{is_known_namespace, known_namespaces};
use crate::verdict::{
    About, Case, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, WrittenIn,
};
use regex::Regex;
use std::collections::BTreeMap;

/// How often an Event may be repeated without a word about it.
const MOST_TIMES: u64 = 20;

/// The namespaces that a test judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// Those that have a case of their own.
    Known,
    /// All others but those of e2e tests, in one case.
    Elsewhere,
    /// Those of e2e tests, in one case.
    E2e,
}

impl Where {
    fn of(namespace: &str) -> Self {
        if namespace.starts_with("e2e-") {
            Self::E2e
        } else if is_known_namespace(namespace) {
            Self::Known
        } else {
            Self::Elsewhere
        }
    }

    const fn severity(self) -> Severity {
        match self {
            Self::E2e => Severity::Flake,
            Self::Known | Self::Elsewhere => Severity::Fail,
        }
    }

    const fn junit(self) -> &'static str {
        match self {
            Self::Known => "[sig-arch] events should not repeat pathologically for ns/{namespace}",
            Self::Elsewhere => "[sig-arch] events should not repeat pathologically",
            Self::E2e => "[sig-arch] events should not repeat pathologically in e2e namespaces",
        }
    }

    const fn id(self) -> &'static str {
        match self {
            Self::Known => "events-do-not-repeat",
            Self::Elsewhere => "events-elsewhere-do-not-repeat",
            Self::E2e => "events-of-e2e-do-not-repeat",
        }
    }
}

/// Judges how often Events are repeated.
#[derive(Debug)]
pub(crate) struct RepeatedEvents {
    place: Where,
    about: About,
}

impl RepeatedEvents {
    /// Makes the test for some namespaces.
    pub(crate) fn new(place: Where) -> Self {
        Self {
            place,
            about: About {
                id: place.id().to_owned(),
                monitor: "legacy-test-framework-invariants-pathological".to_owned(),
                junit: place.junit().to_owned(),
                description: format!(
                    "No Event is repeated more than {MOST_TIMES} times, unless it is on the list of those that may."
                ),
                owner: "sig-arch".to_owned(),
                origin: "openshift/origin pkg/monitortestlibrary/pathologicaleventlibrary"
                    .to_owned(),
                is_flake_only: place.severity() == Severity::Flake,
                written_in: WrittenIn::Rust,
            },
        }
    }

    fn case(&self, namespace: &str, findings: Vec<Finding>) -> Case {
        let mut group = BTreeMap::new();
        if self.place == Where::Known {
            group.insert("namespace".to_owned(), namespace.to_owned());
        }
        Case {
            junit: self.about.junit.replace("{namespace}", namespace),
            group,
            findings,
            ..Case::default()
        }
    }
}

impl MonitorTest for RepeatedEvents {
    fn about(&self) -> &About {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs {
            seen: vec!["events".to_owned()],
            ..Needs::default()
        }
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::those(is_looked_at)
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        None
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let allowed = match Allowed::new(scene.intervals) {
            Ok(allowed) => allowed,
            Err(error) => {
                let mut case = self.case("", Vec::new());
                case.error = Some(error.to_string());
                return vec![case];
            }
        };
        let mut found: BTreeMap<&str, Vec<Finding>> = BTreeMap::new();
        for (event, times) in worst(scene, self.place, &allowed).into_values() {
            let namespace = event.locator.get("namespace").unwrap_or_default();
            let finding = Finding {
                subject: subject_of(&event.locator),
                severity: self.place.severity(),
                from: event.from,
                to: event.to,
                reason: event.message.reason.to_string(),
                message: format!(
                    "event happened {times} times, something is wrong: {} - reason/{} {}",
                    event.locator, event.message.reason, event.message.human
                ),
                seq: event.seq,
            };
            found.entry(namespace).or_default().push(finding);
        }
        if self.place == Where::Known {
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
    scene: &Scene<'a>,
    place: Where,
    allowed: &Allowed,
) -> BTreeMap<(kubereel_format::RecordedAt, String), (&'a Interval, u64)> {
    let is_upgrade = upgraded(scene);
    let etcd_revision = etcd_revision(scene.intervals);
    let mut worst: BTreeMap<String, (&Interval, u64)> = BTreeMap::new();
    for event in scene.intervals.all() {
        let times = times(&event.message);
        let namespace = event.locator.get("namespace").unwrap_or_default();
        let is_meant = times > MOST_TIMES && Where::of(namespace) == place;
        if !is_meant || is_installing(scene, event) {
            continue;
        }
        let run = Run {
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
fn upgraded(scene: &Scene<'_>) -> bool {
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
