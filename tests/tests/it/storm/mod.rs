//! The recorder in a storm: a real control plane that forgets its history every ten seconds, two
//! servers that roll in turn, definitions that come, change and go, and writers that write as fast as
//! they can. Of every revision that etcd made, the reel says where it is.

mod claims;
mod definitions;
mod told;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::claims::Claims;
use kubereel_tests::control_plane::skipped;
use kubereel_tests::footprint::{Footprints, Named};
use kubereel_tests::shaken::{Make, Scene, Writers, config_map, event, secret};
use kubereel_tests::skipped::say_skipped;

use crate::plane;
use definitions::Definitions;
use told::Told;

/// For how many seconds the storm rages; the test takes about half a minute more. Without it there is none.
const SECS: &str = "KUBEREEL_STORM_SECS";

/// A storm that lasts so long has servers roll more than once.
const ROLLS_FROM_SECS: u64 = 180;

/// The time between two rolls: a server that is up again learns what the other one knows.
const BETWEEN: Duration = Duration::from_secs(6);

/// The API servers let etcd forget, every so often, all but the last so long.
const FORGETS: &str = "--etcd-compaction-interval=10s";

/// Fewer changes than this show nothing, on whatever machine.
const CHANGES_LEAST: usize = 3000;

/// Writers of each kind.
const WRITERS: [(&str, &str, Make); 4] = [
    ("/api/v1/namespaces/default/configmaps", "map", config_map),
    ("/api/v1/namespaces/default/configmaps", "plan", config_map),
    ("/api/v1/namespaces/kube-system/secrets", "secret", secret),
    ("/api/v1/namespaces/default/events", "event", event),
];

/// For how long it is to rage; none if nobody asked for it, which is said.
fn secs() -> Result<Option<u64>> {
    let Ok(text) = std::env::var(SECS) else {
        say_skipped(&format!(
            "a storm: set {SECS}=180, or run `just soak storm`"
        ));
        return Ok(None);
    };
    let secs = text.parse().with_context(|| format!("{SECS}={text}"))?;
    Ok(Some(secs))
}

/// Looks at the recorder, every API server and etcd.
fn footprints(scene: &Scene) -> Result<Footprints> {
    let control_plane = std::sync::Arc::clone(&scene.control_plane);
    let recorder = scene.recording.id();
    let running = move || {
        let mut running: Vec<Named> = vec![("recorder".to_owned(), recorder)];
        for index in 0..control_plane.api_servers() {
            let pid = control_plane.api(index).component().pid();
            running.extend(pid.map(|pid| (format!("kube-apiserver {index}"), pid)));
        }
        let etcd = control_plane.etcd().component().pid();
        running.extend(etcd.map(|pid| ("etcd".to_owned(), pid)));
        running
    };
    Ok(Footprints::start(running)?)
}

/// Rolls the servers in turn, by SIGKILL and in order, until the time is over; tells how often.
async fn roll(scene: &Scene, until: Instant) -> Result<usize> {
    let mut rolls = 0;
    while Instant::now() + BETWEEN < until {
        tokio::time::sleep(BETWEEN).await;
        let server = scene.control_plane.api(rolls % 2);
        if rolls % 4 < 2 {
            server.kill().await?;
        } else {
            server.stop().await?;
        }
        server.start().await?;
        rolls += 1;
    }
    tokio::time::sleep(until.saturating_duration_since(Instant::now())).await;
    Ok(rolls)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_revision_of_a_storm_is_accounted_for() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let Some(secs) = secs()? else {
        return Ok(());
    };
    let _turn = plane::alone().await;
    let scene = Scene::start(2, &[FORGETS]).await?;
    let rest = scene.rest().await?;
    let footprints = footprints(&scene)?;
    let began = Instant::now();
    let before = scene.oracle.changes_up_to_now().await?.len();
    let mut writers = Writers::new(Duration::ZERO);
    for (path, word, make) in WRITERS {
        writers.add(&rest, |writer| writer.objects(path, word, make));
    }
    let definitions = Definitions::default();
    writers.add(&rest, |writer| definitions.clone().storm(writer));
    let rolls = roll(&scene, began + Duration::from_secs(secs)).await?;
    writers.stop().await?;
    let raged = began.elapsed();
    let expired = scene.page.number("kubereel_expired_total").await?;
    let costs = footprints.told();
    drop(footprints);
    let settled = scene.settle().await?;
    let claims = Claims::read(settled.reel.path())?;
    let told = Told {
        settled: &settled,
        before,
        raged,
        rolls,
        rounds: definitions.rounds(),
        expired,
        costs,
    };
    eprintln!("{told}");
    eprintln!("{}", claims::words(&claims));
    let tally = claims::hold(&claims, &settled)?;
    eprintln!(
        "storm: held against etcd, {} of {} changes are recorded, {} reconstructed, {} declared missing, {} outside what is claimed, {} of resources never listed; {} claims are false",
        tally.recorded,
        tally.all(),
        tally.reconstructed,
        tally.declared,
        tally.outside,
        tally.unlisted,
        tally.false_claims.len()
    );
    let made = settled.changes.len() - before;
    ensure!(made >= CHANGES_LEAST, "only {made} changes");
    ensure!(definitions.rounds() > 0, "no definition came and went");
    ensure!(expired > 0, "no server ever lost its history");
    // A storm too short for a roll is somebody's own choice.
    ensure!(rolls > 1 || secs < ROLLS_FROM_SECS, "only {rolls} rolls");
    Ok(())
}
