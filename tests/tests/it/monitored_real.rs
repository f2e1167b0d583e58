//! Monitortests on a recording of the genuine operator of operators: what was planted there is found,
//! at the right second. Skipped, and said so, where the shared recordings are not there.

use crate::recordings::Recording;
use anyhow::{Context as _, Result, ensure};
use kubereel_history::timetext;
use kubereel_import::ImportOptions;
use kubereel_monitortests::{
    CaseOutcome as Outcome, CaseVerdict as Verdict, ExceptionSet, RunOptions as Asked, RunReport,
    Selection, TestFinding as Finding, builtin, run_reel,
};

fn run(file: &str) -> Result<Option<RunReport>> {
    let Some(recording) = Recording::read(file) else {
        return Ok(None);
    };
    let reel = recording.import(&ImportOptions::new("test", "a shared recording"));
    let (selection, exceptions) = (Selection::default(), ExceptionSet::builtin()?);
    let asked = Asked {
        selection: &selection,
        exceptions: &exceptions,
        now: None,
    };
    Ok(Some(run_reel(&reel.timeline, builtin(), &asked, |_seq| {})))
}

/// All findings of a rule, with the case and by time.
fn findings<'r>(report: &'r RunReport, rule: &str) -> Vec<(&'r Outcome, &'r Finding)> {
    let of_rule = report.outcomes.iter().filter(|one| one.about.id == rule);
    let mut all: Vec<_> = of_rule
        .flat_map(|one| {
            one.findings
                .iter()
                .map(move |judged| (one, &judged.finding))
        })
        .collect();
    all.sort_by_key(|(_, finding)| finding.from);
    all
}

/// Checks that a rule finds these and nothing else: time of day to the second, a part of the case's
/// name, a part of what is said.
fn are_found(report: &RunReport, rule: &str, expected: &[(&str, &str, &str)]) -> Result<()> {
    let all = findings(report, rule);
    let told: Vec<String> = all
        .iter()
        .map(|(outcome, finding)| {
            let at = timetext::time_of_day(finding.from);
            format!("{at} {}: {}", outcome.name, finding.message)
        })
        .collect();
    ensure!(all.len() == expected.len(), "{rule}: {told:#?}");
    for ((outcome, finding), (at, name, says)) in all.iter().zip(expected) {
        let is_it = timetext::time_of_day(finding.from).starts_with(at)
            && outcome.name.contains(name)
            && finding.message.contains(says);
        ensure!(is_it, "{rule}: not {at} {name} {says}: {told:#?}");
    }
    Ok(())
}

/// The times are those of the recording's own timeline: what its simulation did, and when.
#[test]
fn what_was_planted_in_the_upgrade_is_found_at_the_right_second() -> Result<()> {
    let Some(report) = run("cvo-upgrade/events.jsonl.zst")? else {
        return Ok(());
    };
    are_found(
        &report,
        "operator-available",
        &[
            (
                "13:29:15",
                "clusteroperator/openshift-apiserver",
                "for 20.0s",
            ),
            ("13:30:05", "clusteroperator/console", "for 20.0s"),
        ],
    )?;
    are_found(
        &report,
        "operator-degraded",
        &[
            (
                "13:28:48",
                "clusteroperator/kube-controller-manager",
                "for 6.0s",
            ),
            ("13:29:49", "clusteroperator/image-registry", "for 1m 30s"),
        ],
    )?;
    // The spell of 90 seconds is longer than a minute.
    are_found(
        &report,
        "operator-flaps-between-polls",
        &[
            (
                "13:28:48",
                "clusteroperator/kube-controller-manager",
                "1 times",
            ),
            ("13:29:15", "clusteroperator/openshift-apiserver", "1 times"),
            ("13:30:05", "clusteroperator/console", "1 times"),
        ],
    )?;
    version_pods_are_told(&report)?;
    let kept = report
        .outcomes
        .iter()
        .filter(|one| one.about.monitor == "invariants");
    for outcome in kept {
        ensure!(
            outcome.findings.is_empty(),
            "{}: {:#?}",
            outcome.name,
            outcome.findings
        );
    }
    Ok(())
}

/// Three refusals before any Pod, one deadline, seven unknown digests; the twelfth attempt went well.
fn version_pods_are_told(report: &RunReport) -> Result<()> {
    let keyrings = "unable to verify sha256:";
    let unknown = "manifest unknown";
    are_found(
        report,
        "version-pods",
        &[
            ("13:25:02", "", keyrings),
            ("13:25:02", "", keyrings),
            ("13:25:07", "", keyrings),
            ("13:25:22", "", "version--bqqxl on master-0: ErrImagePull"),
            ("13:27:22", "", "version--mvv56 on master-0: ErrImagePull"),
            ("13:27:24", "", "version--bxqkb on master-0: ErrImagePull"),
            ("13:27:26", "", "version--nk76l on master-0: ErrImagePull"),
            ("13:27:28", "", "version--6jj5n on master-0: ErrImagePull"),
            ("13:27:30", "", "version--k4lpt on master-0: ErrImagePull"),
            ("13:27:33", "", unknown),
            ("13:27:35", "", unknown),
        ],
    )?;
    let all = findings(report, "version-pods");
    let (_, deadline) = all.get(3).context("no fourth attempt")?;
    for told in [
        "attempt 4 of 12 failed",
        "the Pod is Init:ErrImagePull: pinging container registry",
        "the Pod is Init:ImagePullBackOff",
        "the Pod is DeadlineExceeded: Pod was active on the node",
        "ClusterVersion reported ReleaseAccepted=False (RetrievePayload)",
        "RetrievePayload failed: Retrieving payload failed",
    ] {
        ensure!(
            deadline.message.contains(told),
            "{told}: {}",
            deadline.message
        );
    }
    Ok(())
}

#[test]
fn an_installation_is_not_judged_as_a_running_cluster() -> Result<()> {
    let Some(report) = run("okd412-sno-install-run1/events.jsonl.zst")? else {
        return Ok(());
    };
    // Operators come up, and the one node reboots: that is what an installation does.
    for rule in [
        "operator-available",
        "operator-degraded",
        "node-unexpected-not-ready",
    ] {
        are_found(&report, rule, &[])?;
    }
    for outcome in &report.outcomes {
        let verdict = outcome.verdict;
        ensure!(
            verdict != Verdict::Error,
            "{}: {:?}",
            outcome.name,
            outcome.why
        );
        // There is one node: nothing that needs several is judged.
        if outcome.about.id == "ha-replicas" {
            ensure!(verdict == Verdict::Skipped, "{}: {verdict:?}", outcome.name);
        }
    }
    Ok(())
}
