//! A disk that is full for a while: a small file system of its own, filled up by somebody else.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, Reel};
use kubereel_tests::recording::{Account, Observing, Recording, settle};
use kubereel_tests::scripted::Churning;
use kubereel_tests::skipped::say_skipped;

use crate::size_budget::{SURE, Scene, load};

/// A file system in memory; unmounted when it is dropped.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    /// Mounts one, if this user may.
    fn mount(at: &Path) -> Result<Option<Self>> {
        std::fs::create_dir_all(at)?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=12m", "tmpfs"])
            .arg(at)
            .output();
        Ok(match mounted {
            Ok(output) if output.status.success() => Some(Self(at.to_owned())),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                say_skipped(&format!("no small file system to fill: {why}"));
                None
            }
            Err(error) => {
                say_skipped(&format!("no small file system to fill: {error}"));
                None
            }
        })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The folder around it is removed anyway.
        Command::new("umount").arg(&self.0).status().ok();
    }
}

/// A recorder on a small disk whose reel has grown while the cluster changes.
fn grown(scene: &Scene, reel: &Path) -> Result<(Recording, Churning)> {
    let recorder = scene.record(reel, &["--max-size", "none"])?;
    let churning = scene.cluster.churn(load())?;
    put_much(scene)?;
    let grown = scene.cluster.wait_until("the reel to grow", SURE, |_| {
        let facts = std::fs::metadata(reel).ok()?;
        (facts.len() > GROWN).then_some(())
    });
    grown.with_context(|| recorder.log())?;
    Ok((recorder, churning))
}

/// Checks that a reel is whole and has objects.
fn check_whole(reel: &Path) -> Result<()> {
    let opened = Reel::open(reel)?;
    ensure!(opened.damage().is_empty(), "{:?}", opened.damage());
    ensure!(!opened.objects().is_empty(), "nothing was recorded before");
    Ok(())
}

#[test]
fn a_full_disk_loses_nothing_that_the_server_still_has_and_is_told() -> Result<()> {
    let scene = Scene::new()?;
    let Some(disk) = SmallDisk::mount(&scene.folder.path().join("disk"))? else {
        return Ok(());
    };
    let reel = disk.0.join("run.reel");
    let (recorder, churning) = grown(&scene, &reel)?;

    fill(&disk)?;
    for number in 300..600 {
        scene.put("pods", number, 10_000)?;
    }
    scene.cluster.wait_until("the disk to be full", SURE, |_| {
        recorder.log().contains("cannot write").then_some(())
    })?;
    // Whatever is on the disk now can be read.
    let copy = scene.folder.path().join("copy.reel");
    std::fs::copy(&reel, &copy)?;
    check_whole(&copy)?;
    std::fs::remove_file(disk.0.join("filler"))?;
    scene.cluster.wait_until("writing again", SURE, |_| {
        recorder.log().contains("writing again").then_some(())
    })?;
    churning.stop()?;
    for storage in ["endpoints", "pods"] {
        settle(&scene.cluster, storage, SURE).with_context(|| recorder.log())?;
    }
    let ended = recorder.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    Account::of(&reel, &scene.cluster, &["endpoints", "pods"])?.check()?;
    let opened = Reel::open(&reel)?;
    let is_told = |note: &Note| matches!(note, Note::Mark { text } if text.starts_with("the reel could not be written for "));
    ensure!(
        opened.notes().iter().any(|entry| is_told(&entry.note)),
        "nothing tells of it"
    );
    Ok(())
}

/// A reel of more bytes holds objects: a new one is a third of it.
const GROWN: u64 = 2_000_000;

/// Puts more than `GROWN` into the cluster.
fn put_much(scene: &Scene) -> Result<()> {
    for number in 0..300 {
        scene.put("pods", number, 10_000)?;
    }
    Ok(())
}

/// Fills a disk to its last byte.
fn fill(disk: &SmallDisk) -> Result<()> {
    let full = std::fs::File::create(disk.0.join("filler"))?;
    // It ends with the disk.
    std::io::copy(&mut std::io::repeat(b'x'), &mut &full).ok();
    Ok(())
}

#[test]
fn record_ends_by_itself_on_a_disk_that_stays_full() -> Result<()> {
    let scene = Scene::new()?;
    let Some(disk) = SmallDisk::mount(&scene.folder.path().join("disk"))? else {
        return Ok(());
    };
    let reel = disk.0.join("run.reel");
    let (recorder, churning) = grown(&scene, &reel)?;
    fill(&disk)?;
    // Nobody tells it to end.
    let ended = recorder.ended(SURE)?;
    churning.stop()?;
    ensure!(ended.status.code() == Some(5), "{}", ended.log);
    ensure!(ended.log.contains("stopped writing"), "{}", ended.log);
    check_whole(&reel)
}

#[test]
fn an_observer_on_a_full_disk_tells_what_is_in_the_reel_and_leaves_no_empty_file() -> Result<()> {
    let scene = Scene::new()?;
    let Some(disk) = SmallDisk::mount(&scene.folder.path().join("disk"))? else {
        return Ok(());
    };
    let kubeconfig = scene.folder.path().join("kubeconfig");
    let variables = [(
        "KUBECONFIG",
        kubeconfig.to_str().context("a path in letters")?,
    )];
    let log_folder = scene.folder.path().join("out");
    std::os::unix::fs::symlink(&disk.0, &log_folder)?;
    let mut observing = Observing::start(&log_folder, &variables, &["--max-size", "none"])?;
    let churning = scene.cluster.churn(load())?;
    put_much(&scene)?;
    let artifacts = disk.0.join("artifacts");
    let grown = scene.cluster.wait_until("the reel to grow", SURE, |_| {
        let files = std::fs::read_dir(&artifacts).ok()?.flatten();
        let mut reels =
            files.filter(|file| file.path().extension().is_some_and(|end| end == "reel"));
        (reels.next()?.metadata().ok()?.len() > GROWN).then_some(())
    });
    grown.with_context(|| observing.log())?;
    fill(&disk)?;
    let observed = observing.ended(SURE)?;
    churning.stop()?;
    ensure!(observed.status.code() == Some(0), "{}", observed.log);
    assert_eq!(
        observed.metadata("outcome")?,
        "stopped writing",
        "{}",
        observed.log
    );
    let reel = observed.file("artifacts", ".reel")?;
    let length = std::fs::metadata(&reel)?.len();
    assert_eq!(observed.metadata("reel-bytes")?, length.to_string());
    let opened = Reel::open(&reel)?;
    let events: usize = opened
        .objects()
        .iter()
        .map(|object| opened.versions(object.id).len())
        .sum();
    ensure!(events > 0, "nothing was recorded before");
    assert_eq!(observed.metadata("events")?, events.to_string());
    for path in observed.files()? {
        ensure!(
            std::fs::metadata(&path)?.len() > 0,
            "{} is empty",
            path.display()
        );
        ensure!(
            path.extension().is_none_or(|end| end != "tmp"),
            "{} stays",
            path.display()
        );
    }
    Ok(())
}
