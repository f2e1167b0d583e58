//! Objects deleted and created again under one name, in a tight loop, while connections are cut.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::EventType;
use kubereel_history::{ReelVerdict, Timeline};
use kubereel_tests::control_plane::skipped;
use kubereel_tests::proxy::{Cut, CutEvery};
use kubereel_tests::rest::{Body, Rest, Verb};
use serde_json::Value;

use crate::plane::{PLAIN, Turn};
use crate::real_faults::scene::Scene;
use crate::real_faults::writers::{MAPS, Stopped, Writers, config_map, send};

const FOR: Duration = Duration::from_secs(4);

const CUT_EVERY: CutEvery = CutEvery {
    period: Duration::from_millis(250),
    how: Cut::Reset,
};

/// The lives of each name, in order: uid and first version.
type Lives = Arc<Mutex<BTreeMap<String, Vec<(String, u128)>>>>;

async fn again_and_again(rest: Rest, name: String, lives: Lives, stopped: Stopped) -> Result<u64> {
    let path = format!("{MAPS}/{name}");
    let mut written = 0;
    while !stopped.after(written) {
        let object = send(
            &rest,
            Verb::Post,
            MAPS,
            Body::Json(config_map(&name, written)),
        )
        .await?;
        let text = |pointer: &str| {
            let text = object.pointer(pointer).and_then(Value::as_str);
            text.map(str::to_owned).context("the server's own fields")
        };
        let life = (
            text("/metadata/uid")?,
            text("/metadata/resourceVersion")?.parse()?,
        );
        lives
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(name.clone())
            .or_default()
            .push(life);
        send(&rest, Verb::Delete, &path, Body::Empty).await?;
        written += 2;
    }
    Ok(written)
}

/// Every life is an object of its own, from its creation to its deletion.
fn are_told_apart(
    timeline: &Timeline,
    lives: &BTreeMap<String, Vec<(String, u128)>>,
) -> Result<()> {
    let reel = timeline.reel();
    let mut ends: BTreeMap<(&str, &str), (EventType, u128, EventType)> = BTreeMap::new();
    for object in reel.objects() {
        let versions = reel.versions(object.id);
        let (Some(first), Some(last)) = (versions.first(), versions.last()) else {
            continue;
        };
        let kinds = reel.kind_of(*first).zip(reel.kind_of(*last));
        if let (Some((begin, end)), Some(rv)) = (kinds, reel.rv_of(*first)) {
            let key = (object.key.name.as_str(), object.key.uid.as_str());
            ends.insert(key, (begin, rv, end));
        }
    }
    for (name, of_name) in lives {
        for (uid, rv) in of_name {
            let told = ends.get(&(name.as_str(), uid.as_str()));
            ensure!(
                told == Some(&(EventType::Added, *rv, EventType::Deleted)),
                "{name} {uid} of {rv}: {told:?}"
            );
        }
        let known: BTreeSet<&str> = of_name.iter().map(|(uid, _)| uid.as_str()).collect();
        let told = ends.keys().filter(|(told, _)| *told == name).count();
        ensure!(known.len() == told, "{name}: {told} of {}", known.len());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_life_under_one_name_is_told_apart_while_connections_are_cut() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let scene = Scene::start("deleted and recreated", turn.control_plane()?).await?;
    let rest = scene.rest().await?;
    let lives = Lives::default();
    scene
        .proxy
        .change(|faults| faults.cut_every = Some(CUT_EVERY));
    let mut writers = Writers::each(80);
    for number in 0..3 {
        let (rest, lives) = (rest.clone(), Arc::clone(&lives));
        let name = format!("again-{number}");
        writers.begin(|stopped| again_and_again(rest, name, lives, stopped));
    }
    tokio::time::sleep(FOR).await;
    let written = writers.stop().await?;
    let cut = scene.proxy.counts().cut;
    let told = scene.settle().await?;
    turn.hand_on();
    let lives = lives.lock().unwrap_or_else(PoisonError::into_inner);
    let count: usize = lives.values().map(Vec::len).sum();
    eprintln!("{written} writes, {count} lives of 3 names, {cut} connections cut");
    ensure!(count > 100, "only {count} lives");
    ensure!(cut > 100, "only {cut} connections were cut");
    told.nothing_missing(|_| true)?;
    ensure!(
        told.proof().verdict == ReelVerdict::Complete,
        "{:?}",
        told.proof().reasons
    );
    are_told_apart(told.timeline(), &lives)
}
