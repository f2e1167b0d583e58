//! The real recorder with little room: the reel on disk is never larger than it may be, not for a
//! moment, and says what it left out and when. And on a disk that is full for a while.
//!
//! A disk that is full for a while: a small file system of its own, filled up by somebody else.
//!
//! The real recorder with little memory, and a server with more objects than fit into it.
//!
//! The size of a file, looked at all the time by a thread of its own. It does not miss what lasts
//! longer than a look.

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{EventType, NotCoveredReason, Note, Reel, Seq, SessionEnd};
use kubereel_tests::recording::{Account, Observing, RecorderExit, Recording, program, settle};
use kubereel_tests::scripted::{
    Churn, Churning, Fault, Kubeconfig, LongList, On, ScriptedCluster, WatchList, noise,
};
use kubereel_tests::skipped::say_skipped;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

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
    ensure!(opened.objects().any(|object| {
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
    // An object that is too large for the file ends its resource when it comes, which may be before the others.
    let (large, others): (Vec<_>, Vec<_>) = out
        .iter()
        .cloned()
        .partition(|(_, name)| name == "deployments.apps");
    ensure!(large.len() == 1, "{out:?}");
    check_order(&others)?;
    check_silence(&opened, &out)?;
    ensure!(out.iter().any(|(_, name)| name == "endpoints"), "{out:?}");
    drop(opened);

    // It is packed and larger than half of its limit, so it cannot be resumed.
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

fn check_full(ended: &RecorderExit) -> Result<()> {
    let RecorderExit { status, log } = ended;
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

/// A file system in memory; unmounted when it is dropped.
struct SmallDisk(PathBuf);

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

/// Waits until a reel has grown and holds objects.
fn wait_until_grown(scene: &Scene, reel: impl Fn() -> Option<PathBuf>) -> Result<()> {
    scene.cluster.wait_until("the reel to grow", SURE, |_| {
        (std::fs::metadata(reel()?).ok()?.len() > GROWN).then_some(())
    })?;
    // The file grows before the first of what it grows for is committed.
    let copy = scene.folder.path().join("grown.reel");
    scene
        .cluster
        .wait_until("the reel to hold objects", SURE, |_| {
            std::fs::copy(reel()?, &copy).ok()?;
            let opened = Reel::open(&copy).ok()?;
            (opened.object_count() > 0).then_some(())
        })
}

/// A recorder on a small disk whose reel has grown while the cluster changes.
fn grown(scene: &Scene, reel: &Path) -> Result<(Recording, Churning)> {
    let recorder = scene.record(reel, &["--max-size", "none"])?;
    let churning = scene.cluster.churn(load())?;
    put_much(scene)?;
    let grown = wait_until_grown(scene, || Some(reel.to_owned()));
    grown.with_context(|| recorder.log())?;
    Ok((recorder, churning))
}

/// Checks that a reel is whole and has objects.
fn check_whole(reel: &Path) -> Result<()> {
    let opened = Reel::open(reel)?;
    ensure!(opened.damage().is_empty(), "{:?}", opened.damage());
    ensure!(opened.object_count() > 0, "nothing was recorded before");
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
    let grown = wait_until_grown(&scene, || {
        let files = std::fs::read_dir(&artifacts).ok()?.flatten();
        let mut paths = files.map(|file| file.path());
        paths.find(|path| path.extension().is_some_and(|end| end == "reel"))
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

/// The least that memory may be limited to, in MB as the flag takes them.
const LEAST: u64 = 128;

/// An Endpoints object, as small as they come.
const ITEM: &str = r#"{"metadata":{"name":"service-#","namespace":"default","uid":"7b1c5a10-12ab-4cde-8f01-000#","resourceVersion":"1"},"subsets":[{"addresses":[{"ip":"10.0.0.1"}]}]}"#;

fn with_list(count: Option<u64>) -> Result<Scene> {
    let scene = Scene::new()?;
    scene
        .cluster
        .set(|settings| settings.watch_list = WatchList::Refused);
    let item = ITEM.to_owned();
    scene.cluster.fault(
        On::list("/api/v1/endpoints"),
        Fault::LongList(LongList { item, count }),
    );
    scene.put("pods", 1, 300)?;
    Ok(scene)
}

/// Returns the resources that a reel says to be left out for want of memory.
fn left_out_of(reel: &Path) -> Result<Vec<String>> {
    let reel = Reel::open(reel)?;
    let notes = reel.notes().iter();
    Ok(notes
        .filter_map(|entry| match &entry.note {
            Note::NotCovered {
                plural,
                reason: NotCoveredReason::MemoryBudget,
                ..
            } => Some(plural.clone()),
            _ => None,
        })
        .collect())
}

#[test]
fn a_list_without_an_end_is_given_up_and_everything_else_is_recorded() -> Result<()> {
    let scene = with_list(None)?;
    let reel = scene.folder.path().join("run.reel");
    let limit = format!("{LEAST}MB");
    let recorder = scene.record(&reel, &["--max-memory", &limit, "--max-size", "none"])?;
    scene
        .cluster
        .wait_until("the budget's word", 2 * SURE, |_| {
            let words = "memory budget: no longer recorded: endpoints";
            recorder.log().contains(words).then_some(())
        })?;
    for number in 0..20 {
        scene.put("pods", number, 300)?;
    }
    settle(&scene.cluster, "pods", SURE).with_context(|| recorder.log())?;
    let peak = recorder.peak_memory_kib()? * 1024 / 1_000_000;
    let ended = recorder.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    ensure!(!ended.log.contains("panicked"), "{}", ended.log);
    eprintln!("a list without an end, limited to {LEAST} MB: {peak} MB at most");
    ensure!(peak <= LEAST, "{peak} MB of {LEAST}");
    ensure!(
        left_out_of(&reel)? == ["endpoints"],
        "{:?}",
        left_out_of(&reel)?
    );
    let path = reel.to_str().context("a path of text")?;
    let (code, said) = kubereel(&["verify", path])?;
    ensure!(
        code == Some(1) && said.contains("memory budget"),
        "{code:?}: {said}"
    );
    let (code, said) = kubereel(&["get", path, "endpoints", "-A"])?;
    ensure!(
        code == Some(4) && said.contains("memory budget"),
        "{code:?}: {said}"
    );
    let (code, said) = kubereel(&["get", path, "pods", "-A"])?;
    ensure!(code == Some(0), "{code:?}: {said}");
    Ok(())
}

#[test]
fn as_many_objects_as_fit_are_recorded_with_their_bodies_in_a_file() -> Result<()> {
    const COUNT: u64 = 100_000;
    let scene = with_list(Some(COUNT))?;
    let reel = scene.folder.path().join("run.reel");
    let recorder = scene.record(&reel, &["--max-memory", "200MB", "--max-size", "none"])?;
    // The watch begins when the list has been read whole.
    scene
        .cluster
        .wait_until("the watch behind the list", 2 * SURE, |cluster| {
            let requests = cluster.requests();
            let mut asked = requests.into_iter().map(|request| request.asked.clone());
            asked
                .any(|asked| {
                    asked.is_watch()
                        && asked.parameter("sendInitialEvents").is_none()
                        && asked.path == "/api/v1/endpoints"
                })
                .then_some(())
        })?;
    let peak = recorder.peak_memory_kib()? * 1024 / 1_000_000;
    let has_body_file = recorder.has_body_file()?;
    let ended = recorder.finish(SURE)?;
    ensure!(ended.status.success(), "{}", ended.log);
    eprintln!("{COUNT} objects, limited to 200 MB: {peak} MB at most");
    ensure!(peak <= 200, "{peak} MB");
    ensure!(
        has_body_file,
        "no body moved to a file: the test shows nothing"
    );
    ensure!(left_out_of(&reel)?.is_empty(), "{:?}", left_out_of(&reel)?);
    let opened = Reel::open(&reel)?;
    let count = u64::try_from(opened.object_count())?;
    ensure!(count >= COUNT, "{count} objects");
    Ok(())
}

/// Between two looks.
const EVERY: Duration = Duration::from_micros(200);

/// The largest size that a file has had.
pub(crate) struct WatchedSize {
    largest: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WatchedSize {
    pub(crate) fn start(path: &Path) -> Result<Self> {
        let (largest, stop) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let path: PathBuf = path.to_owned();
        let thread = {
            let (largest, stop) = (Arc::clone(&largest), Arc::clone(&stop));
            std::thread::Builder::new()
                .name("size".to_owned())
                .spawn(move || {
                    while !stop.load(Ordering::SeqCst) {
                        let len = std::fs::metadata(&path).map_or(0, |facts| facts.len());
                        largest.fetch_max(len, Ordering::SeqCst);
                        // Pacing, not waiting for anything.
                        std::thread::sleep(EVERY);
                    }
                })?
        };
        Ok(Self {
            largest,
            stop,
            thread: Some(thread),
        })
    }

    pub(crate) fn largest(&self) -> u64 {
        self.largest.load(Ordering::SeqCst)
    }
}

impl Drop for WatchedSize {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // It does nothing that could fail.
            thread.join().ok();
        }
    }
}
