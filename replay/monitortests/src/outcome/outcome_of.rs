//! Owns the verdict on a case: findings, exceptions and what was not seen, put together. Refuses to
//! find anything.

use super::judged::{Excuse, Judged};
use super::name::junit_name;
use super::verdict::Verdict;
use crate::exception::ExceptionState;
use crate::verdict::{About, Case, Dark, Finding, Severity};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A case with its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The rule.
    pub about: Arc<About>,
    /// The whole name in JUnit.
    pub name: String,
    /// The component that answers for it, where one is known.
    pub component: Option<String>,
    /// What the case is for, such as `operator` or `namespace`.
    pub group: BTreeMap<String, String>,
    /// What became of it.
    pub verdict: Verdict,
    /// What was found wrong, in order of time.
    pub findings: Vec<Judged>,
    /// Where nothing could be seen.
    pub dark: Vec<Dark>,
    /// Why it was skipped or could not be evaluated.
    pub why: Option<String>,
}

impl Outcome {
    /// Gives what makes the case fail, or else what makes it flake.
    pub fn evidence(&self) -> impl Iterator<Item = &Judged> {
        let is_failed = self.verdict == Verdict::Fail;
        self.findings
            .iter()
            .filter(move |judged| !is_failed || judged.is_failure())
    }
}

/// Decides a case; `excuse` knows the exceptions.
pub(crate) fn outcome(
    about: &Arc<About>,
    case: Case,
    mut excuse: impl FnMut(&Case, &Finding) -> Option<Excuse>,
) -> Outcome {
    let mut findings: Vec<Judged> = case
        .findings
        .iter()
        .map(|finding| Judged {
            finding: finding.clone(),
            severity: if about.is_flake_only {
                Severity::Flake
            } else {
                finding.severity
            },
            excuse: excuse(&case, finding),
        })
        .collect();
    findings.sort_by(|one, other| {
        let order = |judged: &Judged| (judged.finding.from, judged.finding.to, judged.finding.seq);
        order(one)
            .cmp(&order(other))
            .then_with(|| one.finding.subject.cmp(&other.finding.subject))
            .then_with(|| one.finding.message.cmp(&other.finding.message))
    });
    Outcome {
        name: junit_name(&about.monitor, case.component.as_deref(), &case.junit),
        about: Arc::clone(about),
        verdict: verdict(&case, &findings),
        component: case.component,
        group: case.group,
        findings,
        dark: case.dark,
        why: case.error.or(case.skipped),
    }
}

fn verdict(case: &Case, findings: &[Judged]) -> Verdict {
    let has = |is: fn(&Judged) -> bool| findings.iter().any(is);
    // What was found stays found, whatever else could not be evaluated.
    if has(Judged::is_failure) {
        return Verdict::Fail;
    }
    if case.error.is_some() {
        return Verdict::Error;
    }
    if has(|judged| judged.excuse.is_none()) {
        return Verdict::Flake;
    }
    let is_pending = |judged: &Judged| {
        let excuse = judged.excuse.as_ref();
        excuse.is_some_and(|excuse| excuse.state == ExceptionState::Jira)
    };
    if has(is_pending) {
        return Verdict::FlakeJira;
    }
    if !findings.is_empty() {
        return Verdict::FlakePermanent;
    }
    if case.skipped.is_some() {
        Verdict::Skipped
    } else if case.dark.is_empty() {
        Verdict::Pass
    } else {
        Verdict::Unknown
    }
}

/// Makes one of outcomes of one name, the worst verdict holds: a failed and a passed case of one name
/// are a flake to every reader of JUnit.
pub(crate) fn join_same_names(outcomes: Vec<Outcome>) -> Vec<Outcome> {
    let mut joined: Vec<Outcome> = Vec::with_capacity(outcomes.len());
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
        first.findings.extend(outcome.findings);
        first.findings.sort_by_key(|judged| judged.finding.from);
        first.dark.extend(outcome.dark);
        first.dark.sort();
        first.dark.dedup();
    }
    joined
}
