//! Streams that break off, pause and come back.

use std::time::Duration;

use anyhow::Result;
use kubereel_tests::scripted::{Chunking, Churn, End, Fault, On, Pick, Place};
use kubereel_tests::skipped::skipped_as_slow;

use crate::recorder_faults::{ENDPOINTS, SURE, Scene, cut};

#[test]
fn a_stream_cut_at_any_byte_loses_nothing() -> Result<()> {
    let mut scene = Scene::live()?;
    for end in [End::Closed, End::Reset, End::Finished] {
        for place in [
            Place::ChunkHeader(0),
            Place::ChunkHeader(1),
            Place::ChunkHeader(3),
            Place::Line(0),
            Place::Line(1),
            Place::Line(30),
            Place::Line(200),
            Place::After,
        ] {
            scene.next_watch(cut(Pick::Type("MODIFIED"), place, end))?;
            scene.write()?;
            scene.write()?;
            scene.cluster.wait_sent("endpoints", SURE)?;
        }
    }
    let account = scene.whole(&["endpoints"])?;
    assert!(account.recorded >= 48, "{account:?}");
    Ok(())
}

#[test]
fn a_line_cut_at_every_single_byte_comes_again() -> Result<()> {
    if skipped_as_slow("a line cut at every single byte") {
        return Ok(());
    }
    let mut scene = Scene::live()?;
    // Each stream brings one event whole, and breaks off in the next: one byte later each time.
    let mut bytes = 0;
    loop {
        scene.next_watch(cut(Pick::Line(1), Place::Line(bytes), End::Finished))?;
        scene.write()?;
        let last = scene.write()?;
        scene.cluster.wait_sent("endpoints", SURE)?;
        let resource = scene.cluster.resource("endpoints")?;
        let commits = scene.cluster.committed();
        let commit = commits.iter().rfind(|commit| commit.revision == last);
        let body = commit.map_or(0, |commit| commit.watch_body(&resource, "v1").len());
        bytes += 1;
        // The line is longer than its object by the envelope; beyond its end nothing is cut.
        if bytes > body + 40 {
            break;
        }
    }
    let account = scene.whole(&["endpoints"])?;
    assert!(
        bytes > 250 && account.recorded > 2 * bytes,
        "{bytes} cuts: {account:?}"
    );
    Ok(())
}

#[test]
fn streams_that_end_after_every_event_lose_nothing() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.fault(
        On::watch(ENDPOINTS),
        cut(Pick::Every, Place::After, End::Finished),
    );
    scene.reconnect(ENDPOINTS)?;
    for _ in 0..20 {
        scene.write()?;
    }
    scene.cluster.wait_sent("endpoints", SURE)?;
    scene.cluster.lift_all();
    let account = scene.whole(&["endpoints"])?;
    assert!(account.recorded >= 20, "{account:?}");
    Ok(())
}

#[test]
fn streams_cut_all_the_time_under_load_lose_nothing() -> Result<()> {
    let mut scene = Scene::new()?;
    let resources = ["endpoints", "pods", "leases.coordination.k8s.io"];
    scene.record()?;
    for resource in resources {
        scene.await_live(&scene.cluster.resource(resource)?.path())?;
    }
    let mut loads = Vec::new();
    for (resource, seed) in resources.into_iter().zip(1..) {
        loads.push(scene.cluster.churn(Churn {
            resource: resource.to_owned(),
            writes: Some(600),
            per_second: Some(150),
            seed,
            ..Churn::default()
        })?);
    }
    // Every cut falls after another hundred revisions, so in the middle of writes.
    for end in [End::Reset, End::Closed, End::Finished]
        .into_iter()
        .cycle()
        .take(15)
    {
        let next = scene.cluster.revision() + 100;
        scene.cluster.wait_until("more writes", SURE, |cluster| {
            (cluster.revision() >= next).then_some(())
        })?;
        scene.cluster.cut_open(&On::watch("*"), end);
    }
    for load in loads {
        load.finish()?;
    }
    let account = scene.whole(&resources)?;
    assert!(account.recorded >= 1800, "{account:?}");
    Ok(())
}

#[test]
fn lines_packed_in_any_way_are_told_apart() -> Result<()> {
    let mut scene = Scene::live()?;
    for chunking in [
        Chunking::Together,
        Chunking::Bytes(1),
        Chunking::Bytes(7),
        Chunking::Bytes(4096),
    ] {
        scene.next_watch(Fault::Chunking(chunking))?;
        let held = scene.cluster.hold();
        for _ in 0..1000 {
            scene.write()?;
        }
        drop(held);
        scene.cluster.wait_sent("endpoints", SURE)?;
    }
    let account = scene.whole(&["endpoints"])?;
    assert!(account.recorded >= 4000, "{account:?}");
    Ok(())
}

#[test]
fn a_recorder_that_was_paused_catches_up() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.set(|settings| settings.stall_limit = Some(Duration::from_millis(50)));
    scene.reconnect(ENDPOINTS)?;
    scene.write()?;
    scene.cluster.wait_sent("endpoints", SURE)?;
    scene.recorder.as_ref().expect("it records").pause()?;
    let big = "b".repeat(512 * 1024);
    for nth in 0..40 {
        let members = format!(r#""data":{{"n":"{nth}","big":"{big}"}}"#);
        scene.put("endpoints", "default", "big", &members)?;
    }
    scene
        .cluster
        .wait_for_request("a reader too slow", SURE, |one| {
            one.progress().ended.is_some_and(|(_, how)| {
                how == kubereel_tests::scripted::Ending::Server(End::Closed)
            })
        })?;
    scene.recorder.as_ref().expect("it records").resume()?;
    scene.set(|settings| settings.stall_limit = None);
    let account = scene.whole(&["endpoints"])?;
    assert!(account.recorded >= 41, "{account:?}");
    Ok(())
}

#[test]
fn deletions_that_share_a_revision_survive_a_cut_among_them() -> Result<()> {
    let mut scene = Scene::new()?;
    let names: Vec<String> = (0..20).map(|nth| format!("e{nth}")).collect();
    for name in &names {
        scene.put("events", "default", name, r#""reason":"Tested""#)?;
    }
    scene.record()?;
    scene.await_live("/api/v1/events")?;
    scene.next(
        On::watch("/api/v1/events").once(),
        cut(Pick::Line(4), Place::After, End::Closed),
    )?;
    let together: Vec<(&str, &str)> = names
        .iter()
        .map(|name| ("default", name.as_str()))
        .collect();
    scene.cluster.delete_together("events", &together)?;
    scene.put("events", "default", "last", r#""reason":"Tested""#)?;
    let account = scene.whole(&["events"])?;
    assert_eq!(account.recorded, 41, "{account:?}");
    Ok(())
}

#[test]
fn a_server_that_goes_down_and_comes_back_loses_nothing() -> Result<()> {
    let mut scene = Scene::live()?;
    for _ in 0..3 {
        scene.cluster.go_down()?;
        for _ in 0..10 {
            scene.write()?;
        }
        scene.cluster.accept()?;
        scene.cluster.wait_sent("endpoints", SURE)?;
    }
    let account = scene.whole(&["endpoints"])?;
    assert!(account.recorded >= 30, "{account:?}");
    Ok(())
}
