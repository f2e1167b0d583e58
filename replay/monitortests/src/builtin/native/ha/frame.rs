//! What all checks of high availability share: the scope, the cases, the verdict, and how long
//! something was wrong.

use super::{placement, templates, workloads};
use crate::applies::{AppliesTo, ClusterKind, RuleClass};
use crate::feed::{Interest, WatchedEvent, Watcher};
use crate::interval_needs::IntervalNeeds;
use crate::known::{component_of_namespace, is_platform_namespace, known_namespaces};
use crate::verdict::{
    CaseGap, FindingSubject, JudgeContext, MonitorTest, MonitorTestInfo, Needs, Severity, TestCase,
    TestFinding, WrittenIn,
};
use kubereel_format::{RecordedAt, Seq};
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
pub(super) struct HaCheck {
    pub(super) id: &'static str,
    /// Of the JUnit name, what follows `ns/{namespace}`.
    pub(super) junit: &'static str,
    pub(super) description: &'static str,
    pub(super) class: RuleClass,
    /// The resources that it reads.
    pub(super) reads: &'static [&'static str],
    /// Whether it means nothing where there is one node.
    pub(super) wants_several_nodes: bool,
    /// The shortest time that makes a finding.
    pub(super) at_least_micros: i64,
    pub(super) watcher: Box<dyn HaWatcher>,
}

/// Someone who follows what is wrong.
pub(super) trait HaWatcher {
    /// Returns what it reads.
    fn interests(&self) -> Vec<Interest>;

    /// Takes what happened to an object, and says what is wrong from then on.
    fn seen(&mut self, seen: &WatchedEvent<'_>, spells: &mut HaProblems);
}

/// A check as a monitor test.
struct HaTest {
    about: MonitorTestInfo,
    check: HaCheck,
    spells: HaProblems,
}

impl Watcher for HaTest {
    fn interests(&self) -> Vec<Interest> {
        self.check.watcher.interests()
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        self.check.watcher.seen(seen, &mut self.spells);
    }
}

/// Returns all checks.
pub(crate) fn tests() -> Vec<Box<dyn MonitorTest>> {
    let mut checks = templates::checks();
    checks.extend([
        workloads::budget_check(),
        workloads::ready_check(),
        placement::spread_check(),
        placement::eviction_check(),
        placement::drain_check(),
    ]);
    checks.into_iter().map(test).collect()
}

fn test(check: HaCheck) -> Box<dyn MonitorTest> {
    let about = MonitorTestInfo {
        id: check.id.to_owned(),
        monitor: "ha-compliance".to_owned(),
        junit: check.junit.to_owned(),
        description: check.description.to_owned(),
        owner: OWNER.to_owned(),
        origin: ORIGIN.to_owned(),
        is_flake_only: true,
        is_informing: false,
        class: check.class,
        applies_to: AppliesTo {
            cluster: ClusterKind::OpenShift,
            except_topologies: if check.wants_several_nodes {
                vec!["SingleReplica".to_owned()]
            } else {
                Vec::new()
            },
            ..AppliesTo::default()
        },
        written_in: WrittenIn::Rust,
    };
    Box::new(HaTest {
        about,
        check,
        spells: HaProblems::default(),
    })
}

impl MonitorTest for HaTest {
    fn about(&self) -> &MonitorTestInfo {
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
            ..Needs::default()
        }
    }

    fn looks_at(&self) -> IntervalNeeds {
        IntervalNeeds::None
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        Some(self)
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        let mut by_namespace: BTreeMap<String, Vec<TestFinding>> = known_namespaces()
            .map(|namespace| (namespace.to_owned(), Vec::new()))
            .collect();
        let end = scene.intervals.end();
        for spell in self.spells.take() {
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
        let dark = self.dark(scene);
        by_namespace
            .into_iter()
            .map(|(namespace, findings)| TestCase {
                component: component_of_namespace(&namespace).map(str::to_owned),
                findings,
                dark: dark.clone(),
                group: BTreeMap::from([("namespace".to_owned(), namespace.clone())]),
                ..TestCase::named(self.about.junit.replace("{namespace}", &namespace))
            })
            .collect()
    }
}

impl HaTest {
    fn dark(&self, scene: &JudgeContext<'_>) -> Vec<CaseGap> {
        let mut dark = scene.gaps(self.check.reads.iter().copied());
        // What the cluster does not have was not missed.
        let missing = self.check.reads.iter().filter(|resource| {
            OPTIONAL.contains(resource) && scene.not_recorded.contains_key(**resource)
        });
        dark.extend(missing.map(|resource| CaseGap {
            from: scene.intervals.start(),
            to: scene.intervals.end(),
            why: format!("{resource} was not recorded"),
        }));
        dark.sort();
        dark.dedup();
        dark
    }
}

fn finding(spell: HaProblem, end: RecordedAt) -> TestFinding {
    let lasts = spell.to.unwrap_or(end).micros_since(spell.from);
    let told = spell.wrong.message;
    let message = if spell.to.is_none() {
        format!("{told}, up to the end")
    } else if lasts > 0 {
        format!("{told}, for {}", timetext::span(lasts.unsigned_abs()))
    } else {
        told
    };
    TestFinding {
        subject: spell.subject,
        severity: Severity::Flake,
        from: spell.from,
        to: spell.to,
        reason: spell.wrong.reason.to_owned(),
        message,
        seq: Some(spell.seq),
        shown_at: None,
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HaViolation {
    /// A word for programs.
    pub(super) reason: &'static str,
    /// For people, without times.
    pub(super) message: String,
}

/// Something that was wrong for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HaProblem {
    pub(super) subject: FindingSubject,
    pub(super) wrong: HaViolation,
    pub(super) from: RecordedAt,
    /// `None` while it lasts.
    pub(super) to: Option<RecordedAt>,
    pub(super) seq: Seq,
}

/// The spells of many subjects, at most one at a time of each.
#[derive(Debug, Default)]
pub(super) struct HaProblems {
    running: BTreeMap<FindingSubject, HaProblem>,
    over: Vec<HaProblem>,
}

impl HaProblems {
    /// Says how a subject is now.
    pub(super) fn say(
        &mut self,
        subject: &FindingSubject,
        at: RecordedAt,
        seq: Seq,
        wrong: Option<HaViolation>,
    ) {
        match (self.running.get_mut(subject), wrong) {
            // It stays wrong; what is wrong may change, and the first word stands.
            (Some(_), Some(_)) | (None, None) => {}
            (None, Some(wrong)) => {
                let spell = HaProblem {
                    subject: subject.clone(),
                    wrong,
                    from: at,
                    to: None,
                    seq,
                };
                self.running.insert(subject.clone(), spell);
            }
            (Some(_), None) => self.end(subject, at),
        }
    }

    /// Ends the problem of a subject that is gone.
    pub(super) fn end(&mut self, subject: &FindingSubject, at: RecordedAt) {
        if let Some(mut spell) = self.running.remove(subject) {
            spell.to = Some(at);
            self.over.push(spell);
        }
    }

    /// Adds what was wrong at one moment only.
    pub(super) fn instant(
        &mut self,
        subject: FindingSubject,
        at: RecordedAt,
        seq: Seq,
        wrong: HaViolation,
    ) {
        self.over.push(HaProblem {
            subject,
            wrong,
            from: at,
            to: Some(at),
            seq,
        });
    }

    /// Takes all spells, by their begin.
    pub(super) fn take(&mut self) -> Vec<HaProblem> {
        let mut all = std::mem::take(&mut self.over);
        all.extend(std::mem::take(&mut self.running).into_values());
        all.sort_by(|one, other| {
            (one.from, one.seq, &one.subject).cmp(&(other.from, other.seq, &other.subject))
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spell_lasts_from_the_first_word_to_the_last() {
        let at = RecordedAt::from_micros;
        let wrong = |message: &str| {
            Some(HaViolation {
                reason: "R",
                message: message.to_owned(),
            })
        };
        let subject = FindingSubject::default();
        let mut spells = HaProblems::default();
        spells.say(&subject, at(1), Seq(1), None);
        spells.say(&subject, at(2), Seq(2), wrong("a"));
        spells.say(&subject, at(3), Seq(3), wrong("b"));
        spells.say(&subject, at(4), Seq(4), None);
        spells.say(&subject, at(5), Seq(5), wrong("c"));
        let all = spells.take();
        let times: Vec<_> = all.iter().map(|spell| (spell.from, spell.to)).collect();
        assert_eq!(times, [(at(2), Some(at(4))), (at(5), None)]);
        assert_eq!(
            all.first().map(|spell| spell.wrong.message.as_str()),
            Some("a")
        );
    }
}
