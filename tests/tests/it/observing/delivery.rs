//! Kubeconfigs that come late, broken, one after the other or never; a proxy that comes later.

use anyhow::Result;
use kubereel_format::{Lifecycle, Note};
use kubereel_tests::recording::{Account, settle};
use kubereel_tests::scripted::Kubeconfig;

use crate::observing::{ENDPOINTS, Job, SURE};

/// What the reel says of the way to the cluster: a letter for each note.
fn way(notes: &[Note], job: &Job) -> String {
    let full = job.full().display().to_string();
    let letter = |note: &Note| match note {
        Note::Lifecycle(Lifecycle::WaitingForKubeconfig { .. }) => Some('w'),
        Note::Lifecycle(Lifecycle::KubeconfigUnusable { path, .. }) if *path == full => Some('B'),
        Note::Lifecycle(Lifecycle::KubeconfigUnusable { .. }) => Some('b'),
        Note::Lifecycle(Lifecycle::KubeconfigLoaded { path }) if *path == full => Some('F'),
        Note::Lifecycle(Lifecycle::KubeconfigLoaded { .. }) => Some('m'),
        _ => None,
    };
    notes.iter().filter_map(letter).collect()
}

#[test]
fn absent_then_broken_then_minimal_then_full_and_nothing_is_lost() -> Result<()> {
    let job = Job::new()?;
    let observing = job.observe(&[])?;
    observing.until_said("waiting for a kubeconfig", SURE)?;
    job.deliver(&job.minimal(), &Kubeconfig::HalfWritten)?;
    observing.until_said("the kubeconfig cannot be used", SURE)?;
    job.deliver(&job.minimal(), &Kubeconfig::Good)?;
    Job::await_reached(&observing)?;
    job.await_live(&observing)?;
    job.write(1)?;
    // The full one is broken at first: the minimal one goes on.
    job.deliver(&job.full(), &Kubeconfig::NotYaml)?;
    let broken = format!("path={:?}", job.full().display().to_string());
    observing.until_said(&broken, SURE)?;
    job.write(2)?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    observing.until_said(&format!("kubeconfig loaded {broken}"), SURE)?;
    job.write(3)?;
    settle(&job.cluster, "endpoints", SURE)?;
    // A list of one object only asks how far the history has come.
    let asked = job.cluster.requests_to(ENDPOINTS);
    let lists = asked.iter().filter(|one| {
        let is_list = !one.asked.is_watch() && one.asked.parameter("limit") != Some("1");
        is_list || one.asked.parameter("sendInitialEvents").is_some()
    });
    assert_eq!(lists.count(), 1, "the switch kept the place");
    let observed = observing.end(SURE)?;
    assert!(observed.status.success(), "{}", observed.log);
    assert_eq!(way(&observed.notes()?, &job), "wbmBmF", "{}", observed.log);
    assert_eq!(observed.metadata("reached-cluster")?, "true");
    let reel = observed.file("artifacts", ".reel")?;
    Account::of(&reel, &job.cluster, &["endpoints"])?.check_whole()?;
    Ok(())
}

#[test]
fn a_cluster_that_never_comes_is_an_outcome() -> Result<()> {
    let job = Job::new()?;
    let observing = job.observe(&[])?;
    observing.until_said("waiting for a kubeconfig", SURE)?;
    let observed = observing.end(SURE)?;
    assert_eq!(observed.status.code(), Some(0), "{}", observed.log);
    assert_eq!(way(&observed.notes()?, &job), "w");
    assert_eq!(observed.metadata("outcome")?, "no cluster");
    assert!(
        observed
            .text("artifacts", "-summary.txt")?
            .contains("no kubeconfig at")
    );
    Ok(())
}
