//! Signals, at good times and bad ones; what cannot be written; a kill.

use std::time::Duration;

use anyhow::Result;
use kubereel_format::{Note, Reel, SessionEnd};
use kubereel_tests::recording::{Observed, Observing};
use kubereel_tests::scripted::Kubeconfig;

use crate::observing::{Job, SURE};

/// What an observer's pod has by default.
const GRACE: Duration = Duration::from_secs(15);

fn ended_by(observed: &Observed) -> Result<Vec<SessionEnd>> {
    let notes = observed.notes()?.into_iter();
    let ends = notes.filter_map(|note| match note {
        Note::SessionEnded { end, .. } => Some(end),
        _ => None,
    });
    Ok(ends.collect())
}

#[test]
fn two_signals_at_once_are_one_end_within_the_grace_period() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    job.await_live(&observing)?;
    let observed = observing.end(GRACE)?;
    assert_eq!(observed.status.code(), Some(0), "{}", observed.log);
    assert_eq!(
        ended_by(&observed)?,
        [SessionEnd::Signal("SIGINT".to_owned())]
    );
    assert!(Reel::open(&observed.file("artifacts", ".reel")?)?.is_finished());
    assert_eq!(observed.metadata("ended-by")?, "SIGINT");
    Ok(())
}

#[test]
fn an_end_during_an_outage_is_in_time_and_claims_nothing() -> Result<()> {
    let mut job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing = job.observe(&[])?;
    job.await_live(&observing)?;
    observing.until_said("the cluster answers", SURE)?;
    job.cluster.go_down()?;
    observing.until_said("the cluster does not answer", SURE)?;
    let observed = observing.end(GRACE)?;
    assert_eq!(observed.status.code(), Some(0), "{}", observed.log);
    assert_eq!(observed.metadata("outcome")?, "recorded, with findings");
    let junit = observed.text("junit", ".xml")?;
    assert!(
        junit.contains("what changed meanwhile is not recorded"),
        "{junit}"
    );
    Ok(())
}

#[test]
fn an_output_that_cannot_be_written_is_said_and_no_failure() -> Result<()> {
    let job = Job::new()?;
    std::fs::write(job.output(), "a file where a folder should be")?;
    let mut observing = job.observe(&[])?;
    let observed = observing.ended(SURE)?;
    assert_eq!(observed.status.code(), Some(0), "{}", observed.log);
    assert!(observed.log.contains("cannot write"), "{}", observed.log);
    Ok(())
}

#[test]
fn a_kill_leaves_files_that_say_so() -> Result<()> {
    let job = Job::new()?;
    job.deliver(&job.full(), &Kubeconfig::Good)?;
    let observing: Observing = job.observe(&[])?;
    job.await_live(&observing)?;
    let folder = observing.kill()?;
    let metadata = std::fs::read_to_string(folder.join("metadata.json"))?;
    assert!(
        metadata.contains(r#""kubereel-outcome": "recording""#),
        "{metadata}"
    );
    let junit = std::fs::read_dir(folder.join("junit"))?.next();
    let junit = std::fs::read_to_string(junit.expect("a file")?.path())?;
    assert!(junit.contains("or was killed"), "{junit}");
    Ok(())
}
