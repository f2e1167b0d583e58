//! Lists, streamed and in pages, that go wrong.

use anyhow::Result;
use kubereel_format::{ListMethod, Note};
use kubereel_tests::scripted::{Canned, End, Fault, InitialEnd, On, Pick, Place, WatchList};

use crate::recorder_faults::{ENDPOINTS, Scene, cut};

/// A scene with so many endpoints beside the first.
fn crowded(count: usize) -> Result<Scene> {
    let scene = Scene::new()?;
    for nth in 0..count {
        scene.put(
            "endpoints",
            "default",
            &format!("c{nth:04}"),
            r#""data":{}"#,
        )?;
    }
    Ok(scene)
}

fn methods(scene: &Scene) -> Result<Vec<(ListMethod, u64)>> {
    let synced = |note| match note {
        Note::Synced {
            method, objects, ..
        } => Some((method, objects)),
        _ => None,
    };
    Ok(scene.notes()?.into_iter().filter_map(synced).collect())
}

#[test]
fn a_server_without_streamed_lists_is_read_in_pages() -> Result<()> {
    let mut scene = crowded(1200)?;
    scene.set(|settings| settings.watch_list = WatchList::Refused);
    let account = scene.recorded_whole()?;
    assert_eq!(account.recorded, 1202, "{account:?}");
    assert!(methods(&scene)?.contains(&(ListMethod::Pages, 1201)));
    Ok(())
}

#[test]
fn an_old_server_is_not_asked_for_streamed_lists() -> Result<()> {
    let mut scene = crowded(10)?;
    scene.set(|settings| {
        "v1.26.4".clone_into(&mut settings.version);
        settings.watch_list = WatchList::Ignored;
    });
    scene.recorded_whole()?;
    let streamed = scene
        .cluster
        .requests()
        .iter()
        .filter(|one| one.asked.parameter("sendInitialEvents").is_some())
        .count();
    assert_eq!(streamed, 0);
    Ok(())
}

#[test]
fn a_token_that_expires_on_the_second_page_starts_the_list_anew() -> Result<()> {
    let mut scene = crowded(1200)?;
    scene.set(|settings| settings.watch_list = WatchList::Refused);
    let expired = Canned::status(410, "Expired", "The provided continue parameter is too old");
    let rule = scene.fault(
        On::list(ENDPOINTS).with_query("continue=").once(),
        Fault::Answer(expired),
    );
    let account = scene.recorded_whole()?;
    assert_eq!((account.recorded, scene.cluster.hits(rule)), (1202, 1));
    Ok(())
}

#[test]
fn pages_cut_anywhere_are_read_again() -> Result<()> {
    let mut scene = crowded(1200)?;
    scene.set(|settings| settings.watch_list = WatchList::Refused);
    for (place, end) in [
        (Place::Line(0), End::Closed),
        (Place::Line(40), End::Reset),
        (Place::Line(5000), End::Closed),
        (Place::Line(5000), End::Finished),
    ] {
        scene.fault(On::list(ENDPOINTS).once(), cut(Pick::Every, place, end));
    }
    scene.fault(
        On::list(ENDPOINTS).with_query("continue=").times(2),
        cut(Pick::Every, Place::Line(9000), End::Closed),
    );
    assert_eq!(scene.recorded_whole()?.recorded, 1202);
    Ok(())
}

#[test]
fn a_streamed_list_cut_before_its_end_is_begun_anew() -> Result<()> {
    let mut scene = crowded(50)?;
    for (line, place, end) in [
        (0, Place::Line(0), End::Closed),
        (20, Place::Line(15), End::Reset),
        (50, Place::After, End::Finished),
    ] {
        scene.fault(
            On::watch(ENDPOINTS).with_query("sendInitialEvents").once(),
            cut(Pick::Line(line), place, end),
        );
    }
    assert_eq!(scene.recorded_whole()?.recorded, 52);
    Ok(())
}

#[test]
fn changes_before_the_end_of_a_streamed_list_count() -> Result<()> {
    let mut scene = crowded(5)?;
    scene.put("endpoints", "default", "c0001", r#""data":{"again":"yes"}"#)?;
    scene.delete("endpoints", "default", "c0002")?;
    scene.put("endpoints", "default", "c0009", r#""data":{}"#)?;
    scene.set(|settings| settings.initial_lag = 3);
    let account = scene.recorded_whole()?;
    assert_eq!(account.recorded, 10, "{account:?}");
    Ok(())
}

#[test]
fn an_end_of_the_list_that_comes_first_is_not_believed_blindly() -> Result<()> {
    let mut scene = crowded(5)?;
    scene.set(|settings| settings.initial_end = InitialEnd::BeforeEvents);
    scene.record()?;
    scene.await_live(ENDPOINTS)?;
    scene.write()?;
    // Whatever the recorder makes of it, every object is in the reel.
    let account = scene.account(&["endpoints"])?.check()?;
    assert_eq!(account.recorded, 7, "{account:?}");
    Ok(())
}
