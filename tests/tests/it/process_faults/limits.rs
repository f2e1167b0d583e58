//! A recorder that may have little: few descriptors, little memory.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, Reel};
use kubereel_history::{Integrity, Proof, ReelVerdict, ResourceCompleteness, Timeline};
use kubereel_tests::recording::Account;
use kubereel_tests::scripted::Resource;
use rustix::process::{Pid, Resource as Limited, Rlimit, prlimit};

use crate::recorder_faults::{ENDPOINTS, SURE, Scene};

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
    // Whoever looks at the reel later is told why.
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
            (reel.objects().len() > 20).then_some(())
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
    ensure!(left.objects().len() > 20, "too little was kept");
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
