//! Owns which Events may repeat: the list of `allowed.yaml`, its regular expressions made ready.
//! Refuses to look at a run beyond what an entry asks for.

use super::within::{Shadow, Within};
use crate::interval::{Interval, Intervals};
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use thiserror::Error;

const LIST: &str = include_str!("allowed.yaml");

/// Why the list of what may repeat cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum AllowedError {
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
struct Written {
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
    during: Option<During>,
    #[serde(default)]
    within: Vec<Shadow>,
    #[expect(dead_code, reason = "says to people where it is worked on")]
    jira: Option<String>,
}

/// What a run must have done for an entry to count.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum During {
    /// An upgrade.
    Upgrade,
}

/// What is known of a run that entries ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run<'a> {
    /// The topology of the control plane when the Event was told.
    pub(crate) topology: Option<&'a str>,
    /// Whether the run upgraded.
    pub(crate) is_upgrade: bool,
    /// The highest revision that etcd's static Pods reached, if an Event told one.
    pub(crate) etcd_revision: Option<u64>,
}

/// An entry, ready to be asked.
#[derive(Debug)]
struct Entry {
    name: String,
    keys: Vec<(String, Regex)>,
    reason: Option<Regex>,
    message: Option<Regex>,
    at_most: Option<u64>,
    at_most_per_etcd_revision: Option<u64>,
    topology: Option<String>,
    during: Option<During>,
    within: Option<Within>,
}

/// The list, ready to be asked.
#[derive(Debug)]
pub(crate) struct Allowed(Vec<Entry>);

impl Allowed {
    /// Reads the list and finds the intervals of a run that its entries speak of.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub(crate) fn new(intervals: &Intervals) -> Result<Self, AllowedError> {
        let written: Vec<Written> =
            serde_saphyr::from_str(LIST).map_err(|source| AllowedError::Yaml { source })?;
        let entries = written
            .into_iter()
            .map(|written| Entry::new(written, intervals));
        entries.collect::<Result<_, _>>().map(Self)
    }

    /// Gives the name of the first entry that lets an Event repeat as often as it did.
    pub(crate) fn by(&self, event: &Interval, times: u64, run: Run<'_>) -> Option<&str> {
        let found = self.0.iter().find(|entry| entry.allows(event, times, run));
        found.map(|entry| entry.name.as_str())
    }
}

impl Entry {
    fn new(written: Written, intervals: &Intervals) -> Result<Self, AllowedError> {
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
            Some(Within::new(&written.within, intervals, &pattern)?)
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

    fn allows(&self, event: &Interval, times: u64, run: Run<'_>) -> bool {
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

    fn nothing() -> Allowed {
        let none = Intervals::new(Vec::new(), RecordedAt::default(), RecordedAt::default());
        Allowed::new(&none).expect("the list can be read")
    }

    fn asked<'a>(allowed: &'a Allowed, event: &Interval, times: u64) -> Option<&'a str> {
        allowed.by(event, times, Run::default())
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
        let written: Vec<Written> = serde_saphyr::from_str(LIST).expect("the list can be read");
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
        let upgrade = Run {
            is_upgrade: true,
            ..Run::default()
        };
        assert_eq!(allowed.by(&probe, 40, Run::default()), None);
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
        let two = Run {
            topology: Some("DualReplica"),
            ..Run::default()
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
        let third = Run {
            etcd_revision: Some(3),
            ..Run::default()
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
        let allowed = Allowed::new(&run).expect("the list can be read");
        let name = Some("DeferringOperatorNodeUpdateTooOften");
        for (secs, expected) in [(880, None), (881, name), (1_219, name), (1_220, None)] {
            let event = event(&[("node", "m0")], "DeferringOperatorNodeUpdate", "x", secs);
            assert_eq!(asked(&allowed, &event, 30), expected, "{secs}");
        }
    }
}
