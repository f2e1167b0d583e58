//! A definition whose objects are stored in another version from some moment on, and one whose
//! versions are converted by a webhook that nobody answers for.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, Reel};
use kubereel_history::ResourceCompleteness;
use kubereel_tests::control_plane::skipped;
use kubereel_tests::rest::{Body, Rest, Verb};
use kubereel_tests::shaken::{Stopped, Writers, send, try_once};
use kubereel_tests::skipped::skipped_as_slow;
use serde_json::json;

use crate::plane::{PLAIN, Turn};
use crate::real_faults::SURE;
use crate::real_faults::definitions::{
    DEFINITIONS, GROUP, Version, definition, definition_path, is_custom, object, objects_path,
    remove, versions,
};
use crate::scene::Scene;

/// Longer than a server takes to set a changed definition up anew: 1 s and the next requests.
const SETTLED: Duration = Duration::from_millis(1_800);

const PACE: Duration = Duration::from_millis(15);

/// Changes objects of a resource, in a version that is served all the time.
async fn write(
    rest: Rest,
    plural: &'static str,
    version: &'static str,
    stopped: Stopped,
) -> Result<u64> {
    let path = objects_path(plural, version);
    let mut written = 0;
    for number in 0_u64.. {
        if stopped.after(written) {
            break;
        }
        let name = format!("object-{number}");
        let at = format!("{path}/{name}");
        let made = Body::Json(object(plural, version, &name, 0));
        send(&rest, Verb::Post, &path, made).await?;
        let changed = Body::Merge(json!({"spec": {"round": 1}}));
        send(&rest, Verb::Patch, &at, changed).await?;
        written += 2;
        if number.is_multiple_of(2) {
            send(&rest, Verb::Delete, &at, Body::Empty).await?;
            written += 1;
        }
        tokio::time::sleep(PACE).await;
    }
    Ok(written)
}

async fn set_versions(rest: &Rest, plural: &str, of: &[Version]) -> Result<()> {
    let changed = json!({"spec": {"versions": versions(of, 1)}});
    let path = definition_path(plural);
    send(rest, Verb::Patch, &path, Body::Merge(changed)).await?;
    Ok(())
}

/// Whether a resource was read whole.
fn is_listed(reel: &Reel, plural: &str) -> bool {
    let of_plural = reel.notes().iter().filter_map(|entry| match &entry.note {
        Note::Resource(info) if info.plural == plural => Some(info.id),
        _ => None,
    });
    let ids: Vec<_> = of_plural.collect();
    reel.notes()
        .iter()
        .any(|entry| matches!(&entry.note, Note::Synced { resource, .. } if ids.contains(resource)))
}

/// The versions in which a resource was asked for, in order.
fn followed(reel: &Reel, plural: &str) -> Vec<String> {
    let notes = reel.notes().iter();
    let mut versions: Vec<String> = notes
        .filter_map(|entry| match &entry.note {
            Note::Resource(info) if info.plural == plural => Some(info.version.clone()),
            _ => None,
        })
        .collect();
    versions.dedup();
    versions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_when_objects_are_stored_in_another_version() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let scene = Scene::start("storage version switched", turn.control_plane()?).await?;
    let rest = scene.rest().await?;
    let plural = "switchers";
    let created = definition(plural, &[("v1alpha1", true, true), ("v1", true, false)]);
    send(&rest, Verb::Post, DEFINITIONS, Body::Json(created)).await?;
    let mut writers = Writers::each(60);
    writers.begin(|stopped| write(rest.clone(), plural, "v1", stopped));
    scene
        .until("the resource", |reel| is_listed(reel, plural))
        .await?;
    tokio::time::sleep(SETTLED).await;
    set_versions(
        &rest,
        plural,
        &[("v1alpha1", true, false), ("v1", true, true)],
    )
    .await?;
    tokio::time::sleep(SETTLED).await;
    set_versions(
        &rest,
        plural,
        &[("v1alpha1", false, false), ("v1", true, true)],
    )
    .await?;
    tokio::time::sleep(SETTLED).await;
    let written = writers.stop().await?;
    scene.catch_up().await?;
    remove(&rest, plural).await?;
    let told = scene.settle().await?;
    turn.hand_on();
    let followed = followed(told.claims.reel(), plural);
    eprintln!("{written} writes, followed as {followed:?}");
    ensure!(followed == ["v1alpha1", "v1"], "{followed:?}");
    ensure!(written > 50, "only {written} writes");
    told.nothing_missing(|_| true)
}

/// Waits until a version is refused: the server may still know an empty list of it.
async fn until_unreadable(rest: &Rest, path: &str) -> Result<()> {
    let waiting = async {
        while try_once(rest, Verb::Get, path, Body::Empty).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let refused = tokio::time::timeout(SURE, waiting).await;
    refused.context("the version that nobody converts is served")
}

fn converted(plural: &str, of: &[Version]) -> Result<serde_json::Value> {
    let mut definition = definition(plural, of);
    let spec = definition.get_mut("spec").context("it has a spec")?;
    spec["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            // Nobody listens there.
            "clientConfig": {"url": "https://127.0.0.1:9/convert"},
        },
    });
    Ok(definition)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversion_webhook_that_is_down_hides_nothing_of_the_stored_version() -> Result<()> {
    if skipped() || skipped_as_slow("a conversion webhook that is down") {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let scene = Scene::start("conversion webhook down", turn.control_plane()?).await?;
    let rest = scene.rest().await?;
    let plural = "converts";
    // Discovery prefers the one that is not stored.
    let of = [("v2", true, false), ("v1", true, true)];
    let created = converted(plural, &of)?;
    send(&rest, Verb::Post, DEFINITIONS, Body::Json(created)).await?;
    let mut writers = Writers::each(60);
    writers.begin(|stopped| write(rest.clone(), plural, "v1", stopped));
    scene
        .until("the resource", |reel| is_listed(reel, plural))
        .await?;
    until_unreadable(&rest, &objects_path(plural, "v2")).await?;

    // For a while only the version that cannot be read is left.
    set_versions(&rest, plural, &[("v2", true, false), ("v1", false, true)]).await?;
    tokio::time::sleep(SETTLED * 2).await;
    set_versions(&rest, plural, &of).await?;
    tokio::time::sleep(SETTLED).await;
    let written = writers.stop().await?;
    scene.catch_up().await?;
    let whole = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
    let path = definition_path(plural);
    send(&rest, Verb::Patch, &path, Body::Merge(whole)).await?;
    remove(&rest, plural).await?;
    let told = scene.settle().await?;
    turn.hand_on();
    let reel = told.claims.reel();
    eprintln!("{written} writes, followed as {:?}", followed(reel, plural));
    ensure!(written > 50, "only {written} writes");
    told.nothing_missing(|change| !is_custom(change))?;
    let states = told.proof().resources.iter();
    let mut states = states.filter(|proof| proof.resource == format!("{plural}.{GROUP}"));
    ensure!(
        states.any(|proof| proof.state != ResourceCompleteness::NeverListed),
        "it was never listed"
    );
    Ok(())
}
