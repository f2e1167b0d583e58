//! The list of problems on recordings that others made: planted faults stand at its top, and what was
//! healthy has none. Skipped, and said so, where the shared recordings are not there.

use crate::recordings::Recording;
use anyhow::{Context as _, Result, ensure};
use kubereel_format::RecordedAt;
use kubereel_history::Timeline;
use kubereel_import::ImportOptions;
use kubereel_problems::{Problem, ProblemList, problems};
use std::path::Path;

fn list_of(file: &str) -> Option<ProblemList> {
    let recording = Recording::read(file)?;
    let mut options = ImportOptions::new("test", "a shared recording");
    // A dump of objects has no time of its own.
    options.at = Some(RecordedAt::from_micros(1_900_000_000_000_000));
    let reel = recording.import(&options);
    Some(problems(&reel.timeline, |_seq| {}))
}

/// Returns the place of a problem, counted from 1.
fn place(list: &ProblemList, name: &str, reason: &str) -> Option<usize> {
    let is_it = |one: &Problem| one.object.name == name && one.reason.contains(reason);
    list.problems.iter().position(is_it).map(|at| at + 1)
}

#[test]
fn planted_faults_of_an_upgrade_are_the_first_rows() -> Result<()> {
    let Some(list) = list_of("cvo-upgrade/events.jsonl.zst") else {
        return Ok(());
    };
    let planted = [
        ("openshift-apiserver", "NoReadyEndpoints"),
        ("console", "NoReadyEndpoints"),
        ("image-registry", "SyncError"),
        ("kube-controller-manager", "SyncError"),
        ("version", "RetrievePayload"),
        // The budget of the user's workload that held the drain of a Node.
        ("web", "DisruptionBudgetHoldsDrain"),
    ];
    for (name, reason) in planted {
        let place = place(&list, name, reason);
        ensure!(
            place.is_some_and(|place| place <= 10),
            "{name} {reason}: {place:?}"
        );
    }
    let retrieving = list.problems.iter();
    let mut retrieving = retrieving.filter(|one| one.reason == "RetrievePayload");
    let one = retrieving.next().context("the attempts")?;
    ensure!(retrieving.next().is_none(), "all attempts are one problem");
    // As `kubereel upgrade` tells them, of which the last succeeded.
    ensure!(one.count == 11, "{} attempts", one.count);
    let in_namespace = |one: &&Problem| one.object.namespace == "openshift-cluster-version";
    ensure!(
        !list.problems.iter().any(|one| in_namespace(&one)),
        "their Pods are part of it"
    );
    let reboots = list.problems.iter().filter(|one| one.object.kind == "Node");
    for node in reboots {
        ensure!(
            node.is_planned,
            "{} was rebooted on purpose",
            node.object.name
        );
    }
    let noise = list.installation.context("the installation")?;
    ensure!(noise.completed.is_some(), "it was complete");
    Ok(())
}

#[test]
fn healthy_clusters_have_no_problem() -> Result<()> {
    for file in [
        "okd412-sno-install-run1/events.jsonl.zst",
        "must-gather-aws48/objects.jsonl.zst",
    ] {
        let Some(list) = list_of(file) else {
            return Ok(());
        };
        let found: Vec<String> = list.problems.iter().map(Problem::sentence).collect();
        ensure!(found.is_empty(), "{file}: {found:#?}");
        ensure!(list.checked.events > 1_000, "{file}: all was read");
    }
    Ok(())
}

/// All objects of a dump appear at one moment: several `ReplicaSet`s of a Deployment are its history.
#[test]
fn a_dump_of_objects_tells_of_no_rollout() -> Result<()> {
    let Some(list) = list_of("must-gather-aws48/objects.jsonl.zst") else {
        return Ok(());
    };
    let rollouts: Vec<String> = list
        .rollouts
        .iter()
        .map(|one| one.workload.label())
        .collect();
    ensure!(rollouts.is_empty(), "{rollouts:?}");
    Ok(())
}

#[test]
fn the_demo_has_its_planted_faults_and_their_causes() -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    let list = problems(&Timeline::open(&path)?, |_seq| {});
    let found: Vec<(&str, &str)> = list
        .problems
        .iter()
        .filter(|one| one.consequence_of.is_none() && !one.is_planned)
        .map(|one| (one.object.name.as_str(), one.reason.as_str()))
        .collect();
    for (name, reason) in [
        ("version", "RetrievePayload"),
        ("image-registry", "ImageRegistryController_SyncError"),
        ("payments", "CrashLoopBackOff"),
        ("console", "RouteHealth_FailedGet"),
    ] {
        ensure!(
            found.contains(&(name, reason)),
            "{name} {reason}: {found:?}"
        );
    }
    ensure!(found.len() == 4, "nothing else went wrong: {found:?}");
    let asked = list
        .problems
        .iter()
        .find(|one| one.reason == "RetrievePayload");
    let cause = asked
        .and_then(|one| one.causes.first())
        .context("a cause")?;
    ensure!(cause.field == "spec.desiredUpdate", "{cause:?}");
    ensure!(cause.by == ["oc"], "{cause:?}");
    Ok(())
}

/// A deletion that cannot be read leaves its object as it was last: that is no problem that lasts.
#[test]
fn a_damaged_reel_claims_no_open_problem_that_the_whole_one_has_not() -> Result<()> {
    const PAGE: usize = 4096;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
    let bytes = std::fs::read(path)?;
    let folder = tempfile::tempdir()?;
    let open = |list: &ProblemList| -> Vec<String> {
        let open = list.problems.iter().filter(|one| one.is_open());
        open.map(|one| one.object.label()).collect()
    };
    let whole = problems(&Timeline::open(&folder_copy(&folder, &bytes)?)?, |_seq| {});
    let whole = open(&whole);
    let mut read = 0;
    for page in (0..bytes.len() / PAGE).step_by(6) {
        let mut damaged = bytes.clone();
        damaged
            .get_mut(page * PAGE..(page + 1) * PAGE)
            .context("a page")?
            .fill(0);
        let Ok(timeline) = Timeline::open(&folder_copy(&folder, &damaged)?) else {
            continue;
        };
        read += 1;
        for label in open(&problems(&timeline, |_seq| {})) {
            ensure!(whole.contains(&label), "page {page}: {label}");
        }
    }
    ensure!(read >= 5, "only {read} of the damaged reels can be opened");
    Ok(())
}

fn folder_copy(folder: &tempfile::TempDir, bytes: &[u8]) -> Result<std::path::PathBuf> {
    let path = folder.path().join("copy.reel");
    std::fs::write(&path, bytes)?;
    Ok(path)
}
