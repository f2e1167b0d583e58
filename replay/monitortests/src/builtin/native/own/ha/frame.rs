//! Owns what all checks share: the scope, the cases, the verdict. Refuses to watch: each check does.

use super::spells::{Spell, Spells};
use super::{budgets, drains, evictions, ready, spread, templates};
use crate::feed::Watcher;
use crate::known::{component_of_namespace, is_platform_namespace, known_namespaces};
use crate::verdict::{
    About, Case, Dark, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, WrittenIn,
};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::collections::BTreeMap;

/// Who answers for these checks upstream.
const OWNER: &str = "openshift/enhancements";
/// What a cluster may do without: where these were not recorded, the others are judged all the same, but
/// nothing passes.
const OPTIONAL: [&str; 2] = ["statefulsets.apps", "daemonsets.apps"];
const ORIGIN: &str =
    "openshift/enhancements CONVENTIONS.md, High Availability; openshift/enhancements PR 1932";

/// A check: what it says of itself, and who watches.
pub(super) struct Check {
    pub(super) id: &'static str,
    /// Of the JUnit name, what follows `ns/{namespace}`.
    pub(super) junit: &'static str,
    pub(super) description: &'static str,
    /// The resources that it reads.
    pub(super) reads: &'static [&'static str],
    /// Whether it means nothing where there is one node.
    pub(super) wants_several_nodes: bool,
    /// Shorter spells are no findings.
    pub(super) at_least_micros: i64,
    pub(super) watcher: Box<dyn Follows>,
}

/// Someone who follows what is wrong.
pub(super) trait Follows: Watcher {
    /// Gives what was wrong.
    fn spells(&mut self) -> &mut Spells;

    /// Gives itself as a watcher.
    fn watcher(&mut self) -> &mut dyn Watcher;
}

/// A check as a monitortest.
struct HaTest {
    about: About,
    check: Check,
}

/// Gives all checks.
pub(crate) fn tests() -> Vec<Box<dyn MonitorTest>> {
    let mut checks = templates::checks();
    checks.extend([
        budgets::check(),
        ready::check(),
        spread::check(),
        evictions::check(),
        drains::check(),
    ]);
    checks.into_iter().map(test).collect()
}

fn test(check: Check) -> Box<dyn MonitorTest> {
    let about = About {
        id: check.id.to_owned(),
        monitor: "ha-compliance".to_owned(),
        junit: check.junit.to_owned(),
        description: check.description.to_owned(),
        owner: OWNER.to_owned(),
        origin: ORIGIN.to_owned(),
        is_flake_only: true,
        written_in: WrittenIn::Rust,
    };
    Box::new(HaTest { about, check })
}

impl MonitorTest for HaTest {
    fn about(&self) -> &About {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs {
            objects: self
                .check
                .reads
                .iter()
                .filter(|resource| !OPTIONAL.contains(resource))
                .map(ToString::to_string)
                .collect(),
            seen: Vec::new(),
            facts: self.check.wants_several_nodes,
        }
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::None
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        Some(self.check.watcher.watcher())
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let mut by_namespace: BTreeMap<String, Vec<Finding>> = known_namespaces()
            .map(|namespace| (namespace.to_owned(), Vec::new()))
            .collect();
        let end = scene.intervals.end();
        for spell in self.check.watcher.spells().take() {
            let lasts = spell.to.unwrap_or(end).micros_since(spell.from);
            let namespace = &spell.subject.namespace;
            if lasts < self.check.at_least_micros || !is_platform_namespace(namespace) {
                continue;
            }
            by_namespace
                .entry(namespace.clone())
                .or_default()
                .push(finding(spell, end));
        }
        let skipped = self.skipped(scene);
        let dark = self.dark(scene);
        by_namespace
            .into_iter()
            .map(|(namespace, findings)| Case {
                junit: self.about.junit.replace("{namespace}", &namespace),
                component: component_of_namespace(&namespace).map(str::to_owned),
                findings: if skipped.is_some() {
                    Vec::new()
                } else {
                    findings
                },
                dark: dark.clone(),
                skipped: skipped.clone(),
                error: None,
                group: BTreeMap::from([("namespace".to_owned(), namespace)]),
            })
            .collect()
    }
}

impl HaTest {
    fn skipped(&self, scene: &Scene<'_>) -> Option<String> {
        if !self.check.wants_several_nodes {
            return None;
        }
        match scene.facts.last().topology.as_deref() {
            None => Some("nothing told the topology of the control plane".to_owned()),
            Some("SingleReplica") => Some("there is one node".to_owned()),
            Some(_) => None,
        }
    }

    fn dark(&self, scene: &Scene<'_>) -> Vec<Dark> {
        let mut dark: Vec<Dark> = self
            .check
            .reads
            .iter()
            .filter_map(|resource| scene.dark.get(*resource))
            .flatten()
            .cloned()
            .collect();
        let missing =
            self.check.reads.iter().filter(|resource| {
                OPTIONAL.contains(resource) && !scene.dark.contains_key(**resource)
            });
        dark.extend(missing.map(|resource| Dark {
            from: scene.intervals.start(),
            to: scene.intervals.end(),
            why: format!("{resource}: nothing of it was recorded"),
        }));
        dark.sort();
        dark.dedup();
        dark
    }
}

fn finding(spell: Spell, end: RecordedAt) -> Finding {
    let lasts = spell.to.unwrap_or(end).micros_since(spell.from);
    let told = spell.wrong.message;
    let message = if spell.to.is_none() {
        format!("{told}, up to the end")
    } else if lasts > 0 {
        format!("{told}, for {}", timetext::span(lasts.unsigned_abs()))
    } else {
        told
    };
    Finding {
        subject: spell.subject,
        severity: Severity::Flake,
        from: spell.from,
        to: spell.to,
        reason: spell.wrong.reason.to_owned(),
        message,
        seq: Some(spell.seq),
    }
}
