//! A run of one built-in monitortest over a test's reel, and what tests ask of its verdicts.

use crate::verdicts::reel::{Reel, time};
use kubereel_history::timetext;
use kubereel_monitortests::{
    CaseOutcome, ExceptionSet, Facts, Glob, Intervals, MonitorTest, RuleSet, RunOptions, RunReport,
    Selection, builtin, run_intervals, run_reel,
};
use std::collections::BTreeSet;

/// What one monitortest said of a reel.
pub struct Verdicts {
    report: RunReport,
}

/// Runs one built-in monitortest, by its id, with the exceptions that the program carries.
pub fn judged(reel: Reel, id: &str) -> Verdicts {
    let written = reel.written();
    let selection = Selection {
        only: vec![Glob::new(id)],
        ..Selection::default()
    };
    let exceptions = ExceptionSet::builtin().expect("exceptions");
    let asked = RunOptions {
        selection: &selection,
        exceptions: &exceptions,
        now: None,
    };
    let report = run_reel(&written.timeline, builtin(), &asked, |_| {});
    let is_known = !report.outcomes.is_empty() || !report.omitted.is_empty();
    assert!(is_known, "there is no monitortest {id}");
    assert!(report.unread.is_empty(), "{:?}", report.unread);
    Verdicts { report }
}

/// Runs one built-in monitortest over intervals, as a file holds them.
pub fn judged_intervals(intervals: Intervals, id: &str) -> Verdicts {
    let selection = Selection {
        only: vec![Glob::new(id)],
        ..Selection::default()
    };
    let exceptions = ExceptionSet::builtin().expect("exceptions");
    let asked = RunOptions {
        selection: &selection,
        exceptions: &exceptions,
        now: None,
    };
    let report = run_intervals(
        intervals,
        &Facts {
            version: Some("5.0.9".to_owned()),
            ..Facts::default()
        },
        builtin(),
        &asked,
    );
    let is_known = !report.outcomes.is_empty() || !report.omitted.is_empty();
    assert!(is_known, "there is no monitortest {id}");
    Verdicts { report }
}

/// Runs the rules of a file.
pub fn judged_by(reel: Reel, rules: &str) -> Verdicts {
    let written = reel.written();
    let rules = RuleSet::read([("rules.yaml", rules)]);
    let rules = rules.unwrap_or_else(|errors| panic!("{errors}"));
    let asked = RunOptions {
        selection: &Selection::default(),
        exceptions: &ExceptionSet::default(),
        now: None,
    };
    let report = run_reel(&written.timeline, rules.tests(), &asked, |_| {});
    assert!(report.unread.is_empty(), "{:?}", report.unread);
    Verdicts { report }
}

/// Returns all that the rules of some files say of a reel.
pub fn rules_judged(reel: Reel, files: &[(&str, &str)]) -> String {
    let rules = RuleSet::read(files.iter().copied());
    let rules = rules.unwrap_or_else(|errors| panic!("{errors}"));
    said(reel, rules.tests())
}

/// Returns the same, when everything is asked at each event.
pub fn naively_judged(reel: Reel, files: &[(&str, &str)]) -> String {
    let rules = RuleSet::read(files.iter().copied());
    let rules = rules.unwrap_or_else(|errors| panic!("{errors}"));
    said(reel, rules.naive_tests())
}

fn said(reel: Reel, tests: Vec<Box<dyn MonitorTest>>) -> String {
    let written = reel.written();
    let asked = RunOptions {
        selection: &Selection::default(),
        exceptions: &ExceptionSet::default(),
        now: None,
    };
    let report = run_reel(&written.timeline, tests, &asked, |_| {});
    format!("{:#?}", report.outcomes)
}

/// Runs every built-in monitortest.
pub fn judged_all(reel: Reel) -> RunReport {
    let written = reel.written();
    let exceptions = ExceptionSet::builtin().expect("exceptions");
    let asked = RunOptions {
        selection: &Selection::default(),
        exceptions: &exceptions,
        now: None,
    };
    run_reel(&written.timeline, builtin(), &asked, |_| {})
}

impl Verdicts {
    /// Checks that a case failed by what began at a time of day, and that the message holds a text.
    pub fn fails(&self, name: &str, at: &str, text: &str) {
        self.is(name, "fail");
        self.says(name, at, text);
    }

    /// Checks that a case passed.
    pub fn passes(&self, name: &str) {
        self.is(name, "pass");
    }

    /// Checks a case's verdict: its word for programs.
    pub fn is(&self, name: &str, verdict: &str) {
        let outcome = self.outcome(name);
        assert_eq!(outcome.verdict.as_str(), verdict, "{outcome:#?}");
    }

    /// Returns the verdict of the one case whose name ends so: its word for programs.
    pub fn verdict_of(&self, ends: &str) -> String {
        let mut outcomes = self.report.outcomes.iter();
        let found = outcomes.find(|one| one.name.ends_with(ends));
        found.map_or_else(String::new, |one| one.verdict.as_str().to_owned())
    }

    /// Checks that something was found that began at a time of day and says a text.
    pub fn says(&self, name: &str, at: &str, text: &str) {
        let outcome = self.outcome(name);
        let found = outcome
            .findings
            .iter()
            .any(|judged| judged.finding.from == time(at) && judged.finding.message.contains(text));
        assert!(found, "nothing at {at} says {text:?}: {outcome:#?}");
    }

    /// Returns the times of what was found, in order; `-` is what did not end.
    pub fn findings(&self, name: &str) -> Vec<String> {
        let findings = self.outcome(name).findings.iter();
        let mut times: Vec<_> = findings
            .map(|judged| (judged.finding.from, judged.finding.to))
            .collect();
        times.sort();
        times
            .into_iter()
            .map(|(from, to)| {
                let to = to.map_or("-".to_owned(), timetext::time_of_day);
                format!("{} {to}", timetext::time_of_day(from))
            })
            .collect()
    }

    /// Returns which findings have an end that was not observed, in order.
    pub fn ends_not_observed(&self, name: &str) -> Vec<bool> {
        let findings = self.outcome(name).findings.iter();
        findings
            .map(|judged| judged.end_unknown_since.is_some())
            .collect()
    }

    /// Returns what was not seen.
    pub fn dark(&self, name: &str) -> String {
        format!("{:?}", self.outcome(name))
    }

    /// Returns the names of the cases that failed, without `[Monitor:…]`.
    pub fn names_of_failed(&self) -> Vec<&str> {
        let failed = self.report.outcomes.iter();
        let failed = failed.filter(|one| one.verdict.as_str() == "fail");
        failed.map(|one| tail(&one.name)).collect()
    }

    /// Returns the names of the cases that did not pass, without `[Monitor:…]`.
    pub fn names_not_passed(&self) -> Vec<&str> {
        let others = self.report.outcomes.iter();
        let others = others.filter(|one| one.verdict.as_str() != "pass");
        others.map(|one| tail(&one.name)).collect()
    }

    /// Checks that the monitortest has no case, and gives why.
    pub fn omitted(&self) -> String {
        assert_eq!(self.report.outcomes, []);
        let why = self.report.omitted.iter().map(|one| one.why.to_string());
        why.collect::<Vec<_>>().join("; ")
    }

    /// Returns how many cases there are.
    pub fn count(&self) -> usize {
        self.report.outcomes.len()
    }

    /// Returns how many cases have a verdict.
    pub fn count_of(&self, verdict: &str) -> usize {
        let outcomes = self.report.outcomes.iter();
        let same = outcomes.filter(|one| one.verdict.as_str() == verdict);
        same.count()
    }

    /// Returns why cases were skipped or could not be judged, each reason once.
    pub fn why(&self) -> String {
        let outcomes = self.report.outcomes.iter();
        let all: BTreeSet<&str> = outcomes.filter_map(|one| one.why.as_deref()).collect();
        all.into_iter().collect::<Vec<_>>().join("; ")
    }

    fn outcome(&self, name: &str) -> &CaseOutcome {
        let outcomes = &self.report.outcomes;
        let found = outcomes
            .iter()
            .find(|one| tail(&one.name) == name || without_jira(tail(&one.name)) == name);
        found.unwrap_or_else(|| {
            let names: Vec<&str> = outcomes.iter().map(|one| tail(&one.name)).collect();
            panic!("no case {name:?} among {names:#?}")
        })
    }
}

/// Takes `[Monitor:…]` off a name.
pub fn tail(name: &str) -> &str {
    let rest = name.split_once(']').map_or(name, |(_, rest)| rest);
    rest.trim_start()
}

/// Takes `[Jira:"…"]` off a name that begins so.
fn without_jira(name: &str) -> &str {
    let rest = name.strip_prefix("[Jira:");
    let rest = rest.and_then(|rest| rest.split_once(']'));
    rest.map_or(name, |(_, rest)| rest.trim_start())
}
