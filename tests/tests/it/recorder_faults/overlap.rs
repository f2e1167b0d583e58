//! A second connection before the first one ends: at a planned end, when a definition changes, among
//! Events that expire together; and successors that are refused.

use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{ConnectionId, EndCause, Note};
use kubereel_tests::scripted::{
    Canned, Churn, Cut, End, Exchange, Fault, On, Pick, Place, Resource,
};

use crate::recorder_faults::{ENDPOINTS, SURE, Scene};

const EVENTS: &str = "/api/v1/events";
const WIDGETS: &str = "widgets.example.com";

/// The shortest watches that can be asked for: their successors come a second before their ends.
const SHORT: [&str; 2] = ["--watch-secs", "3"];

/// Long enough for a successor of Events, which waits until a list was outlived.
const LONGER: [&str; 2] = ["--watch-secs", "6"];

fn widgets() -> Resource {
    Resource::custom("example.com", "v1", "widgets", "Widget")
}

/// The watches of a path that were let in and bring objects of more than a moment.
fn watches(scene: &Scene, path: &str) -> Vec<Arc<Exchange>> {
    let mut requests = scene.cluster.requests_to(path);
    requests.retain(|one| {
        let is_short = one.asked.parameter("timeoutSeconds") == Some("1");
        one.asked.is_watch() && !is_short && one.progress().status == Some(200)
    });
    requests
}

/// Waits until two watches of a path are open at once; gives the later one.
fn await_two(scene: &Scene, path: &str) -> Result<Arc<Exchange>> {
    let two = scene.cluster.wait_until("two watches", SURE, |_| {
        let mut open = watches(scene, path);
        open.retain(|one| one.progress().ended.is_none());
        (open.len() >= 2).then(|| open.pop()).flatten()
    });
    two.with_context(|| scene.log())
}

/// Counts the connections that took over while the one before was still open, by the server's log and by
/// the notes in the reel.
fn taken_over(scene: &Scene, path: &str, plural: &str) -> Result<(usize, usize)> {
    let watches = watches(scene, path);
    let mut by_server = 0;
    for pair in watches.windows(2) {
        let [before, after] = pair else { continue };
        let ended = before.progress().ended.context("the recorder has ended")?;
        by_server += usize::from(after.at < ended.0);
    }
    let notes = scene.notes()?;
    let id = notes.iter().find_map(|note| match note {
        Note::Resource(info) if info.plural == plural => Some(info.id),
        _ => None,
    });
    let id = id.with_context(|| format!("{plural} is recorded"))?;
    let mut open: Vec<ConnectionId> = Vec::new();
    let mut by_reel = 0;
    for note in &notes {
        match note {
            Note::Connected {
                connection,
                resource,
                ..
            } if *resource == id => {
                ensure!(open.len() < 2, "more than two at once: {notes:#?}");
                open.push(*connection);
            }
            Note::Disconnected {
                connection, cause, ..
            } if open.contains(connection) => {
                open.retain(|one| one != connection);
                by_reel += usize::from(!open.is_empty() && *cause == EndCause::Clean);
            }
            _ => {}
        }
    }
    Ok((by_server, by_reel))
}

#[test]
fn watches_hand_over_under_load_and_lose_and_double_nothing() -> Result<()> {
    let mut scene = Scene::new()?;
    let resources = ["endpoints", "pods", "leases.coordination.k8s.io"];
    scene.record_with(&SHORT)?;
    for resource in resources {
        scene.await_live(&scene.cluster.resource(resource)?.path())?;
    }
    let mut loads = Vec::new();
    for (resource, seed) in resources.into_iter().zip(1..) {
        loads.push(scene.cluster.churn(Churn {
            resource: resource.to_owned(),
            seed,
            ..Churn::default()
        })?);
    }
    for resource in resources {
        let path = scene.cluster.resource(resource)?.path();
        scene.cluster.wait_until("three watches", SURE, |_| {
            (watches(&scene, &path).len() >= 3).then_some(())
        })?;
    }
    for load in loads {
        load.stop()?;
    }
    // Endpoints are written no more: what is quiet is handed over as well.
    let quiet = watches(&scene, ENDPOINTS).len();
    scene.cluster.wait_until("a quiet handover", SURE, |_| {
        (watches(&scene, ENDPOINTS).len() > quiet).then_some(())
    })?;
    let account = scene.whole(&resources)?;
    assert!(account.recorded >= 1_000, "{account:?}");
    for (resource, plural) in resources.into_iter().zip(["endpoints", "pods", "leases"]) {
        let path = scene.cluster.resource(resource)?.path();
        let (by_server, by_reel) = taken_over(&scene, &path, plural)?;
        assert!(by_server >= 2, "{plural}: {by_server}");
        assert!(by_reel >= 2, "{plural}: {by_reel}");
    }
    Ok(())
}

#[test]
fn a_changed_definition_has_a_successor_before_its_watch_ends() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.cluster.install_crd(&widgets())?;
    scene.await_live(&widgets().path())?;
    let load = scene.cluster.churn(Churn {
        resource: WIDGETS.to_owned(),
        ..Churn::default()
    })?;
    for nth in 0..3 {
        let before = watches(&scene, &widgets().path()).len();
        let changed = widgets().short_names(&[&format!("w{nth}")]);
        // The history of before is lost at once; the watches of before go on for a while.
        scene.cluster.announce_crd(&changed)?;
        scene.cluster.wait_until("a successor", SURE, |_| {
            let watches = watches(&scene, &widgets().path());
            let (first, last) = (watches.get(before - 1)?, watches.last()?);
            // It has history enough, brings objects, and the recorder has let its predecessor go.
            let has_taken_over =
                first.progress().ended.is_some() && last.progress().ended.is_none();
            (watches.len() > before && last.progress().lines > 0 && has_taken_over).then_some(())
        })?;
    }
    load.stop()?;
    let account = scene.whole(&[WIDGETS])?;
    assert!(account.recorded > 10, "{account:?}");
    let (by_server, by_reel) = taken_over(&scene, &widgets().path(), "widgets")?;
    assert!(by_server >= 3, "{by_server}");
    assert!(by_reel >= 3, "{by_reel}");
    Ok(())
}

#[test]
fn a_successor_that_is_refused_leaves_the_watch_going() -> Result<()> {
    let mut scene = Scene::live()?;
    let path = widgets().path();
    scene.cluster.install_crd(&widgets())?;
    scene.await_live(&path)?;
    let put = |nth: usize| {
        let members = format!(r#""spec":{{"n":{nth}}}"#);
        scene.put(WIDGETS, "default", "w", &members)
    };
    put(0)?;
    let lead = watches(&scene, &path).pop().context("it is watched")?;
    let gone = Canned::status(410, "Expired", "too old resource version");
    let busy = Canned::status(429, "TooManyRequests", "slow down").header("Retry-After", "30");
    let down = Canned::text(503, "service unavailable\n");
    for (nth, answer) in [gone, busy, down].into_iter().enumerate() {
        let rule = scene.fault(On::watch(&path), Fault::Answer(answer));
        let spec = widgets().short_names(&[&format!("x{nth}")]);
        scene.cluster.announce_crd(&spec)?;
        scene.await_hits(rule, 1)?;
        put(nth + 1)?;
        let lines = lead.progress().lines;
        scene.cluster.wait_until("the watch to go on", SURE, |_| {
            (lead.progress().lines >= lines.max(nth + 2)).then_some(())
        })?;
        ensure!(lead.progress().ended.is_none(), "it was let go");
        scene.cluster.lift(rule);
    }
    let account = scene.whole(&[WIDGETS])?;
    assert_eq!(account.recorded, 4, "{account:?}");
    let told = |note: &Note| {
        matches!(
            note,
            Note::Disconnected {
                cause: EndCause::Status(_) | EndCause::Expired,
                ..
            }
        )
    };
    assert!(
        !scene.notes()?.iter().any(told),
        "nothing ended by a status"
    );
    Ok(())
}

#[test]
fn events_that_expire_together_survive_two_connections() -> Result<()> {
    let mut scene = Scene::new()?;
    scene.record_with(&SHORT)?;
    scene.await_live(EVENTS)?;
    let names: Vec<String> = (0..30).map(|nth| format!("e{nth}")).collect();
    let together: Vec<(&str, &str)> = names
        .iter()
        .map(|name| ("default", name.as_str()))
        .collect();
    for round in 0..3 {
        for name in &names {
            scene.put("events", "default", name, r#""reason":"Tested""#)?;
        }
        // The second time the successor breaks among the deletions.
        let breaks = (round == 1).then(|| {
            let cut = Cut {
                line: Pick::Line(9),
                place: Place::After,
                end: End::Closed,
            };
            scene.fault(On::watch(EVENTS).once(), Fault::Cut(cut))
        });
        await_two(&scene, EVENTS)?;
        scene.cluster.delete_together("events", &together)?;
        if let Some(rule) = breaks {
            scene.await_hits(rule, 1)?;
        }
    }
    scene.put("events", "default", "last", r#""reason":"Tested""#)?;
    let account = scene.whole(&["events"])?;
    assert_eq!(account.recorded, 3 * 60 + 1, "{account:?}");
    let (by_server, by_reel) = taken_over(&scene, EVENTS, "events")?;
    assert!(by_server >= 2, "{by_server}");
    assert!(by_reel >= 1, "{by_reel}");
    Ok(())
}

#[test]
fn events_hand_over_though_their_history_is_lost() -> Result<()> {
    let mut scene = Scene::new()?;
    scene.put("events", "default", "first", r#""reason":"Tested""#)?;
    scene.record_with(&LONGER)?;
    scene.await_live(EVENTS)?;
    // Nothing happens to Events, and whatever was before is compacted away.
    for _ in 0..2 {
        let before = watches(&scene, EVENTS).len();
        scene.cluster.skip_revisions(10);
        scene.cluster.compact(scene.cluster.revision());
        scene.cluster.wait_until("the next watch", SURE, |_| {
            (watches(&scene, EVENTS).len() > before).then_some(())
        })?;
    }
    scene.put("events", "default", "last", r#""reason":"Tested""#)?;
    let account = scene.whole(&["events"])?;
    assert_eq!(account.recorded, 2, "{account:?}");
    Ok(())
}
