//! The real recorder with little room: the reel on disk is never larger than it may be, not for a
//! moment, and says what it left out and when. And on a disk that is full for a while.

mod disk_full;
mod memory;
mod watched_size;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{EventType, NotCoveredReason, Note, Reel, Seq, SessionEnd};
use kubereel_tests::recording::{Ended, Recording, program, settle};
use kubereel_tests::scripted::{Churn, Kubeconfig, ScriptedCluster, noise};
use tempfile::TempDir;
use watched_size::WatchedSize;

/// How long anything that is sure to come may take on a busy machine.
pub(crate) const SURE: Duration = Duration::from_mins(1);

/// The least that a reel may be limited to.
const MAX_BYTES: u64 = 8_000_000;

/// Names in the order in which they are left out; those of one row have no order among them.
const ORDER: [&[&str]; 5] = [
    &["leases.coordination.k8s.io"],
    &["events"],
    &["endpoints", "deployments.apps"],
    &["pods"],
    &["nodes"],
];

struct Scene {
    cluster: ScriptedCluster,
    folder: TempDir,
}

impl Scene {
    fn new() -> Result<Self> {
        let scene = Self {
            cluster: ScriptedCluster::start()?,
            folder: tempfile::tempdir()?,
        };
        let kubeconfig = scene.folder.path().join("kubeconfig");
        scene
            .cluster
            .write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
        Ok(scene)
    }

    fn record(&self, reel: &Path, more: &[&str]) -> Result<Recording> {
        Recording::start(reel, &self.folder.path().join("kubeconfig"), more)
    }

    fn put(&self, resource: &str, number: u64, bytes: usize) -> Result<()> {
        let members = format!(r#""note":"{}""#, noise(number, bytes));
        let namespace = if resource == "nodes" { "" } else { "default" };
        let name = format!("o-{}", number % 197);
        self.cluster.put(resource, namespace, &name, &members)?;
        Ok(())
    }
}

/// What a reel says of what it left out, in order.
fn left_out(reel: &Reel) -> Vec<(Seq, String)> {
    let notes = reel.notes().iter();
    notes
        .filter_map(|entry| match &entry.note {
            Note::NotCovered {
                group,
                plural,
                reason: NotCoveredReason::SizeBudget,
                ..
            } if group.is_empty() => Some((entry.seq, plural.clone())),
            Note::NotCovered {
                group,
                plural,
                reason: NotCoveredReason::SizeBudget,
                ..
            } => Some((entry.seq, format!("{plural}.{group}"))),
            _ => None,
        })
        .collect()
}

fn check_order(left_out: &[(Seq, String)]) -> Result<()> {
    let rank = |name: &str| ORDER.iter().position(|row| row.contains(&name));
    let ranks: Vec<usize> = left_out.iter().filter_map(|(_, name)| rank(name)).collect();
    ensure!(ranks.is_sorted(), "not in order: {left_out:?}");
    let names: BTreeSet<&str> = left_out.iter().map(|(_, name)| name.as_str()).collect();
    ensure!(names.len() == left_out.len(), "said twice: {left_out:?}");
    Ok(())
}

/// Nothing of a resource stands behind the word that it is left out.
fn check_silence(reel: &Reel, left_out: &[(Seq, String)]) -> Result<()> {
    for (at, name) in left_out {
        for object in reel.objects() {
            let info = reel.notes().iter().find_map(|entry| match &entry.note {
                Note::Resource(info) if info.id == object.key.resource => Some(info.qualified()),
                _ => None,
            });
            let late = reel.versions(object.id).iter().find(|seq| *seq > at);
            ensure!(
                info.as_deref() != Some(name) || late.is_none(),
                "{name} at {late:?}, left out at {at}"
            );
        }
    }
    Ok(())
}

fn kubereel(args: &[&str]) -> Result<(Option<i32>, String)> {
    let output = Command::new(program()?).args(args).output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Ok((output.status.code(), said))
}

#[test]
fn a_cluster_that_writes_as_fast_as_it_can_never_makes_the_reel_too_large() -> Result<()> {
    let scene = Scene::new()?;
    let reel = scene.folder.path().join("run.reel");
    for number in 0..5 {
        scene.put("nodes", number, 500)?;
    }
    let size = WatchedSize::start(&reel)?;
    let recorder = scene.record(&reel, &["--max-size", "8MB"])?;
    let resources = [
        "leases.coordination.k8s.io",
        "events",
        "endpoints",
        "deployments.apps",
        "pods",
        "nodes",
    ];
    let mut number = 0_u64;
    let deadline = Instant::now() + SURE;
    let is_full = |recorder: &Recording| recorder.log().contains("no longer recorded: nodes");
    while !is_full(&recorder) {
        ensure!(Instant::now() < deadline, "never full: {}", recorder.log());
        for resource in resources {
            scene.put(resource, number, 3_000)?;
            number += 1;
        }
    }
    for _ in 0..500 {
        number += 1;
        scene.put("nodes", number, 3_000)?;
    }
    let ended = recorder.finish(SURE)?;
    let largest = size.largest();
    ensure!(ended.status.success(), "{}", ended.log);
    ensure!(largest <= MAX_BYTES, "{largest} bytes");
    ensure!(
        largest > MAX_BYTES / 2,
        "only {largest} bytes of the room were used"
    );

    check_reel(&reel)
}

/// The reel says in order what it left out, and every command says the same.
fn check_reel(reel: &Path) -> Result<()> {
    let opened = Reel::open(reel)?;
    ensure!(opened.damage().is_empty(), "{:?}", opened.damage());
    let out = left_out(&opened);
    check_order(&out)?;
    check_silence(&opened, &out)?;
    ensure!(out.len() >= 6, "{out:?}");
    let notes = opened.notes().iter();
    let marks = notes.filter(
        |entry| matches!(&entry.note, Note::Mark { text } if text.starts_with("size budget: ")),
    );
    ensure!(marks.count() >= 5, "too few marks");
    let is_end = |note: &Note| {
        matches!(
            note,
            Note::SessionEnded {
                end: SessionEnd::Signal(_),
                ..
            }
        )
    };
    ensure!(
        opened.notes().iter().any(|entry| is_end(&entry.note)),
        "no end"
    );
    ensure!(opened.objects().iter().any(|object| {
        let versions = opened.versions(object.id).iter();
        let mut kinds = versions.filter_map(|seq| opened.kind_of(*seq));
        kinds.any(|kind| kind == EventType::Modified)
    }));
    drop(opened);

    let path = reel.to_str().context("a path of text")?;
    let (code, said) = kubereel(&["get", path, "leases", "-A"])?;
    ensure!(
        code == Some(4) && said.contains("size budget"),
        "{code:?}: {said}"
    );
    let (code, said) = kubereel(&["info", path])?;
    ensure!(
        code == Some(0) && said.contains("size budget"),
        "{code:?}: {said}"
    );
    let first = left_out(&Reel::open(reel)?);
    ensure!(
        first
            .first()
            .is_some_and(|(_, name)| name == "leases.coordination.k8s.io"),
        "{first:?}"
    );
    Ok(())
}

#[test]
fn first_lists_larger_than_the_reel_may_be_are_said_to_be_left_out() -> Result<()> {
    let scene = Scene::new()?;
    let reel = scene.folder.path().join("run.reel");
    for number in 0..180 {
        scene.put("endpoints", number, 100_000)?;
        scene.put("pods", number, 1_000)?;
    }
    let large = format!(r#""note":"{}""#, noise(7, 20_000).repeat(1_500));
    scene
        .cluster
        .put("deployments.apps", "default", "large", &large)?;
    let size = WatchedSize::start(&reel)?;
    let recorder = scene.record(&reel, &["--max-size", "8MB"])?;
    scene.cluster.wait_until("the budget's word", SURE, |_| {
        let log = recorder.log();
        let is_said = ["endpoints", "deployments.apps"].iter().all(|name| {
            log.lines()
                .any(|line| line.contains("size budget: no longer") && line.contains(name))
        });
        is_said.then_some(())
    })?;
    let ended = recorder.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    ensure!(size.largest() <= MAX_BYTES, "{} bytes", size.largest());
    let opened = Reel::open(&reel)?;
    let out = left_out(&opened);
    check_order(&out)?;
    check_silence(&opened, &out)?;
    ensure!(out.iter().any(|(_, name)| name == "endpoints"), "{out:?}");
    drop(opened);

    // Packed, and more than half of what it may be, it cannot be gone on with.
    let before = std::fs::read(&reel)?;
    let ended = scene.record(&reel, &["--max-size", "8MB"])?.ended(SURE)?;
    check_full(&ended)?;
    ensure!(before == std::fs::read(&reel)?, "it was touched");
    Ok(())
}

#[test]
fn what_a_killed_recorder_left_out_stays_out() -> Result<()> {
    let scene = Scene::new()?;
    let reel = scene.folder.path().join("run.reel");
    scene.put("nodes", 0, 100)?;
    for number in 0..180 {
        scene.put("endpoints", number, 100_000)?;
    }
    let size = WatchedSize::start(&reel)?;
    let recorder = scene.record(&reel, &["--max-size", "8MB"])?;
    let copy = scene.folder.path().join("copy.reel");
    scene
        .cluster
        .wait_until("the word to be durable", SURE, |_| {
            // A copy of what is being written may be torn.
            std::fs::copy(&reel, &copy).ok()?;
            let ends = left_out(&Reel::open(&copy).ok()?);
            ends.iter()
                .any(|(_, name)| name == "endpoints")
                .then_some(())
        })?;
    recorder.kill()?;
    let recorder = scene.record(&reel, &["--max-size", "8MB"])?;
    scene.put("nodes", 0, 200)?;
    settle(&scene.cluster, "nodes", SURE).with_context(|| recorder.log())?;
    let ended = recorder.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    ensure!(size.largest() <= MAX_BYTES, "{} bytes", size.largest());
    let opened = Reel::open(&reel)?;
    let ends = left_out(&opened);
    let last = ends.iter().rfind(|(_, name)| name == "endpoints");
    let (at, _) = last.context("endpoints were recorded again")?;
    check_silence(&opened, &[(*at, "endpoints".to_owned())])?;
    Ok(())
}

fn check_full(ended: &Ended) -> Result<()> {
    let Ended { status, log } = ended;
    ensure!(status.code() == Some(5), "{status}: {log}");
    ensure!(
        log.contains("no room left") && log.contains("hint: "),
        "{log}"
    );
    Ok(())
}

#[test]
fn a_reel_that_is_larger_than_it_may_be_is_not_gone_on_with() -> Result<()> {
    let scene = Scene::new()?;
    let reel = scene.folder.path().join("run.reel");
    for number in 0..180 {
        scene.put("endpoints", number, 100_000)?;
    }
    let recorder = scene.record(&reel, &["--max-size", "none"])?;
    settle(&scene.cluster, "endpoints", SURE)?;
    ensure!(recorder.finish(SURE)?.status.success(), "it failed");
    let before = std::fs::read(&reel)?;
    ensure!(before.len() > 8_000_000, "only {} bytes", before.len());
    let ended = scene.record(&reel, &["--max-size", "8MB"])?.ended(SURE)?;
    check_full(&ended)?;
    ensure!(before == std::fs::read(&reel)?, "it was touched");
    Ok(())
}

/// A load that nobody's size limits: the writes of others do not wait for the recorder.
pub(crate) fn load() -> Churn {
    Churn {
        resource: "endpoints".to_owned(),
        per_second: Some(200),
        body_bytes: 2_000,
        ..Churn::default()
    }
}
