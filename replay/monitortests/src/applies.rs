//! To which clusters a rule applies, and what it is about: the one reading of `class` and `appliesTo`.
//!
//! Upstream adds tests release by release. A recording of an older cluster is not judged by them: below
//! the release of a rule, the rule is left out or only flakes, as the rule says. A rule that does not
//! apply has no case: it is counted, with the reason. Where the recording does not tell what a rule must
//! know of the cluster, the rule is not judged either, and the reason says so.

use crate::facts::{FactsOverTime, NETWORKS, PLATFORMS, TOPOLOGIES, short_words};
use crate::release::Release;
use crate::yaml::known_words;
use kubereel_format::worded;
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::sync::LazyLock;

worded! {
/// What a rule is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleClass {
    /// Something broke: a crash, an operator that is degraded, a node that is not ready.
    #[default]
    Fault = "fault",
    /// A service was not available, or ended without grace.
    Disruption = "disruption",
    /// An installation or an upgrade did not go as it must.
    Upgrade = "upgrade",
    /// How objects are written: probes, replicas, annotations, service accounts. Nothing broke.
    Policy = "policy",
}
}

impl RuleClass {
    /// Every class, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Fault, Self::Disruption, Self::Upgrade, Self::Policy];

    /// The classes about what happened: those that a run follows unless others are chosen.
    pub const RUNTIME: [Self; 3] = [Self::Fault, Self::Disruption, Self::Upgrade];

    /// Returns what the class is about, for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Fault => "something broke",
            Self::Disruption => "a service was not available, or ended without grace",
            Self::Upgrade => "an installation or an upgrade did not go as it must",
            Self::Policy => "how objects are written, although nothing broke",
        }
    }
}

/// On which clusters a rule is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClusterKind {
    /// On any.
    #[default]
    Any,
    /// On OpenShift clusters.
    OpenShift,
}

/// What becomes of a rule on a release before its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BelowRelease {
    /// It is left out.
    #[default]
    LeaveOut,
    /// Its findings only flake.
    Flake,
}

/// To which clusters a rule applies. The default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AppliesTo {
    /// The kind of cluster. Releases are those of OpenShift: they bound nothing on other clusters.
    pub cluster: ClusterKind,
    /// The first release with this rule.
    pub since: Option<Release>,
    /// What becomes of the rule before it.
    pub below: BelowRelease,
    /// The first release on which findings fail; before it they flake. For rules of the class policy
    /// the lowest version of the cluster's history counts: what an older release wrote stays.
    pub fails_since: Option<Release>,
    /// Topologies of the control plane on which the rule means nothing.
    #[serde(deserialize_with = "topologies")]
    pub except_topologies: Vec<String>,
    /// The platforms; any if empty.
    #[serde(deserialize_with = "platforms")]
    pub platforms: Vec<String>,
    /// The kinds of pod network, `ovn` or `sdn`; any if empty.
    #[serde(deserialize_with = "networks")]
    pub networks: Vec<String>,
    /// Resources, `plural` or `plural.group`, without which the rule means nothing.
    pub resources: Vec<String>,
}

pub(crate) static PLATFORM_WORDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| short_words(&PLATFORMS));
static NETWORK_WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| short_words(&NETWORKS));

fn topologies<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    known_words(from, &TOPOLOGIES)
}

fn platforms<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    known_words(from, &PLATFORM_WORDS)
}

fn networks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    known_words(from, &NETWORK_WORDS)
}

/// Why a rule is left out of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inapplicability {
    /// It is a rule for OpenShift.
    OtherCluster,
    /// It is a rule of a later release.
    LaterRelease(Release),
    /// It means nothing on a cluster with this topology, platform or network.
    OtherEnvironment(String),
    /// The cluster does not have these resources.
    NoResource(Vec<String>),
    /// It depends on the release, which the recording does not tell.
    ReleaseUnknown(Release),
    /// It depends on a fact of the cluster that the recording does not tell.
    FactUnknown(&'static str),
}

impl Inapplicability {
    /// Returns whether the rule may apply: the recording does not tell.
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Self::ReleaseUnknown(_) | Self::FactUnknown(_))
    }

    /// Returns the word that programs read.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::OtherCluster => "other-cluster",
            Self::LaterRelease(_) => "later-release",
            Self::OtherEnvironment(_) => "other-environment",
            Self::NoResource(_) => "no-such-resource",
            Self::ReleaseUnknown(_) => "release-unknown",
            Self::FactUnknown(_) => "fact-unknown",
        }
    }
}

impl fmt::Display for Inapplicability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherCluster => out.write_str("it is a rule for OpenShift"),
            Self::LaterRelease(since) => write!(out, "it is a rule since OpenShift {since}"),
            Self::OtherEnvironment(fact) => write!(out, "it does not apply to {fact}"),
            Self::NoResource(resources) => {
                write!(out, "the cluster has no {}", resources.join(" and no "))
            }
            Self::ReleaseUnknown(since) => write!(
                out,
                "it is a rule since OpenShift {since}, and the release is not known"
            ),
            Self::FactUnknown(fact) => write!(out, "the {fact} of the cluster is not known"),
        }
    }
}

/// What a rule does on a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Applicability {
    /// It is judged as it is written.
    Full,
    /// It is judged, and its findings only flake.
    FlakeOnly,
    /// It is left out.
    None(Inapplicability),
}

impl AppliesTo {
    /// Returns what a rule of a class does on a cluster; `is_served` tells whether the cluster has a
    /// resource.
    pub(crate) fn on(
        &self,
        class: RuleClass,
        cluster: &FactsOverTime,
        is_served: impl Fn(&str) -> bool,
    ) -> Applicability {
        if self.cluster == ClusterKind::OpenShift && !cluster.is_openshift() {
            return Applicability::None(Inapplicability::OtherCluster);
        }
        if let Some(why) = self.other_environment(cluster) {
            return Applicability::None(why);
        }
        let missing = self.resources.iter().filter(|name| !is_served(name));
        let missing: Vec<String> = missing.cloned().collect();
        if !missing.is_empty() {
            return Applicability::None(Inapplicability::NoResource(missing));
        }
        if cluster.is_openshift() {
            self.on_release(class, cluster)
        } else {
            Applicability::Full
        }
    }

    fn on_release(&self, class: RuleClass, cluster: &FactsOverTime) -> Applicability {
        let release = cluster.release();
        if let Some(since) = self.since {
            let is_below = release.is_none_or(|release| release < since);
            match (is_below, self.below, release) {
                (false, _, _) => {}
                (true, BelowRelease::Flake, _) => return Applicability::FlakeOnly,
                (true, BelowRelease::LeaveOut, Some(_)) => {
                    return Applicability::None(Inapplicability::LaterRelease(since));
                }
                (true, BelowRelease::LeaveOut, None) => {
                    return Applicability::None(Inapplicability::ReleaseUnknown(since));
                }
            }
        }
        let counted = match class {
            RuleClass::Policy => cluster.lowest_release(),
            _ => release,
        };
        match self.fails_since {
            Some(since) if counted.is_none_or(|release| release < since) => {
                Applicability::FlakeOnly
            }
            _ => Applicability::Full,
        }
    }

    fn other_environment(&self, cluster: &FactsOverTime) -> Option<Inapplicability> {
        let facts = cluster.last();
        if !self.except_topologies.is_empty() {
            match &facts.topology {
                Some(topology) if self.except_topologies.contains(topology) => {
                    return Some(Inapplicability::OtherEnvironment(topology.clone()));
                }
                Some(_) => {}
                // Two nodes of the control plane say as much: it is not a single one, nor elsewhere.
                None if facts.masters.is_some_and(|masters| masters > 1) => {}
                None => return Some(Inapplicability::FactUnknown("topology")),
            }
        }
        let wanted = [
            ("platform", &self.platforms, &facts.platform),
            ("network", &self.networks, &facts.network),
        ];
        wanted.into_iter().find_map(|(name, wanted, fact)| {
            if wanted.is_empty() {
                return None;
            }
            match fact {
                None => Some(Inapplicability::FactUnknown(name)),
                Some(fact) if wanted.contains(fact) => None,
                Some(fact) => Some(Inapplicability::OtherEnvironment(fact.clone())),
            }
        })
    }

    /// Describes it, a sentence each; nothing for what applies to all clusters.
    pub(crate) fn in_words(&self, class: RuleClass) -> Vec<String> {
        let mut words = Vec::new();
        if self.cluster == ClusterKind::OpenShift {
            words.push("It applies to OpenShift clusters.".to_owned());
        }
        if let Some(since) = self.since {
            words.push(match self.below {
                BelowRelease::LeaveOut => {
                    format!("It is a rule since OpenShift {since}; before, it is left out.")
                }
                BelowRelease::Flake => {
                    format!(
                        "It is a rule since OpenShift {since}; before, its findings only flake."
                    )
                }
            });
        }
        if let Some(since) = self.fails_since {
            let counted = match class {
                RuleClass::Policy => " by the lowest version of the cluster's history",
                _ => "",
            };
            words.push(format!(
                "Its findings fail since OpenShift {since}{counted}; before, they only flake."
            ));
        }
        let listed = [
            ("It does not apply to the topology", &self.except_topologies),
            ("It applies to the platform", &self.platforms),
            ("It applies to the pod network", &self.networks),
            ("It applies to clusters that have", &self.resources),
        ];
        words.extend(
            listed
                .into_iter()
                .filter(|(_, values)| !values.is_empty())
                .map(|(words, values)| format!("{words} {}.", values.join(" or "))),
        );
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;
    use kubereel_format::RecordedAt;

    fn cluster(history: &[&str], facts: Facts) -> FactsOverTime {
        let history: Vec<String> = history.iter().map(ToString::to_string).collect();
        let facts = Facts {
            version: history.first().cloned(),
            history,
            ..facts
        };
        FactsOverTime {
            steps: vec![(RecordedAt::default(), facts)],
            is_openshift: true,
            ..FactsOverTime::default()
        }
    }

    fn applies(text: &str) -> AppliesTo {
        serde_saphyr::from_str(text).expect(text)
    }

    fn on(applies: &AppliesTo, class: RuleClass, cluster: &FactsOverTime) -> Applicability {
        applies.on(class, cluster, |name| name == "pods")
    }

    #[test]
    fn below_its_release_a_rule_is_left_out_or_flakes() {
        let old = cluster(&["4.8.3"], Facts::default());
        let now = cluster(&["4.19.0"], Facts::default());
        let unknown = cluster(&[], Facts::default());
        let fault = RuleClass::Fault;
        let strict = applies("{since: \"4.16\"}");
        let release = Release::of("4.16").expect("a release");
        assert_eq!(
            on(&strict, fault, &old),
            Applicability::None(Inapplicability::LaterRelease(release))
        );
        assert_eq!(on(&strict, fault, &now), Applicability::Full);
        assert_eq!(
            on(&strict, fault, &unknown),
            Applicability::None(Inapplicability::ReleaseUnknown(release))
        );
        let soft = applies("{since: \"4.16\", below: flake}");
        assert_eq!(on(&soft, fault, &old), Applicability::FlakeOnly);
        assert_eq!(on(&soft, fault, &unknown), Applicability::FlakeOnly);
        assert_eq!(on(&soft, fault, &now), Applicability::Full);
        let two = applies("{since: \"4.8\", failsSince: \"4.20\"}");
        assert_eq!(on(&two, fault, &old), Applicability::FlakeOnly);
        assert_eq!(on(&two, fault, &now), Applicability::FlakeOnly);
        let none = applies("{}");
        assert_eq!(on(&none, fault, &unknown), Applicability::Full);
    }

    #[test]
    fn what_an_older_release_wrote_fails_no_rule_about_how_objects_are_written() {
        let upgraded = cluster(&["4.19.2", "4.18.1", "4.15.9"], Facts::default());
        let rule = applies("{since: \"4.16\", failsSince: \"4.16\"}");
        assert_eq!(
            on(&rule, RuleClass::Policy, &upgraded),
            Applicability::FlakeOnly
        );
        assert_eq!(on(&rule, RuleClass::Fault, &upgraded), Applicability::Full);
    }

    #[test]
    fn a_rule_for_openshift_is_for_openshift_alone_and_releases_bound_nothing_elsewhere() {
        let kind = FactsOverTime::default();
        let rule = applies("{cluster: openshift}");
        assert_eq!(
            on(&rule, RuleClass::Fault, &kind),
            Applicability::None(Inapplicability::OtherCluster)
        );
        let rule = applies("{since: \"4.16\"}");
        assert_eq!(on(&rule, RuleClass::Fault, &kind), Applicability::Full);
    }

    #[test]
    fn topology_network_and_resources_are_asked_for() {
        let topology = |topology: Option<&str>, masters| Facts {
            topology: topology.map(str::to_owned),
            masters,
            network: Some("sdn".to_owned()),
            ..Facts::default()
        };
        let rule = applies("{exceptTopologies: [SingleReplica]}");
        let class = RuleClass::Fault;
        for (facts, expected) in [
            (topology(Some("HighlyAvailable"), None), Applicability::Full),
            (topology(None, Some(3)), Applicability::Full),
            (
                topology(None, Some(1)),
                Applicability::None(Inapplicability::FactUnknown("topology")),
            ),
            (
                topology(Some("SingleReplica"), None),
                Applicability::None(Inapplicability::OtherEnvironment(
                    "SingleReplica".to_owned(),
                )),
            ),
        ] {
            assert_eq!(on(&rule, class, &cluster(&["4.20.1"], facts)), expected);
        }
        let sdn = cluster(&["4.9.1"], topology(None, None));
        assert_eq!(
            on(&applies("{networks: [ovn]}"), class, &sdn).clone(),
            Applicability::None(Inapplicability::OtherEnvironment("sdn".to_owned()))
        );
        assert_eq!(
            on(&applies("{platforms: [aws]}"), class, &sdn),
            Applicability::None(Inapplicability::FactUnknown("platform"))
        );
        let rule = applies("{resources: [pods, gadgets.example.io]}");
        let missing = vec!["gadgets.example.io".to_owned()];
        assert_eq!(
            on(&rule, class, &sdn),
            Applicability::None(Inapplicability::NoResource(missing))
        );
    }
}
