//! A recorder with too little of something, or in somebody's way.

use std::path::Path;

use anyhow::{Result, ensure};
use kubereel_format::Note;
use kubereel_tests::recording::{Ended, Recording};

use crate::{CONFIGMAPS, SURE, Scene};

/// Starts a recorder that must give up at once, with a reason and a hint.
fn refused(scene: &Scene, reel: &Path) -> Result<Ended> {
    let ended = Recording::start(reel, &scene.kubeconfig(), &[])?.ended(SURE)?;
    ensure!(!ended.status.success(), "it recorded: {}", ended.log);
    for word in ["error: ", "hint: "] {
        ensure!(ended.log.contains(word), "no {word:?} in {}", ended.log);
    }
    ensure!(!ended.log.contains("panicked"), "{}", ended.log);
    Ok(ended)
}

#[test]
fn an_output_that_cannot_be_written_is_said_at_once() -> Result<()> {
    let scene = Scene::new()?;
    let folder = tempfile::tempdir()?;
    let no_reel = folder.path().join("a.reel");
    std::fs::write(
        &no_reel,
        "PK\u{3}\u{4} this is no reel, and it is somebody's".repeat(200),
    )?;
    let before = std::fs::read(&no_reel)?;
    assert_eq!(refused(&scene, &no_reel)?.status.code(), Some(3));
    assert!(
        before == std::fs::read(&no_reel)?,
        "somebody's file was touched"
    );

    let is_folder = folder.path().join("folder");
    std::fs::create_dir(&is_folder)?;
    refused(&scene, &is_folder)?;
    Ok(())
}

#[test]
fn a_reel_that_is_being_recorded_is_left_alone() -> Result<()> {
    let mut scene = Scene::live()?;
    let second = scene.folder.path().join("second.reel");
    std::os::unix::fs::symlink(scene.reel(), &second)?;
    refused(&scene, &second)?;
    scene.write()?;
    scene.whole(&["configmaps"])?;
    Ok(())
}

#[test]
fn few_file_descriptors_delay_and_lose_nothing() -> Result<()> {
    let mut scene = Scene::new()?;
    // A recorder of this cluster wants some twenty.
    scene.recorder = Some(Recording::start_limited(
        &scene.reel(),
        &scene.kubeconfig(),
        "ulimit -n 16",
    )?);
    scene.cluster.wait_until("a first list", SURE, |cluster| {
        let requests = cluster.requests();
        let lists = requests
            .iter()
            .filter(|one| one.asked.is_watch() && one.progress().lines > 0);
        (lists.count() > 0).then_some(())
    })?;
    scene.finish()?;
    let starved = scene.notes()?.into_iter().any(|note| {
        matches!(note, Note::Disconnected { detail, .. } if detail.contains("Too many open files"))
    });
    assert!(starved, "the limit was not felt: {:#?}", scene.notes()?);
    // With enough of them it goes on where it came to.
    scene.record()?;
    scene.await_live(CONFIGMAPS)?;
    scene.write()?;
    scene.account(&["configmaps"])?.check()?;
    Ok(())
}
