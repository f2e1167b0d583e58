//! Compares the output of `kubereel problems` for a recording with the truth.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::truth::{TrueCause, Truth};
use crate::recording::program;

/// A problem, as the program prints it.
#[derive(Debug, Clone, Deserialize)]
struct ProblemRow {
    kind: String,
    namespace: Option<String>,
    name: String,
    reason: Option<String>,
    #[serde(default)]
    causes: Vec<CauseRow>,
}

/// A change that the program gives as a cause.
#[derive(Debug, Clone, Deserialize)]
struct CauseRow {
    kind: String,
    namespace: Option<String>,
    name: String,
    /// `created`, `changed` or `deleted`.
    change: String,
    field: Option<String>,
}

/// The result of one scenario.
#[derive(Debug, Clone)]
pub struct Judgement {
    scenario: String,
    about: String,
    seed: u64,
    /// When its first step was taken.
    begins: String,
    is_fault: bool,
    has_cause: bool,
    first: Option<ProblemRow>,
    rows: usize,
    /// Rows that name no failing object.
    others: usize,
    /// The first row that names a failing object, from 1.
    object_rank: Option<usize>,
    /// Where the cause is among those of that row, from 1.
    cause_rank: Option<usize>,
}

impl Judgement {
    /// Asks the program for the problems of a reel.
    ///
    /// # Errors
    ///
    /// When it fails, or prints what it should not.
    pub fn of(reel: &Path, truth: &Truth) -> Result<Self> {
        let output = Command::new(program()?)
            .arg("problems")
            .arg(reel)
            .args(["-o", "json"])
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "kubereel problems: {}: {said}",
            output.status
        );
        let lines = String::from_utf8(output.stdout)?;
        let rows = lines.lines().filter(|line| !line.trim().is_empty());
        let rows: Vec<ProblemRow> = rows
            .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()))
            .collect::<Result<_>>()?;
        Ok(Self::judge(truth, &rows))
    }

    fn judge(truth: &Truth, rows: &[ProblemRow]) -> Self {
        let is_failing = |row: &ProblemRow| {
            let mut failing = truth.failing.iter();
            failing.any(|one| one.is(&row.kind, namespace(row.namespace.as_ref()), &row.name))
        };
        let object = rows.iter().position(is_failing);
        let cause = object.and_then(|index| rows.get(index)).and_then(|row| {
            let is_cause = |cause: &CauseRow| truth.causes.iter().any(|one| cause.is(one));
            row.causes.iter().position(is_cause)
        });
        Self {
            scenario: truth.scenario.clone(),
            about: truth.about.clone(),
            seed: truth.seed,
            begins: truth.begins.clone(),
            is_fault: !truth.failing.is_empty(),
            has_cause: !truth.causes.is_empty(),
            first: rows.first().cloned(),
            rows: rows.len(),
            others: rows.iter().filter(|row| !is_failing(row)).count(),
            object_rank: object.map(|index| index + 1),
            cause_rank: cause.map(|index| index + 1),
        }
    }

    /// The scenario's name.
    pub fn scenario(&self) -> &str {
        &self.scenario
    }

    /// Whether a failing object is named first with its cause first; nothing is when nothing fails.
    pub fn is_right(&self) -> bool {
        if !self.is_fault {
            return self.rows == 0;
        }
        self.object_rank == Some(1) && (!self.has_cause || self.cause_rank == Some(1))
    }

    /// One line: the scenario, the first row, the ranks, the verdict.
    pub fn line(&self) -> String {
        format!(
            "{:23} {:58} object {:3} cause {:5} others {:3} {}",
            self.scenario,
            self.first_row(),
            rank(self.object_rank),
            self.cause_words(),
            self.others,
            self.verdict()
        )
    }

    fn first_row(&self) -> String {
        self.first.as_ref().map_or_else(
            || "-".to_owned(),
            |row| {
                let reason = row.reason.as_deref().unwrap_or_default();
                format!("{} {} {reason}", row.kind, row.name)
            },
        )
    }

    fn cause_words(&self) -> String {
        if self.has_cause {
            rank(self.cause_rank)
        } else {
            "none".to_owned()
        }
    }

    fn verdict(&self) -> &'static str {
        match (self.is_fault, self.is_right()) {
            (true, true) => "found",
            (false, true) => "quiet",
            (false, false) => "FALSE ALARM",
            (true, false) if self.object_rank.is_none() => "MISSED",
            (true, false) if self.object_rank == Some(1) => "OTHER CAUSE",
            (true, false) => "NOT FIRST",
        }
    }
}

impl CauseRow {
    /// A path is as good as one above or below it.
    fn is(&self, cause: &TrueCause) -> bool {
        let is_object = self.kind == cause.kind
            && namespace(self.namespace.as_ref()) == cause.namespace.as_deref()
            && self.name == cause.name;
        let field = plain_path(self.field.as_deref().unwrap_or_default());
        let is_within = |one: &str, other: &str| {
            other
                .strip_prefix(one)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        is_object
            && match cause.field.as_str() {
                "created" => self.change == "created",
                "deleted" => self.change == "deleted" || field == "metadata.deletionTimestamp",
                _ if field.is_empty() => false,
                path => is_within(path, &field) || is_within(&field, path),
            }
    }
}

/// A path without the keys of lists: `a[app].b["c.d"]` is `a.b.c.d`.
fn plain_path(path: &str) -> String {
    let mut plain = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        let (key, after) = after.split_once(']').unwrap_or((after, ""));
        if let Some(name) = key.strip_prefix('"') {
            plain.push('.');
            plain.push_str(name.trim_end_matches('"'));
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

fn namespace(namespace: Option<&String>) -> Option<&str> {
    namespace
        .map(String::as_str)
        .filter(|name| !name.is_empty())
}

fn rank(rank: Option<usize>) -> String {
    rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string())
}

/// The page of the docs.
pub fn page(judgements: &[Judgement], date: &str, commit: &str) -> String {
    let seeds: BTreeSet<u64> = judgements.iter().map(|one| one.seed).collect();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let seeds = match seeds.as_slice() {
        [seed] => format!("seed {seed}"),
        _ => format!("the seeds {}", seeds.join(", ")),
    };
    // Without the fractions of a second.
    let begins = judgements.iter().map(|one| one.begins.get(..19));
    let begins: Vec<&str> = begins.map(Option::unwrap_or_default).collect();
    let first = begins.iter().min().unwrap_or(&"");
    let last = begins.iter().max().unwrap_or(&"");
    let faults = judgements.iter().filter(|one| one.is_fault);
    let (faults, named, caused, with_cause) =
        faults.fold((0, 0, 0, 0), |(faults, named, caused, with_cause), one| {
            (
                faults + 1,
                named + usize::from(one.object_rank == Some(1)),
                caused + usize::from(one.cause_rank == Some(1)),
                with_cause + usize::from(one.has_cause),
            )
        });
    let healthy = judgements.iter().filter(|one| !one.is_fault);
    let quiet = healthy.clone().filter(|one| one.is_right()).count();
    let mut page = format!(
        "# Faults of Kubernetes, and what `kubereel problems` says of them\n\n\
         Generated by `.ci/diagnosis`; do not edit it. Recorded with {seeds} from {first} to {last} UTC, judged on {date} at commit {commit}.\n\n\
         Each scenario is played on a real control plane (etcd, API server, controller manager and scheduler, kubelets that run nothing) and recorded by itself.\n\
         Names are drawn by the seed, and unrelated work goes on beside it: rollouts, scaling, Jobs, Leases, Events, edits of ConfigMaps.\n\n\
         * {named} of {faults} faults: a failing object is named first.\n\
         * {caused} of {with_cause} faults with a change behind them: that change is the first of its causes.\n\
         * {quiet} of {} scenarios without a fault: nothing is reported.\n\n\
         | scenario | what happens | first row | object | cause | others | verdict |\n\
         |---|---|---|---|---|---|---|\n",
        healthy.count()
    );
    for one in judgements {
        let row = format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            one.scenario,
            one.about,
            one.first_row().replace('|', "/"),
            rank(one.object_rank),
            one.cause_words(),
            one.others,
            one.verdict()
        );
        // Writing to a String cannot fail.
        write!(page, "{row}").unwrap_or_default();
    }
    page.push_str(
        "\n*object* is the row in which a failing object comes first, *cause* the place of the true cause among the causes of that row; `none` stands for a fault that no change of the API explains. *others* counts rows that name no failing object: where a node is lost, workloads that had Pods on it.\n",
    );
    page
}

#[cfg(test)]
mod verdict_tests {
    use serde_json::{Value, json};

    use super::*;

    fn truth(failing: &Value, causes: &Value) -> Truth {
        let truth = json!({"scenario": "s", "about": "a", "seed": 1, "namespace": "shop",
            "begins": "", "ends": "", "failing": failing, "causes": causes});
        serde_json::from_value(truth).unwrap()
    }

    fn fault() -> Truth {
        truth(
            &json!([{"kind": "Deployment", "namespace": "shop", "name": "web", "owns": ["Pod"]}]),
            &json!([{"kind": "ConfigMap", "namespace": "shop", "name": "c", "field": "data.size"}]),
        )
    }

    fn row(kind: &str, name: &str, cause: &str, field: &str) -> ProblemRow {
        let row = json!({"kind": kind, "namespace": "shop", "name": name, "reason": "r",
            "causes": [{"kind": "ConfigMap", "namespace": "shop", "name": cause,
                "change": "changed", "field": field, "old": "1", "new": "2"}]});
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn a_fault_is_found_by_object_and_cause() {
        let found = |rows: &[ProblemRow]| Judgement::judge(&fault(), rows).verdict();
        assert_eq!(
            found(&[row("Deployment", "web", "c", "data.size")]),
            "found"
        );
        assert_eq!(
            found(&[row("Pod", "web-x", "c", "data[\"size\"]")]),
            "found"
        );
        assert_eq!(
            found(&[row("Deployment", "web", "d", "data.size")]),
            "OTHER CAUSE"
        );
        assert_eq!(
            found(&[row("Deployment", "web", "c", "data.size2")]),
            "OTHER CAUSE"
        );
        let other = row("Deployment", "webs", "c", "data.size");
        assert_eq!(found(std::slice::from_ref(&other)), "MISSED");
        let web = row("Deployment", "web", "c", "data.size");
        assert_eq!(found(&[other, web]), "NOT FIRST");
        assert_eq!(found(&[]), "MISSED");
    }

    #[test]
    fn the_page_counts_what_was_found() {
        let web = row("Deployment", "web", "c", "data.size");
        let found = Judgement::judge(&fault(), std::slice::from_ref(&web));
        let missed = Judgement::judge(&fault(), &[]);
        let quiet = Judgement::judge(&truth(&json!([]), &json!([])), &[]);
        let page = page(&[found, missed, quiet], "2026-01-02", "abc");
        assert!(page.contains("* 1 of 2 faults: a failing object"), "{page}");
        assert!(page.contains("* 1 of 1 scenarios without"), "{page}");
        assert!(
            page.contains("| Deployment web r | 1 | 1 | 0 | found |"),
            "{page}"
        );
    }

    #[test]
    fn without_a_fault_any_row_is_a_false_alarm() {
        let healthy = truth(&json!([]), &json!([]));
        assert!(Judgement::judge(&healthy, &[]).is_right());
        let alarm = Judgement::judge(&healthy, &[row("Pod", "web", "c", "f")]);
        assert_eq!(alarm.verdict(), "FALSE ALARM");
    }
}
