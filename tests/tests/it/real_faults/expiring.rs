//! API servers without a watch cache, and Events whose time is over, many at once.
//!
//! Both are one test: while the Events' time runs, the rest is done.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{EventType, Reel, ResourceInfo, Seq};
use kubereel_history::{ReelVerdict, Timeline};
use kubereel_tests::control_plane::skipped;
use kubereel_tests::oracle::ChangeKind;
use kubereel_tests::proxy::ConnectionEnd;
use kubereel_tests::rest::{Body, Rest, Verb};
use kubereel_tests::shaken::{Writers, event, send};

use crate::plane::{Kind, Turn};
use crate::real_faults::SURE;
use crate::scene::{Scene, SceneResult};

/// The server lets Events share a lease for a twentieth of their time, in whole seconds: with less than
/// 20 s each Event would expire by itself.
const UNCACHED: Kind = Kind {
    api_servers: 1,
    events_etcd: false,
    flags: &["--watch-cache=false", "--event-ttl=20s"],
};

const EVENTS: &str = "/api/v1/namespaces/default/events";

const WRITERS: u64 = 8;
const EACH: u64 = 25;

/// So slowly that all deletions of one revision take about a second.
const SLOW: Option<NonZeroU64> = NonZeroU64::new(120_000);

/// This many cuts while they come; each begins them anew.
const CUTS: u32 = 3;

async fn tell(rest: &Rest) -> Result<()> {
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let rest = rest.clone();
        tasks.spawn(async move {
            for number in 0..EACH {
                let made = event(&format!("expiring-{writer}-{number}"), number);
                send(&rest, Verb::Post, EVENTS, Body::Json(made)).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

/// The server is killed and connections are cut while it is written to: etcd itself has the history.
async fn shake(scene: &Scene<'_>, rest: &Rest) -> Result<u64> {
    let mut writers = Writers::each(60);
    writers.maps(rest, "uncached", 3, Duration::from_millis(5));
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_millis(400)).await;
        scene.proxy.cut(ConnectionEnd::Reset).await?;
    }
    let server = scene.control_plane.api(0);
    server.kill().await?;
    server.start().await?;
    scene.page.until_ready(SURE).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    writers.stop().await
}

/// Cuts the connections in the middle of the deletions.
async fn expire(scene: &Scene<'_>) -> Result<()> {
    scene.proxy.change(|faults| faults.bytes_per_sec = SLOW);
    let deadline = Instant::now() + SURE;
    let is_gone = |deleted: &kubereel_tests::oracle::Change| {
        deleted.kind == ChangeKind::Deleted && deleted.key.contains("/events/default/expiring-")
    };
    while !scene.oracle().changes().iter().any(is_gone) {
        ensure!(Instant::now() < deadline, "no Event ever expires");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for _ in 0..CUTS {
        tokio::time::sleep(Duration::from_millis(350)).await;
        scene.proxy.cut(ConnectionEnd::Reset).await?;
    }
    scene.proxy.change(|faults| faults.bytes_per_sec = None);
    // The rest of them, of the next lease too.
    let count = || {
        scene
            .oracle()
            .changes()
            .iter()
            .filter(|one| is_gone(one))
            .count()
    };
    while count() < usize::try_from(WRITERS * EACH)? {
        ensure!(Instant::now() < deadline, "only {} expired", count());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

fn events_of(timeline: &Timeline) -> Result<&ResourceInfo> {
    let mut infos = timeline.resources().iter();
    infos.find(|info| info.plural == "events").context("Events")
}

/// Of each revision at which several Events were deleted: how many, and by how many connections the
/// reel was told.
fn deleted_together(reel: &Reel, timeline: &Timeline) -> Result<BTreeMap<u128, (usize, usize)>> {
    let events = events_of(timeline)?.id;
    let mut told: BTreeMap<u128, (usize, BTreeSet<_>)> = BTreeMap::new();
    for seq in (0..reel.end().0).map(Seq) {
        let is_deletion = reel.kind_of(seq) == Some(EventType::Deleted);
        let of = reel
            .object_of(seq)
            .and_then(|object| timeline.key_of(object));
        if let (true, Some(rv), Some(connection)) =
            (is_deletion, reel.rv_of(seq), reel.connection_of(seq))
            && of.is_some_and(|key| key.resource == events)
        {
            let (count, connections) = told.entry(rv).or_default();
            *count += 1;
            connections.insert(connection);
        }
    }
    let counted = told.into_iter();
    Ok(counted
        .map(|(rv, (count, connections))| (rv, (count, connections.len())))
        .collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_watch_cache_nothing_is_lost_and_events_that_expire_together_are_all_told()
-> Result<()> {
    if skipped() {
        return Ok(());
    }
    let (control_plane, turn) = Turn::apart(&UNCACHED).await?.split()?;
    let scene = Scene::start("no watch cache, Events in bulk", &control_plane).await?;
    let rest = scene.rest().await?;
    tell(&rest).await?;
    let written = shake(&scene, &rest).await?;
    // What is left is to wait for the Events' time.
    drop(turn);
    expire(&scene).await?;
    let told = scene.settle().await?;
    eprintln!("{written} writes of config maps");
    ensure!(written > 100, "only {written} writes");
    told.nothing_missing(|_| true)?;
    all_expired(&told)
}

fn all_expired(told: &SceneResult) -> Result<()> {
    let together = deleted_together(told.claims.reel(), told.timeline())?;
    eprintln!("Events deleted, and connections that told of it: {together:?}");
    let total: usize = together.values().map(|(count, _)| count).sum();
    ensure!(
        total >= usize::try_from(WRITERS * EACH)?,
        "only {total} deletions: {together:?}"
    );
    let most = together.values().map(|(count, _)| *count).max();
    ensure!(most.is_some_and(|most| most > 20), "no bulk: {together:?}");
    ensure!(
        together.values().any(|(count, by)| *count > 20 && *by > 1),
        "no cut was in the middle of a bulk: {together:?}"
    );
    ensure!(
        told.proof().verdict == ReelVerdict::Complete,
        "{:?}",
        told.proof().reasons
    );
    Ok(())
}
