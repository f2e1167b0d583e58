//! Faults of the recorder's own process and of the machine it runs on: stopped for a while, too little
//! memory, too few descriptors, a slow disk, a clock that steps. After each the reel can be read, and
//! nothing is lost that it does not say.
//!
//! A recorder that is stopped with SIGSTOP while the cluster goes on, and goes on itself later.
//!
//! The wall clock of the recorder steps forth and back. Nobody may step the clock of the machine for a
//! test, so a library stands between the program and the clock, where one is installed.
//!
//! A recorder that may have little: few descriptors, little memory.
//!
//! A disk that takes its time: every request to make bytes durable is held up.

#![expect(clippy::print_stderr, reason = "says what a fault did")]

use crate::recorder_faults::{ENDPOINTS, SURE, Scene};
use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Evidence, GapVerdict, Note, Reel, Seq};
use kubereel_history::{Integrity, Proof, ReelVerdict, ResourceCompleteness, Timeline};
use kubereel_tests::recording::{Account, Recording, settle};
use kubereel_tests::scripted::{Churn, Churning, End, On, Resource, noise};
use kubereel_tests::skipped::{say_skipped, skipped_as_slow};
use rustix::process::{Pid, Resource as Limited, Rlimit, prlimit};
use std::path::{Path, PathBuf};
use std::time::Duration;

// The longest come first in the order of names, side by side with all others.

impl Scene {
    /// A cluster that nobody records yet, and that ends connections which are not read, as real servers do.
    fn stalling() -> Result<Self> {
        let scene = Self::new()?;
        scene.set(|settings| settings.stall_limit = Some(Duration::from_millis(100)));
        Ok(scene)
    }

    /// Such a cluster that is recorded by a recorder that runs under a program.
    fn live_under(under: &[&str]) -> Result<Self> {
        let mut scene = Self::stalling()?;
        scene.record_under(under)?;
        scene.await_live(ENDPOINTS)?;
        Ok(scene)
    }

    fn record_under(&mut self, under: &[&str]) -> Result<()> {
        let started = Recording::start_under(under, &self.reel(), &self.kubeconfig(), &[])?;
        self.recorder = Some(started);
        Ok(())
    }

    fn recorder(&self) -> Result<&Recording> {
        self.recorder.as_ref().context("somebody records")
    }

    /// Waits until this many more changes were made.
    fn await_writes(&self, count: u128) -> Result<()> {
        let next = self.cluster.revision() + count;
        self.cluster.wait_until("more writes", SURE, |cluster| {
            (cluster.revision() >= next).then_some(())
        })
    }

    /// A steady load on these resources.
    fn load(&self, resources: &[&str], per_second: u32) -> Result<Vec<Churning>> {
        let mut loads = Vec::new();
        for (resource, seed) in resources.iter().zip(1..) {
            loads.push(self.cluster.churn(Churn {
                resource: (*resource).to_owned(),
                per_second: Some(per_second),
                seed,
                ..Churn::default()
            })?);
        }
        Ok(loads)
    }

    /// Writes one more object of each storage, ends the recording once it has received everything, and
    /// accounts for it.
    fn account_after(&mut self, storages: &[&str]) -> Result<Account> {
        for storage in storages {
            // After a deletion among Events a recorder rightly resumes one revision earlier.
            self.put(storage, "default", "last", r#""data":{}"#)?;
            settle(&self.cluster, storage, SURE).with_context(|| self.log())?;
        }
        self.account(storages)?.check()
    }
}

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

/// Names the library when it lies elsewhere.
const LIBRARY: &str = "KUBEREEL_FAKETIME";

/// Where the package `libfaketime` of Debian puts it.
const PLACES: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
];

fn library() -> Option<PathBuf> {
    let named = std::env::var_os(LIBRARY).map(PathBuf::from);
    let mut places = named.into_iter().chain(PLACES.iter().map(PathBuf::from));
    places.find(|place| place.is_file())
}

/// Steps the clock of processes that read it through the file; by one rename, so that none reads
/// half of it.
fn step(file: &Path, offset: &str) -> Result<()> {
    let new = file.with_extension("new");
    std::fs::write(&new, offset)?;
    std::fs::rename(&new, file)?;
    Ok(())
}

fn steps(reel: &Reel) -> Vec<i64> {
    let notes = reel.notes().iter();
    notes
        .filter_map(|entry| match entry.note {
            Note::ClockStepped { micros } => Some(micros),
            _ => None,
        })
        .collect()
}

#[test]
fn a_clock_that_steps_forth_and_back_is_told_and_loses_nothing() -> Result<()> {
    let Some(library) = library() else {
        say_skipped("no libfaketime, which steps the clock of one program");
        return Ok(());
    };
    let mut scene = Scene::stalling()?;
    let file = scene.folder.path().join("offset");
    step(&file, "+0")?;
    let library = format!("LD_PRELOAD={}", library.display());
    let offset = format!("FAKETIME_TIMESTAMP_FILE={}", file.display());
    scene.record_under(&[
        "env",
        &library,
        &offset,
        "FAKETIME_NO_CACHE=1",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
    ])?;
    scene.await_live(ENDPOINTS)?;
    let loads = scene.load(&["endpoints", "events"], 20)?;
    for (said, offset) in ["+3600", "-3600", "+0"].iter().enumerate() {
        step(&file, offset)?;
        let told = |log: &str| log.matches("the wall clock stepped").count() > said;
        scene
            .cluster
            .wait_until("the step to be told", SURE, |_| {
                told(&scene.log()).then_some(())
            })
            .with_context(|| scene.log())?;
        scene.await_writes(40)?;
    }
    for load in loads {
        load.stop()?;
    }
    scene
        .account_after(&["endpoints", "events"])?
        .check_whole()?;

    let reel = Reel::open(&scene.reel())?;
    let steps = steps(&reel);
    let hours = [1_i64, -2, 1].map(|hours| hours * 3_600_000_000);
    let is_near = |(told, real): (&i64, &i64)| told.abs_diff(*real) < 5_000_000;
    ensure!(
        steps.len() == hours.len() && steps.iter().zip(&hours).all(is_near),
        "{steps:?}"
    );
    // The order and the distance of records are those of the steady clock.
    let stamps: Vec<_> = (0..reel.end().0)
        .filter_map(|seq| reel.stamp(Seq(seq)))
        .collect();
    let late = Duration::from_secs(5).as_micros();
    for (earlier, later) in stamps.iter().zip(stamps.iter().skip(1)) {
        let back = earlier.elapsed.micros.saturating_sub(later.elapsed.micros);
        ensure!(u128::from(back) < late, "{earlier:?} before {later:?}");
    }
    let back = stamps
        .iter()
        .zip(stamps.iter().skip(1))
        .filter(|(earlier, later)| later.wall < earlier.wall)
        .count();
    ensure!(back > 0, "the wall clock never stepped back");
    Ok(())
}

/// More resources than the recorder may have connections.
const MANY: usize = 60;

/// How the system calls it.
const NO_MORE: &str = "Too many open files";

fn many() -> Vec<Resource> {
    let numbers = 0..MANY;
    numbers
        .map(|number| {
            let kind = format!("Many{number}");
            Resource::built_in("many.example.com", "v1", &format!("many{number}s"), &kind)
        })
        .collect()
}

fn write_all(scene: &Scene, resources: &[Resource], name: &str) -> Result<()> {
    for resource in resources {
        scene.put(&resource.key(), "default", name, r#""data":{}"#)?;
    }
    Ok(())
}

/// A recorder with forty descriptors, and a cluster of which it can follow a part.
fn with_few_descriptors() -> Result<(Scene, Vec<Resource>)> {
    let mut scene = Scene::stalling()?;
    let resources = many();
    for resource in &resources {
        scene.cluster.serve(resource.clone());
    }
    write_all(&scene, &resources, "first")?;
    scene.record_under(&["prlimit", "--nofile=40:4096"])?;
    scene.await_word(NO_MORE)?;
    write_all(&scene, &resources, "second")?;
    Ok((scene, resources))
}

fn limit(scene: &Scene, what: Limited, to: u64) -> Result<()> {
    let pid = i32::try_from(scene.recorder()?.id())?;
    let pid = Pid::from_raw(pid).context("a process")?;
    let limit = Rlimit {
        current: Some(to),
        maximum: Some(to),
    };
    prlimit(Some(pid), what, limit)?;
    Ok(())
}

#[test]
fn with_too_few_descriptors_it_says_what_it_could_not_follow() -> Result<()> {
    let (mut scene, resources) = with_few_descriptors()?;
    scene.finish()?;
    let keys: Vec<String> = resources.iter().map(Resource::key).collect();
    let timeline = Timeline::open(&scene.reel())?;
    let proof = Proof::of(&timeline, Integrity::read(&timeline, |_| {}));
    ensure!(
        proof.verdict == ReelVerdict::Incomplete,
        "{:?}",
        proof.reasons
    );
    let unknown = |key: &String| {
        let mut told = proof.resources.iter();
        let told = told.find(|one| one.resource == *key);
        told.is_none_or(|one| one.state == ResourceCompleteness::NeverListed)
    };
    let never: Vec<&String> = keys.iter().filter(|key| unknown(key)).collect();
    let named = proof.resources.iter();
    let named = named.filter(|one| keys.contains(&one.resource)).count();
    ensure!(named == MANY, "only {named} of {MANY} are named");
    ensure!(
        never.len() >= MANY / 4 && never.len() < MANY,
        "{} of {MANY} were never listed",
        never.len()
    );
    // The reel must show the reason to a later reader.
    let notes = timeline.reel().notes().iter();
    let told = notes.filter(|entry| match &entry.note {
        Note::Disconnected { detail, .. } => detail.contains(NO_MORE),
        _ => false,
    });
    ensure!(told.count() > 0, "no note tells of it");
    Ok(())
}

#[test]
fn with_descriptors_again_it_catches_up() -> Result<()> {
    let (mut scene, resources) = with_few_descriptors()?;
    limit(&scene, Limited::Nofile, 4096)?;
    for resource in &resources {
        scene.await_live(&resource.path())?;
    }
    write_all(&scene, &resources, "third")?;
    let keys: Vec<String> = resources.iter().map(Resource::key).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let account = scene.account_after(&keys)?;
    ensure!(account.recorded >= 2 * MANY, "{account:?}");
    Ok(())
}

/// Bytes of one large object.
const LARGE: usize = 1024 * 1024;

#[test]
fn a_burst_larger_than_its_memory_is_taken_in_parts() -> Result<()> {
    // Of address space, of which threads and their arenas take most without using it.
    let mut scene = Scene::live_under(&["prlimit", "--as=900000000"])?;
    scene.recorder()?.pause()?;
    let filler = "b".repeat(LARGE);
    for nth in 0..400 {
        let members = format!(r#""data":{{"n":"{nth}","filler":"{filler}"}}"#);
        let name = format!("large-{}", nth % 7);
        scene.put("endpoints", "default", &name, &members)?;
    }
    scene.recorder()?.resume()?;
    scene
        .cluster
        .wait_sent("endpoints", SURE)
        .with_context(|| scene.log())?;
    let peak = scene.recorder()?.peak_memory_kib()? / 1024;
    let account = scene.account_after(&["endpoints"])?.check_whole()?;
    ensure!(account.recorded >= 400, "{account:?}");
    eprintln!("400 MiB in one burst: {peak} MiB at most");
    ensure!(peak < 400, "{peak} MiB");
    Ok(())
}

#[test]
fn a_recorder_that_gets_no_memory_any_more_leaves_a_reel_that_is_gone_on_with() -> Result<()> {
    let mut scene = Scene::live_under(&[])?;
    let loads = scene.load(&["endpoints", "pods"], 50)?;
    scene.await_writes(100)?;
    scene
        .cluster
        .wait_until("something to be on disk", SURE, |_| {
            let copy = scene.folder.path().join("copy.reel");
            // A copy of what is being written may be torn.
            std::fs::copy(scene.reel(), &copy).ok()?;
            let reel = Reel::open(&copy).ok()?;
            (reel.object_count() > 20).then_some(())
        })?;
    // From here on the system gives it nothing more.
    limit(&scene, Limited::Data, 1)?;
    let filler = "b".repeat(8 * LARGE);
    let members = format!(r#""data":{{"filler":"{filler}"}}"#);
    for nth in 0..4 {
        let name = format!("huge-{nth}");
        scene.put("endpoints", "default", &name, &members)?;
    }
    let recorder = scene.recorder.take().context("somebody records")?;
    let ended = recorder.ended(Duration::from_mins(1))?;
    ensure!(!ended.status.success(), "{}", ended.log);
    let left = Reel::open(&scene.reel())?;
    ensure!(left.damage().is_empty(), "{:?}", left.damage());
    ensure!(left.object_count() > 20, "too little was kept");
    drop(left);

    let seen = scene.cluster.requests().len();
    scene.record_under(&[])?;
    let again = |one: &kubereel_tests::scripted::Exchange| {
        one.number >= seen && one.asked.path == ENDPOINTS && one.progress().lines > 0
    };
    scene
        .cluster
        .wait_for_request("the second recorder", SURE, again)
        .with_context(|| scene.log())?;
    for load in loads {
        load.stop()?;
    }
    let account: Account = scene.account_after(&["endpoints", "pods"])?;
    account.check_whole()?;
    Ok(())
}

/// Holds up every sync for three tenths of a second. The tracer stands aside, so
/// that the recorder is this test's own child.
const SLOW: [&str; 8] = [
    "strace",
    "-D",
    "-f",
    "-qq",
    "--seccomp-bpf",
    "-o/dev/null",
    "-etrace=fsync,fdatasync",
    "-einject=fsync,fdatasync:delay_enter=300000",
];

/// Bytes of one object.
const NOISE_BYTES: usize = 512 * 1024;

#[test]
fn a_slow_disk_holds_up_the_streams_and_not_the_memory() -> Result<()> {
    let is_there = std::process::Command::new("strace").arg("-V").output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        say_skipped("no strace, which makes a disk slow");
        return Ok(());
    }
    let mut scene = Scene::live_under(&SLOW)?;
    for nth in 0..120_u64 {
        let members = format!(
            r#""data":{{"n":"{nth}","noise":"{}"}}"#,
            noise(nth, NOISE_BYTES)
        );
        scene.put("endpoints", "default", &format!("o-{}", nth % 20), &members)?;
    }
    scene
        .cluster
        .wait_sent("endpoints", SURE)
        .with_context(|| scene.log())?;
    let peak = scene.recorder()?.peak_memory_kib()? / 1024;
    let account = scene.account_after(&["endpoints"])?.check_whole()?;
    ensure!(account.recorded >= 120, "{account:?}");
    eprintln!("a slow disk: {peak} MiB at most");
    ensure!(peak < 300, "{peak} MiB");
    Ok(())
}
