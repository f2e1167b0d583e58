//! The problems as monitor tests: one for each kind of sign, for JUnit and for the exit code of a run.
//!
//! - All tests of a run share one reading of the reel: the first that begins owns the watcher, and the
//!   first that judges makes the list.
//! - A problem fails the rule of the sign that names it, and those of signs that outlast that one to the end.
//!   Its other signs, what another problem explains, and what upstream's rules judge with limits of their own
//!   only flake: they are shown, so that no rule passes over them. What was planned is no finding.

use crate::list::ProblemWatcher;
use crate::problem::{Problem, ProblemObject, ProblemSign};
use crate::sign::{ProblemClass, SignKind, SignRule};
use crate::words::shortened;
use kubereel_format::{RecordedAt, ResourceInfo};
use kubereel_history::{Timeline, harmless, timetext};
use kubereel_monitortests::{
    AppliesTo, CaseGap, ClusterKind, FactsOverTime, FindingSubject, Interest, IntervalNeeds,
    JudgeContext, MonitorTest, MonitorTestInfo, Needs, Phase, RuleClass, Severity, TestCase,
    TestFinding, WatchedEvent, Watcher, WrittenIn, builtin, is_platform_namespace,
};
use std::cell::RefCell;
use std::rc::Rc;

/// The name of the monitor test that the rules are of.
pub const PROBLEMS_MONITOR: &str = "problems";

/// The most letters of a reason, and of a message.
const MOST_REASON: usize = 120;
const MOST_MESSAGE: usize = 1_000;

/// A drain that a budget held for less, a release that was retrieved at last within it, and a shorter consequence of
/// what no rule judges fail nothing.
const SHORT_WAIT_MICROS: i64 = 10 * 60 * 1_000_000;

/// The rules that judge whether operators are available, and whether they are degraded.
const OPERATOR_RULES: [&str; 2] = ["operator-available", "operator-degraded"];

/// Returns every monitor test of the program, new: the built-in ones and those of the problems.
pub fn monitor_tests() -> Vec<Box<dyn MonitorTest>> {
    let mut tests = builtin();
    let all = tests.iter().map(|test| test.about());
    let operator_rules = all.filter(|about| OPERATOR_RULES.contains(&about.id.as_str()));
    let operator_rules: Rc<[MonitorTestInfo]> = operator_rules.cloned().collect();
    let shared = Rc::new(RefCell::new(SharedReading::Waiting));
    for &kind in SignKind::ALL {
        if let Some(rule) = kind.rule() {
            tests.push(Box::new(ProblemTest {
                kind,
                resources: rule.resources,
                about: about(kind, rule),
                shared: Rc::clone(&shared),
                operator_rules: Rc::clone(&operator_rules),
                watcher: None,
            }));
        }
    }
    tests
}

/// How far the common reading of a run is.
#[derive(Debug)]
enum SharedReading {
    /// No test watches.
    Waiting,
    /// A test of the run feeds the watcher.
    Reading(Box<ProblemWatcher>),
    /// The problems, in the order of their ranks.
    Done(Vec<Problem>),
}

/// The watcher of the test that feeds the common reading.
#[derive(Debug)]
struct SharedWatcher(Rc<RefCell<SharedReading>>);

impl Watcher for SharedWatcher {
    fn interests(&self) -> Vec<Interest> {
        match &*self.0.borrow() {
            SharedReading::Reading(watcher) => watcher.interests(),
            SharedReading::Waiting | SharedReading::Done(_) => Vec::new(),
        }
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        if let SharedReading::Reading(watcher) = &mut *self.0.borrow_mut() {
            watcher.seen(seen);
        }
    }
}

/// The monitor test of one kind of sign.
struct ProblemTest {
    kind: SignKind,
    resources: &'static [&'static str],
    about: MonitorTestInfo,
    shared: Rc<RefCell<SharedReading>>,
    /// The rules that judge operators.
    operator_rules: Rc<[MonitorTestInfo]>,
    watcher: Option<SharedWatcher>,
}

impl MonitorTest for ProblemTest {
    fn about(&self) -> &MonitorTestInfo {
        &self.about
    }

    fn in_words(&self) -> Vec<String> {
        let grace = self.kind.grace();
        let mut words = vec![
            "It fails for each problem of `kubereel problems` that a sign of this kind names."
                .to_owned(),
        ];
        if grace.starting.as_secs() > 0 {
            words.push(format!(
                "A sign is a problem after {} s, and after {} s on an object that was well before.",
                grace.starting.as_secs(),
                grace.was_well.as_secs()
            ));
        }
        words.push(
            "Other signs of a problem and consequences of another one flake; a planned disruption is no finding."
                .to_owned(),
        );
        words
    }

    fn needs(&self) -> Needs {
        let all = self.resources.iter().map(ToString::to_string);
        if self.is_any_enough() || self.is_any_telling() {
            return Needs {
                any_of: all.collect(),
                ..Needs::default()
            };
        }
        Needs {
            objects: all.take(1).collect(),
            ..Needs::default()
        }
    }

    fn looks_at(&self) -> IntervalNeeds {
        IntervalNeeds::None
    }

    fn begin(&mut self, timeline: &Timeline) {
        let mut shared = self.shared.borrow_mut();
        if matches!(*shared, SharedReading::Waiting) {
            *shared = SharedReading::Reading(Box::new(ProblemWatcher::new(timeline)));
            self.watcher = Some(SharedWatcher(Rc::clone(&self.shared)));
        }
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        let watcher = self.watcher.as_mut()?;
        Some(watcher)
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        let mut case = TestCase {
            junit: self.about.junit.clone(),
            ..TestCase::default()
        };
        let Some(cluster) = scene.cluster else {
            case.skipped = Some("a file of intervals has no objects".to_owned());
            return vec![case];
        };
        if scene.dark.is_empty() {
            case.skipped = Some("no resource was recorded".to_owned());
            return vec![case];
        }
        let timeline = cluster.timeline();
        let mut shared = self.shared.borrow_mut();
        let problems = match std::mem::replace(&mut *shared, SharedReading::Waiting) {
            SharedReading::Reading(watcher) => watcher.problems(timeline),
            SharedReading::Done(problems) => problems,
            SharedReading::Waiting => Vec::new(),
        };
        let judged = JudgedProblems {
            timeline,
            all: &problems,
            facts: scene.facts,
            operator_rules: &self.operator_rules,
        };
        case.findings = judged.findings(self.kind);
        *shared = SharedReading::Done(problems);
        if case.findings.is_empty() {
            case.skipped = self.why_not_known(scene);
            case.dark = self.gaps(scene);
        }
        vec![case]
    }
}

impl ProblemTest {
    /// Returns whether one of its resources is enough to say that nothing is wrong.
    const fn is_any_enough(&self) -> bool {
        matches!(self.kind, SignKind::Unavailable | SignKind::ReplicasMissing)
    }

    /// Returns whether each of its resources can show that something is wrong.
    const fn is_any_telling(&self) -> bool {
        matches!(self.kind, SignKind::Volume | SignKind::LeaderFlapping)
    }

    /// Returns why it cannot say that nothing is wrong: what it found in another resource would be a finding all the
    /// same.
    fn why_not_known(&self, scene: &JudgeContext<'_>) -> Option<String> {
        let first = self.resources.first().filter(|_| !self.is_any_enough());
        first.and_then(|first| scene.why_missing(first))
    }

    /// Returns the times in which a problem could have been missed. What any object can show is not
    /// seen where any resource was not.
    fn gaps(&self, scene: &JudgeContext<'_>) -> Vec<CaseGap> {
        let watched = scene.dark.iter().filter(|(resource, _)| {
            if self.resources.is_empty() {
                let plural = resource.split('.').next().unwrap_or_default();
                !matches!(plural, "events" | "leases")
            } else {
                self.resources.contains(&resource.as_str())
            }
        });
        watched.flat_map(|(_, gaps)| gaps.iter().cloned()).collect()
    }
}

/// The problems of a reel, to make findings of.
struct JudgedProblems<'a> {
    timeline: &'a Timeline,
    all: &'a [Problem],
    facts: &'a FactsOverTime,
    operator_rules: &'a [MonitorTestInfo],
}

impl JudgedProblems<'_> {
    /// Makes a finding of each problem that the kind names, and of each that has such a sign besides.
    fn findings(&self, kind: SignKind) -> Vec<TestFinding> {
        let unplanned = self.all.iter().filter(|problem| !problem.is_planned);
        unplanned
            .filter_map(|problem| {
                if problem.kind == kind {
                    return Some(self.of_problem(problem));
                }
                let own = problem.signs.iter().filter(|sign| sign.kind == kind);
                // One that is still there tells more than one that is over.
                let sign = own.min_by_key(|sign| sign.to.is_some())?;
                Some(self.of_sign(problem, sign))
            })
            .collect()
    }

    /// Returns how much a sign of a kind counts that a problem shows.
    fn severity(&self, problem: &Problem, kind: SignKind) -> Severity {
        let by = problem.consequence_of.and_then(|by| self.all.get(by));
        let is_lenient = by.is_some_and(|by| self.is_judged(by) || is_short(problem))
            || self.facts.is_openshift() && is_judged_upstream(problem, kind)
            || is_short_wait(problem)
            || is_slow_update(problem);
        if is_lenient {
            Severity::Flake
        } else {
            Severity::Fail
        }
    }

    /// Returns whether a rule judges what explains another problem. Upstream's rules judge no operator of a single Node,
    /// and none before the installation is complete.
    fn is_judged(&self, by: &Problem) -> bool {
        let rule = match by.kind {
            SignKind::OperatorUnavailable => OPERATOR_RULES[0],
            SignKind::OperatorDegraded => OPERATOR_RULES[1],
            _ => return true,
        };
        let mut rules = self.operator_rules.iter().filter(|about| about.id == rule);
        let until = by.to.unwrap_or(self.timeline.end());
        rules.any(|about| about.judges(self.facts))
            && self.facts.phase(until) != Some(Phase::Install)
    }

    fn of_problem(&self, problem: &Problem) -> TestFinding {
        TestFinding {
            subject: self.subject(
                &problem.object,
                problem.signs.iter().map(|sign| &sign.object),
            ),
            severity: self.severity(problem, problem.kind),
            from: problem.kind_from.at,
            to: problem.kind_to,
            reason: problem.reason.clone(),
            message: self.message(problem),
            seq: Some(problem.kind_from.seq),
            shown_at: None,
        }
    }

    /// Makes a finding of a sign beside the one that names its problem, which is judged by that one unless the
    /// naming one is over and this one is not.
    fn of_sign(&self, problem: &Problem, sign: &ProblemSign) -> TestFinding {
        let mut parts = vec![shortened(&sign.message, MOST_MESSAGE)];
        if sign.object != problem.object {
            parts.push(format!("shown by {}", harmless(&sign.object.label())));
        }
        let reason = shortened(&problem.reason, MOST_REASON);
        parts.push(format!("part of the problem {reason}"));
        parts.retain(|part| !part.is_empty());
        TestFinding {
            subject: self.subject(&problem.object, std::iter::once(&sign.object)),
            severity: if sign.to.is_none() && problem.kind_to.is_some() {
                self.severity(problem, sign.kind)
            } else {
                Severity::Flake
            },
            from: sign.from.at,
            to: sign.to,
            reason: sign.reason.clone(),
            message: parts.join("; "),
            seq: Some(sign.from.seq),
            shown_at: None,
        }
    }

    /// Returns what a finding is about: an object of the reel. Where the reel does not have the topmost one, a
    /// `ReplicaSet` of a capture of Pods, it is an object that showed the problem; readers find a problem again by it.
    fn subject<'b>(
        &self,
        topmost: &'b ProblemObject,
        mut shown: impl Iterator<Item = &'b ProblemObject>,
    ) -> FindingSubject {
        let object = match topmost.resource {
            Some(_) => topmost,
            None => shown
                .find(|object| object.resource.is_some())
                .unwrap_or(topmost),
        };
        let infos = self.timeline.resources().iter();
        let info = infos
            .into_iter()
            .find(|info| Some(info.id) == object.resource);
        FindingSubject {
            resource: info.map_or_else(String::new, ResourceInfo::qualified),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            ..FindingSubject::default()
        }
    }

    fn message(&self, problem: &Problem) -> String {
        let mut parts = vec![shortened(&problem.message, MOST_MESSAGE)];
        if problem.count > 1 {
            parts.push(format!("{} times", problem.count));
        }
        if problem.object.resource.is_none() && !problem.object.name.is_empty() {
            parts.push(format!("of {}", harmless(&problem.object.label())));
        }
        let later = problem.later_reason();
        if let Some(mark) = later.filter(|mark| mark.at > problem.kind_from.at) {
            parts.push(format!(
                "{} since {}",
                shortened(&problem.reason, MOST_REASON),
                timetext::rfc3339(mark.at)
            ));
        }
        let open = problem.unknown_end.filter(|_| problem.kind_to.is_none());
        parts.extend(open.map(|open| {
            let since = timetext::rfc3339(open.since());
            format!(
                "whether it ended is not known, {} since {since}",
                open.as_str()
            )
        }));
        let by = problem.consequence_of.and_then(|by| self.all.get(by));
        parts.extend(by.map(|by| {
            let label = by.object.label();
            format!("{} {}", problem.consequence_words(), harmless(&label))
        }));
        parts.extend(problem.causes.first().map(|cause| {
            let at = timetext::rfc3339(cause.at.at);
            format!("possible cause: {at} {}", cause.words())
        }));
        parts.retain(|part| !part.is_empty());
        parts.join("; ")
    }
}

/// Returns whether something that is there to make others wait, or is tried again, soon let them go
/// on.
fn is_short_wait(problem: &Problem) -> bool {
    matches!(
        problem.kind,
        SignKind::DrainHeld | SignKind::ReleaseNotAccepted
    ) && is_short(problem)
}

/// Returns whether the cluster version operator suspected of a slow operator that the update does not go on, and it did.
/// Upstream's rule passes over that.
fn is_slow_update(problem: &Problem) -> bool {
    problem.kind == SignKind::VersionFailing
        && problem.reason == "SlowClusterOperator"
        && problem.to.is_some()
}

/// Returns whether a problem was over soon.
fn is_short(problem: &Problem) -> bool {
    let is_short = |to: RecordedAt| to.micros_since(problem.from.at) < SHORT_WAIT_MICROS;
    problem.to.is_some_and(is_short)
}

/// Returns whether upstream has rules for such a problem of an OpenShift cluster: theirs is the
/// verdict.
fn is_judged_upstream(problem: &Problem, kind: SignKind) -> bool {
    match kind {
        SignKind::OutOfMemory
        | SignKind::ImagePull
        | SignKind::ContainerConfig
        | SignKind::ContainerStart
        | SignKind::ContainerExit
        | SignKind::Sandbox
        | SignKind::Probe
        | SignKind::Events => is_platform_namespace(&problem.object.namespace),
        SignKind::NodeNotReady | SignKind::NodePressure => true,
        _ => false,
    }
}

fn about(kind: SignKind, rule: &SignRule) -> MonitorTestInfo {
    let class = match kind.class() {
        ProblemClass::Fault => RuleClass::Fault,
        ProblemClass::Disruption => RuleClass::Disruption,
        ProblemClass::Upgrade => RuleClass::Upgrade,
    };
    MonitorTestInfo {
        id: rule.id.to_owned(),
        monitor: PROBLEMS_MONITOR.to_owned(),
        junit: rule.junit.to_owned(),
        description: format!("No problem is of the kind {}.", kind.as_str()),
        owner: "kubereel".to_owned(),
        origin: "docs/problems.md".to_owned(),
        is_flake_only: kind == SignKind::Events,
        is_informing: false,
        class,
        applies_to: AppliesTo {
            cluster: match class {
                RuleClass::Upgrade => ClusterKind::OpenShift,
                _ => ClusterKind::Any,
            },
            ..AppliesTo::default()
        },
        written_in: WrittenIn::Rust,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_kind_is_judged_by_one_rule_with_an_id_of_its_own() {
        let all = monitor_tests();
        let ids: BTreeSet<&str> = all.iter().map(|test| test.about().id.as_str()).collect();
        assert_eq!(ids.len(), all.len(), "ids are unique");
        let own = all
            .iter()
            .filter(|test| test.about().monitor == PROBLEMS_MONITOR);
        assert_eq!(own.count(), SignKind::ALL.len() - 2);
        assert!(SignKind::ALL.is_sorted_by(|one, next| one < next));
        assert_eq!(SignKind::ALL.last(), Some(&SignKind::ApiOutage));
    }
}
