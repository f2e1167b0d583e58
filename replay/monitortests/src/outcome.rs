//! The verdict on each case, from its findings, the exceptions and what was not observed.

use crate::exception::{ExceptionState, Excuse};
use crate::verdict::{CaseGap, MonitorTestInfo, Severity, TestCase, TestFinding};
use kubereel_format::{RecordedAt, worded};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A case with its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseOutcome {
    /// The rule.
    pub about: Arc<MonitorTestInfo>,
    /// The whole name in JUnit.
    pub name: String,
    /// The component that answers for it, where one is known.
    pub component: Option<String>,
    /// What the case is for, such as `operator` or `namespace`.
    pub group: BTreeMap<String, String>,
    /// The outcome.
    pub verdict: CaseVerdict,
    /// What was found wrong, in order of time.
    pub findings: Vec<JudgedFinding>,
    /// The number of objects beyond the limit, which may have been wrong and were not judged.
    pub not_kept: u64,
    /// Where nothing could be seen.
    pub dark: Vec<CaseGap>,
    /// Why it was skipped or could not be evaluated.
    pub why: Option<String>,
}

impl CaseOutcome {
    /// Keeps why a case is unknown, and not when: for a recording without a time.
    pub(crate) fn forget_times(&mut self) {
        let mut dark = std::mem::take(&mut self.dark).into_iter();
        self.why = self.why.take().or_else(|| dark.next().map(|dark| dark.why));
    }

    /// Returns what makes the case fail, or else what makes it flake.
    pub fn evidence(&self) -> impl Iterator<Item = &JudgedFinding> {
        let is_failed = self.verdict == CaseVerdict::Fail;
        self.findings
            .iter()
            .filter(move |judged| !is_failed || judged.is_failure())
    }

    /// Says how many objects were found and not judged; `None` if all were judged.
    pub fn not_kept_words(&self) -> Option<String> {
        let some = self.not_kept;
        (some > 0).then(|| format!("{some} more objects were found and not kept"))
    }
}

/// Decides a case; `excuse` knows the exceptions.
pub(crate) fn outcome(
    about: &Arc<MonitorTestInfo>,
    case: TestCase,
    mut excuse: impl FnMut(&TestCase, &TestFinding) -> Option<Excuse>,
) -> CaseOutcome {
    let mut findings: Vec<JudgedFinding> = case
        .findings
        .iter()
        .map(|finding| JudgedFinding {
            finding: finding.clone(),
            severity: if about.is_flake_only {
                Severity::Flake
            } else {
                finding.severity
            },
            excuse: excuse(&case, finding),
            end_unknown_since: None,
        })
        .collect();
    findings.sort_by(|one, other| {
        let order =
            |judged: &JudgedFinding| (judged.finding.from, judged.finding.to, judged.finding.seq);
        order(one)
            .cmp(&order(other))
            .then_with(|| one.finding.subject.cmp(&other.finding.subject))
            .then_with(|| one.finding.message.cmp(&other.finding.message))
    });
    CaseOutcome {
        name: junit_name(&about.monitor, case.component.as_deref(), &case.junit),
        about: Arc::clone(about),
        verdict: verdict(&case, &findings),
        component: case.component,
        group: case.group,
        findings,
        not_kept: case.not_kept,
        dark: case.dark,
        why: case.error.or(case.skipped),
    }
}

fn verdict(case: &TestCase, findings: &[JudgedFinding]) -> CaseVerdict {
    let has = |is: fn(&JudgedFinding) -> bool| findings.iter().any(is);
    // What was found stays found, whatever else could not be evaluated.
    if has(JudgedFinding::is_failure) {
        return CaseVerdict::Fail;
    }
    if case.error.is_some() {
        return CaseVerdict::Error;
    }
    if has(|judged| judged.excuse.is_none()) || case.not_kept > 0 {
        return CaseVerdict::Flake;
    }
    let is_pending = |judged: &JudgedFinding| {
        let excuse = judged.excuse.as_ref();
        excuse.is_some_and(|excuse| excuse.state == ExceptionState::Jira)
    };
    if has(is_pending) {
        return CaseVerdict::FlakeJira;
    }
    if !findings.is_empty() {
        return CaseVerdict::FlakePermanent;
    }
    if case.skipped.is_some() {
        CaseVerdict::Skipped
    } else if case.dark.is_empty() {
        CaseVerdict::Pass
    } else {
        CaseVerdict::Unknown
    }
}

/// Makes one of outcomes of one name, the worst verdict holds: a failed and a passed case of one name
/// are a flake to every reader of JUnit.
pub(crate) fn join_same_names(outcomes: Vec<CaseOutcome>) -> Vec<CaseOutcome> {
    let mut joined: Vec<CaseOutcome> = Vec::with_capacity(outcomes.len());
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for outcome in outcomes {
        let place = *places.entry(outcome.name.clone()).or_insert(joined.len());
        let Some(first) = joined.get_mut(place) else {
            joined.push(outcome);
            continue;
        };
        if outcome.verdict > first.verdict {
            first.verdict = outcome.verdict;
            first.why.clone_from(&outcome.why);
        }
        first.not_kept = first.not_kept.saturating_add(outcome.not_kept);
        first.findings.extend(outcome.findings);
        first.findings.sort_by_key(|judged| judged.finding.from);
        first.dark.extend(outcome.dark);
        first.dark.sort();
        first.dark.dedup();
    }
    joined
}

/// A finding with what was decided of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedFinding {
    /// What was found wrong.
    pub finding: TestFinding,
    /// How bad it is in the end: never worse than a flake for a rule that never fails.
    pub severity: Severity,
    /// The exception that covers it.
    pub excuse: Option<Excuse>,
    /// From when on its end may have been missed; `None` if the end was observed, or that there is none.
    pub end_unknown_since: Option<RecordedAt>,
}

impl JudgedFinding {
    /// Returns until when it is known to have lasted; `None` if it did not end.
    pub fn known_to(&self) -> Option<RecordedAt> {
        self.end_unknown_since.or(self.finding.to)
    }

    /// Returns whether it makes its case fail.
    pub const fn is_failure(&self) -> bool {
        self.excuse.is_none() && matches!(self.severity, Severity::Fail)
    }
}

worded! {
/// The outcome of a case.
///
/// The order is that of need: what must be looked at first comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseVerdict {
    /// It was not judged.
    Skipped = "skipped",
    /// Nothing was found wrong, and everything was seen.
    Pass = "pass",
    /// Nothing was found wrong, but not everything was seen.
    Unknown = "unknown",
    /// All that was found wrong is excepted for good.
    FlakePermanent = "flake-permanent",
    /// All that was found wrong is excepted, some of it until an issue is closed.
    FlakeJira = "flake-jira",
    /// What was found wrong is not bad enough to fail, or the rule never fails.
    Flake = "flake",
    /// The rule could not be evaluated.
    Error = "error",
    /// Something is wrong that no exception covers.
    Fail = "fail",
}
}

impl CaseVerdict {
    /// Every verdict, what must be looked at first.
    pub const ALL: [Self; 8] = [
        Self::Fail,
        Self::Error,
        Self::Flake,
        Self::FlakeJira,
        Self::FlakePermanent,
        Self::Unknown,
        Self::Pass,
        Self::Skipped,
    ];

    /// Returns whether it is one of the flakes.
    pub const fn is_flake(self) -> bool {
        matches!(self, Self::FlakePermanent | Self::FlakeJira | Self::Flake)
    }
}

impl fmt::Display for CaseVerdict {
    /// Writes it as people read it: `flake (jira)`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::FlakePermanent => "flake (permanent)",
            Self::FlakeJira => "flake (jira)",
            other => other.as_str(),
        })
    }
}

/// Puts a case's name together: `[Monitor:…]`, `[Jira:"…"]` where a component is known, the rest.
///
/// Names of the OpenShift monitor that begin with their owner in brackets, such as `[sig-node] …` or
/// `[bz-etcd] …`, stay as they are: pass rates are counted by name, and those names are years old.
pub fn junit_name(monitor: &str, component: Option<&str>, rest: &str) -> String {
    let monitor = format!("[Monitor:{monitor}]");
    match component {
        _ if rest.starts_with('[') => format!("{monitor}{rest}"),
        Some(component) => format!("{monitor}[Jira:\"{component}\"] {rest}"),
        None => format!("{monitor} {rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_named_once() {
        let rest = "[sig-architecture] platform pods in ns/openshift-etcd should not restart";
        assert_eq!(
            junit_name("kubelet-container-restarts", Some("Etcd"), rest),
            format!("[Monitor:kubelet-container-restarts]{rest}")
        );
        assert_eq!(
            junit_name("ha", Some("Etcd"), "etcd has spread"),
            "[Monitor:ha][Jira:\"Etcd\"] etcd has spread"
        );
        assert_eq!(
            junit_name("ha", None, "x has spread"),
            "[Monitor:ha] x has spread"
        );
    }

    #[test]
    fn objects_beyond_the_limit_are_counted_apart_from_the_findings() {
        let tests = crate::builtin();
        let about = tests.first().map(|test| Arc::new(test.about().clone()));
        let case = TestCase {
            not_kept: 3,
            ..TestCase::named("x")
        };
        let decided = outcome(&about.expect("a test"), case, |_, _| None);
        assert_eq!(decided.verdict, CaseVerdict::Flake);
        assert!(decided.findings.is_empty());
        let words = decided.not_kept_words();
        let expected = "3 more objects were found and not kept";
        assert_eq!(words.as_deref(), Some(expected));
        let joined = join_same_names(vec![decided.clone(), decided]);
        assert_eq!(joined.first().map(|one| one.not_kept), Some(6));
    }
}
