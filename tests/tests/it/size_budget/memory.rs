//! The real recorder with little memory, and a server with more objects than fit into it.

use super::{SURE, Scene, kubereel};
use anyhow::{Context as _, Result, ensure};
use kubereel_format::{NotCoveredReason, Note, Reel};
use kubereel_tests::recording::settle;
use kubereel_tests::scripted::{Fault, LongList, On, WatchList};
use std::path::Path;

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

/// Gives the resources that a reel says to be left out for want of memory.
fn left_out(reel: &Path) -> Result<Vec<String>> {
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
    ensure!(left_out(&reel)? == ["endpoints"], "{:?}", left_out(&reel)?);
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
    ensure!(left_out(&reel)?.is_empty(), "{:?}", left_out(&reel)?);
    let opened = Reel::open(&reel)?;
    let count = u64::try_from(opened.objects().len())?;
    ensure!(count >= COUNT, "{count} objects");
    Ok(())
}
