//! A definition created, changed, deleted and created again, while its objects are written.

use std::time::Duration;

use anyhow::{Result, ensure};
use kubereel_tests::control_plane::skipped;
use kubereel_tests::oracle::Change;
use kubereel_tests::rest::{Body, Rest, RestError, Verb};
use kubereel_tests::shaken::{Stopped, Writers, send, try_once};
use serde_json::{Value, json};

use crate::plane::{PLAIN, Turn};
use crate::real_faults::SURE;
use crate::scene::Scene;

pub(crate) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub(crate) const GROUP: &str = "faults.kubereel.dev";

const FOR: Duration = Duration::from_secs(6);

/// Between two acts on the definition: shorter and longer than a server takes to see it.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(150),
    Duration::from_millis(600),
    Duration::from_millis(1_300),
];

/// Name, whether it is served, whether objects are stored in it.
pub(crate) type Version = (&'static str, bool, bool);

/// The versions of a definition, with a field of its own each time it changes.
pub(crate) fn versions(versions: &[Version], round: u64) -> Value {
    let described = versions.iter().map(|(name, served, storage)| {
        json!({"name": name, "served": served, "storage": storage,
        "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "description": format!("round {round}"),
        }}})
    });
    described.collect()
}

pub(crate) fn definition(plural: &str, of: &[Version]) -> Value {
    let singular = plural.trim_end_matches('s');
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": {"plural": plural, "singular": singular, "kind": format!("Kind{singular}")},
            "versions": versions(of, 0),
        },
    })
}

pub(crate) fn object(plural: &str, version: &str, name: &str, round: u64) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/{version}"),
        "kind": format!("Kind{}", plural.trim_end_matches('s')),
        "metadata": {"name": name}, "spec": {"round": round},
    })
}

pub(crate) fn objects_path(plural: &str, version: &str) -> String {
    format!("/apis/{GROUP}/{version}/namespaces/default/{plural}")
}

pub(crate) fn definition_path(plural: &str) -> String {
    format!("{DEFINITIONS}/{plural}.{GROUP}")
}

/// Deletes a definition and waits until it is gone, with all that it defined.
pub(crate) async fn remove(rest: &Rest, plural: &str) -> Result<()> {
    let path = definition_path(plural);
    send(rest, Verb::Delete, &path, Body::Empty).await?;
    until_gone(rest, &path).await
}

async fn until_gone(rest: &Rest, path: &str) -> Result<()> {
    let waiting = async {
        loop {
            match try_once(rest, Verb::Get, path, Body::Empty).await {
                Err(error) if error.is_not_found() => return,
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    Ok(tokio::time::timeout(SURE, waiting).await?)
}

/// The life of a definition, over and over.
async fn define(rest: Rest, plural: &'static str, stopped: Stopped) -> Result<u64> {
    let path = definition_path(plural);
    let of = [("v1", true, true)];
    let mut rounds = 0_u64;
    while !stopped.after(rounds) {
        let pause = |number: u64| {
            let place = usize::try_from((rounds + number) % 3).unwrap_or(0);
            PAUSES.get(place).copied().unwrap_or_default()
        };
        let created = Body::Json(definition(plural, &of));
        send(&rest, Verb::Post, DEFINITIONS, created).await?;
        tokio::time::sleep(pause(0)).await;
        for change in 1..3 {
            let changed = json!({"spec": {"versions": versions(&of, change)}});
            send(&rest, Verb::Patch, &path, Body::Merge(changed)).await?;
            tokio::time::sleep(pause(change)).await;
        }
        remove(&rest, plural).await?;
        rounds += 1;
    }
    Ok(rounds)
}

/// Objects of it, as far as the server takes them at the moment.
async fn write(rest: Rest, plural: &'static str, number: u64, stopped: Stopped) -> Result<u64> {
    let path = objects_path(plural, "v1");
    let mut written = 0;
    for turn in 0_u64.. {
        if stopped.after(written) {
            break;
        }
        // Names come again, in this definition's life and in the next one's.
        let name = format!("object-{number}-{}", turn % 5);
        let at = format!("{path}/{name}");
        let made = Body::Json(object(plural, "v1", &name, turn));
        let changed = Body::Merge(json!({"spec": {"changed": turn}}));
        let mut calls = vec![(Verb::Post, &path, made), (Verb::Patch, &at, changed)];
        if !turn.is_multiple_of(3) {
            calls.push((Verb::Delete, &at, Body::Empty));
        }
        for (verb, path, body) in calls {
            match try_once(&rest, verb, path, body).await {
                Ok(_) => written += 1,
                // Not there, being deleted, there already, being initialised: that is the point.
                Err(RestError::Refused { .. }) => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(written)
}

pub(crate) fn is_custom(change: &Change) -> bool {
    change.key.contains(GROUP)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_that_comes_changes_and_goes_while_its_objects_are_written() -> Result<()> {
    if skipped() {
        return Ok(());
    }
    let turn = Turn::on(&PLAIN).await?;
    let scene = Scene::start("definition in a loop", turn.control_plane()?).await?;
    let rest = scene.rest().await?;
    let (mut definers, mut writers) = (Writers::each(2), Writers::each(20));
    definers.begin(|stopped| define(rest.clone(), "churners", stopped));
    for number in 0..2 {
        writers.begin(|stopped| write(rest.clone(), "churners", number, stopped));
    }
    tokio::time::sleep(FOR).await;
    // The objects' writers first: they need a definition to reach their minimum.
    let written = writers.stop().await?;
    let rounds = definers.stop().await?;
    let told = scene.settle().await?;
    turn.hand_on();
    eprintln!("{rounds} lives of a definition, {written} writes of its objects");
    ensure!(rounds >= 2, "only {rounds} lives");
    ensure!(written > 20, "only {written} writes");
    told.nothing_missing(|change| !is_custom(change))?;
    let of_objects = told.account.recorded.iter();
    let of_objects = of_objects.filter(|change| is_custom(change)).count();
    ensure!(of_objects > 20, "only {of_objects} changes of its objects");
    Ok(())
}
