//! A recorder that is stopped with SIGSTOP while the cluster goes on, and goes on itself later.

use std::time::Duration;

use anyhow::{Result, ensure};
use kubereel_format::{Evidence, GapVerdict, Note, Reel, Seq};
use kubereel_tests::recording::Account;
use kubereel_tests::scripted::{End, On};
use kubereel_tests::skipped::skipped_as_slow;

use crate::recorder_faults::Scene;

const RESOURCES: [&str; 3] = ["endpoints", "leases.coordination.k8s.io", "events"];

/// Stops the recorder for so long under load; `meanwhile` happens while it stands.
fn stopped_for(
    time: Duration,
    meanwhile: impl FnOnce(&Scene) -> Result<()>,
) -> Result<(Scene, Account)> {
    let mut scene = Scene::live_under(&[])?;
    let loads = scene.load(&RESOURCES, 20)?;
    scene.await_writes(100)?;
    scene.recorder()?.pause()?;
    // How long it stands is what is tried.
    std::thread::sleep(time);
    meanwhile(&scene)?;
    scene.await_writes(20)?;
    scene.recorder()?.resume()?;
    scene.await_writes(100)?;
    for load in loads {
        load.stop()?;
    }
    let account = scene.account_after(&RESOURCES)?;
    eprintln!(
        "stopped for {time:?}: {} recorded, {} in {} gaps",
        account.recorded,
        account.in_gaps,
        account.gaps.len()
    );
    Ok((scene, account))
}

#[test]
fn stopped_for_ten_seconds_it_misses_nothing() -> Result<()> {
    let (_scene, account) = stopped_for(Duration::from_secs(10), |_| Ok(()))?;
    ensure!(account.recorded >= 700, "{account:?}");
    account.check_whole()?;
    Ok(())
}

#[test]
fn stopped_for_a_hundred_seconds_it_misses_nothing() -> Result<()> {
    if skipped_as_slow("stopped for a hundred seconds") {
        return Ok(());
    }
    let (_scene, account) = stopped_for(Duration::from_secs(100), |_| Ok(()))?;
    ensure!(account.recorded >= 5500, "{account:?}");
    account.check_whole()?;
    Ok(())
}

/// Its connections are gone when it goes on, and much has been written since.
fn cut_off(scene: &Scene) -> Result<()> {
    scene.cluster.cut_open(&On::path("*"), End::Reset);
    scene.await_writes(60)
}

fn verdicts(reel: &Reel) -> Vec<GapVerdict> {
    let notes = reel.notes().iter();
    notes
        .filter_map(|entry| match entry.note {
            Note::GapJudged { verdict, .. } => Some(verdict),
            _ => None,
        })
        .collect()
}

#[test]
fn stopped_past_the_watch_history_it_reads_back_what_lists_still_know() -> Result<()> {
    let (scene, account) = stopped_for(Duration::from_secs(5), |scene| {
        cut_off(scene)?;
        scene.cluster.forget_watch_caches();
        Ok(())
    })?;
    ensure!(!account.gaps.is_empty(), "no gap: {account:?}");
    let reel = Reel::open(&scene.reel())?;
    let seqs = (0..reel.end().0).map(Seq);
    let heads = seqs.filter_map(|seq| reel.head(seq));
    let read_back = heads.filter(|head| head.evidence == Evidence::Reconstructed);
    ensure!(read_back.count() >= 5, "{:?}", verdicts(&reel));
    Ok(())
}

#[test]
fn stopped_past_compaction_it_says_what_it_cannot_know() -> Result<()> {
    let (scene, account) = stopped_for(Duration::from_secs(5), |scene| {
        cut_off(scene)?;
        scene.cluster.compact(scene.cluster.revision());
        Ok(())
    })?;
    ensure!(account.in_gaps > 0, "nothing was lost: {account:?}");
    let verdicts = verdicts(&Reel::open(&scene.reel())?);
    ensure!(
        verdicts.iter().any(|one| *one != GapVerdict::Reconstructed),
        "{verdicts:?}"
    );
    Ok(())
}
