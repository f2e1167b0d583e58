//! Faults that only patience finds out: silence of half a minute and more. They run side by side, and
//! only when asked for.

use std::thread;

use anyhow::{Result, anyhow};
use kubereel_format::{EndCause, Note};
use kubereel_tests::scripted::{Canned, End, Fault, InitialEnd, On, WatchList};
use kubereel_tests::skipped::skipped_as_slow;

use crate::recorder_faults::{ENDPOINTS, Scene};

fn half_open() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.cluster.cut_open(&On::watch(ENDPOINTS), End::Silent);
    scene.write()?;
    scene
        .cluster
        .wait_sent("endpoints", std::time::Duration::from_mins(3))?;
    scene.whole(&["endpoints"])?;
    let idle =
        |note: &Note| matches!(note, Note::Disconnected { cause, .. } if *cause == EndCause::Idle);
    assert!(scene.notes()?.iter().any(idle));
    Ok(())
}

fn no_end_of_the_list(settings: fn(&mut kubereel_tests::scripted::Settings)) -> Result<()> {
    let mut scene = Scene::new()?;
    scene.set(settings);
    scene.record()?;
    scene.cluster.wait_for_request(
        "a list in pages",
        std::time::Duration::from_mins(3),
        |one| one.asked.path == ENDPOINTS && one.asked.parameter("limit").is_some(),
    )?;
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    scene.account(&["endpoints"])?.check()?;
    Ok(())
}

fn forbidden_for_a_while() -> Result<()> {
    let mut scene = Scene::live()?;
    let forbidden = Canned::status(403, "Forbidden", "endpoints is forbidden");
    scene.next_watch(Fault::Answer(forbidden))?;
    scene.write()?;
    scene
        .cluster
        .wait_sent("endpoints", std::time::Duration::from_mins(2))?;
    scene.whole(&["endpoints"])?;
    Ok(())
}

#[test]
fn patience_finds_out() -> Result<()> {
    if skipped_as_slow("faults that only patience finds out") {
        return Ok(());
    }
    let scenes: [fn() -> Result<()>; 5] = [
        half_open,
        || no_end_of_the_list(|settings| settings.initial_end = InitialEnd::Missing),
        || no_end_of_the_list(|settings| settings.initial_end = InitialEnd::WithoutRevision),
        || no_end_of_the_list(|settings| settings.watch_list = WatchList::Ignored),
        forbidden_for_a_while,
    ];
    let threads: Vec<_> = scenes
        .into_iter()
        .map(|scene| thread::Builder::new().name("scene".to_owned()).spawn(scene))
        .collect::<Result<_, _>>()?;
    for thread in threads {
        thread
            .join()
            .map_err(|_panic| anyhow!("a scene panicked"))??;
    }
    Ok(())
}
