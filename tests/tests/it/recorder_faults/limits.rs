//! A recorder that must not write where it was told to.

use std::path::Path;

use anyhow::{Result, ensure};
use kubereel_tests::recording::{Ended, Recording};

use crate::recorder_faults::{SURE, Scene};

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
    scene.written_whole()
}
