//! Discovery that is partial, stale, flapping, empty or old; resources that come, change and go.

use anyhow::{Context as _, Result};
use kubereel_format::{NotCoveredReason, Note};
use kubereel_tests::scripted::{Aggregation, Canned, Churn, Fault, On, Resource};

use crate::recorder_faults::{ENDPOINTS, SURE, Scene};

const DEPLOYMENTS: &str = "/apis/apps/v1/deployments";

fn widgets() -> Resource {
    Resource::custom("example.com", "v1", "widgets", "Widget")
}

/// Brings a whole round of discovery about that begins after now: a change of an API service asks for
/// one, and the first to end may have begun before.
fn bring_round(scene: &Scene) -> Result<()> {
    for nth in 0..2 {
        let before = scene.cluster.requests_to("/apis").len();
        let spec = format!(r#""spec":{{"groupPriorityMinimum":{nth}}}"#);
        scene.put(
            "apiservices.apiregistration.k8s.io",
            "",
            "v1.example.com",
            &spec,
        )?;
        scene
            .cluster
            .wait_until("a round of discovery", SURE, |cluster| {
                let rounds = cluster.requests_to("/apis");
                rounds.get(before)?.progress().ended
            })?;
    }
    Ok(())
}

#[test]
fn groups_missing_from_an_answer_are_not_gone() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.await_live(DEPLOYMENTS)?;
    scene.set(|settings| {
        settings.hidden_groups.insert("apps".to_owned());
        settings
            .stale_groups
            .insert("coordination.k8s.io".to_owned());
    });
    bring_round(&scene)?;
    scene.put("deployments.apps", "default", "d", r#""spec":{}"#)?;
    scene.put("leases.coordination.k8s.io", "default", "l", r#""spec":{}"#)?;
    scene.reconnect("*")?;
    scene.put(
        "deployments.apps",
        "default",
        "d",
        r#""spec":{"replicas":1}"#,
    )?;
    let account = scene.whole(&["deployments.apps", "leases.coordination.k8s.io"])?;
    assert_eq!(account.recorded, 3, "{account:?}");
    let gone = |note: &Note| matches!(note, Note::NotCovered { reason, .. } if *reason == NotCoveredReason::Gone);
    assert!(!scene.notes()?.iter().any(gone));
    Ok(())
}

#[test]
fn an_empty_answer_ends_nothing() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.set(|settings| settings.empty_discovery = true);
    bring_round(&scene)?;
    scene.write()?;
    scene.reconnect(ENDPOINTS)?;
    scene.written_whole()
}

#[test]
fn flapping_groups_are_followed_from_their_first_sight() -> Result<()> {
    let mut scene = Scene::new()?;
    scene.set(|settings| {
        settings.flapping_groups.insert("apps".to_owned());
        settings.etags = false;
    });
    scene.record()?;
    scene.await_live(DEPLOYMENTS)?;
    scene.put("deployments.apps", "default", "d", r#""spec":{}"#)?;
    scene.whole(&["deployments.apps"])?;
    Ok(())
}

#[test]
fn legacy_and_beta_discovery_serve_as_well() -> Result<()> {
    for aggregation in [Aggregation::Off, Aggregation::V2Beta1] {
        let mut scene = Scene::new()?;
        scene.set(|settings| settings.aggregation = aggregation);
        scene.record()?;
        scene.await_live(DEPLOYMENTS)?;
        scene.put("deployments.apps", "default", "d", r#""spec":{}"#)?;
        scene.whole(&["deployments.apps"])?;
    }
    Ok(())
}

#[test]
fn a_storage_with_two_names_is_recorded_once() -> Result<()> {
    let mut scene = Scene::new()?;
    scene.record()?;
    scene.await_live("/api/v1/events")?;
    scene.put("events", "default", "e", r#""reason":"Tested""#)?;
    let account = scene.whole(&["events"])?;
    assert_eq!(account.recorded, 1);
    assert_eq!(
        scene
            .cluster
            .requests_to("/apis/events.k8s.io/v1/events")
            .len(),
        0
    );
    let told = scene.notes()?.into_iter().any(|note| {
        matches!(note, Note::NotCovered { group, reason, .. }
            if group == "events.k8s.io" && reason == NotCoveredReason::SameStorage)
    });
    assert!(told);
    Ok(())
}

#[test]
fn a_new_resource_is_recorded_from_its_first_object() -> Result<()> {
    let mut scene = Scene::live()?;
    // A new storage refuses until its cache is filled.
    let path = widgets().path();
    scene.fault(
        On::path(&path).times(2),
        Fault::Answer(Canned::status(
            429,
            "TooManyRequests",
            "storage is (re)initializing",
        )),
    );
    scene.cluster.install_crd(&widgets())?;
    for nth in 0..10 {
        scene.put(
            "widgets.example.com",
            "default",
            &format!("w{nth}"),
            r#""spec":{}"#,
        )?;
    }
    scene.await_live(&path)?;
    scene.delete("widgets.example.com", "default", "w3")?;
    let account = scene.whole(&["widgets.example.com"])?;
    assert_eq!(account.recorded, 11, "{account:?}");
    Ok(())
}

#[test]
fn a_changed_definition_under_load_loses_nothing_unsaid() -> Result<()> {
    let mut scene = Scene::live()?;
    scene.cluster.install_crd(&widgets())?;
    scene.await_live(&widgets().path())?;
    let load = scene.cluster.churn(Churn {
        resource: "widgets.example.com".to_owned(),
        writes: Some(400),
        per_second: Some(200),
        ..Churn::default()
    })?;
    for nth in 0..4_u128 {
        let next = scene.cluster.revision() + 50;
        scene.cluster.wait_until("more writes", SURE, |cluster| {
            (cluster.revision() >= next).then_some(())
        })?;
        let changed = widgets().short_names(&[&format!("w{nth}")]);
        scene.cluster.change_crd(&changed)?;
    }
    load.finish()?;
    let account = scene.account(&["widgets.example.com"])?.check()?;
    assert_eq!(account.recorded + account.in_gaps, 400, "{account:?}");
    Ok(())
}

#[test]
fn a_resource_that_goes_and_returns_has_both_lives_in_the_reel() -> Result<()> {
    let mut scene = Scene::live()?;
    let path = widgets().path();
    let key = "widgets.example.com";
    scene.cluster.install_crd(&widgets())?;
    scene.await_live(&path)?;
    scene.put(key, "default", "first", r#""spec":{}"#)?;
    scene.cluster.wait_sent(key, SURE)?;
    scene.cluster.remove_crd(key)?;
    scene.cluster.wait_for_request("a 404", SURE, |one| {
        one.asked.path == path && one.progress().status == Some(404)
    })?;
    let before = scene.cluster.requests().len();
    scene.cluster.install_crd(&widgets())?;
    scene.put(key, "default", "second", r#""spec":{}"#)?;
    scene
        .cluster
        .wait_for_request("the second life", SURE, |one| {
            one.number >= before && one.asked.path == path && one.progress().lines > 0
        })
        .with_context(|| scene.log())?;
    let account = scene.account(&[key])?.check()?;
    assert_eq!(account.recorded, 3, "{account:?}");
    Ok(())
}

#[test]
fn one_failing_group_costs_only_itself() -> Result<()> {
    let mut scene = Scene::new()?;
    scene.set(|settings| settings.aggregation = Aggregation::Off);
    let down = scene.fault(
        On::path("/apis/coordination.k8s.io/v1*"),
        Fault::Answer(Canned::text(503, "service unavailable\n")),
    );
    scene.record()?;
    scene.await_live(DEPLOYMENTS)?;
    scene.put("deployments.apps", "default", "d", r#""spec":{}"#)?;
    let lease = "leases.coordination.k8s.io";
    scene.put(lease, "default", "l", r#""spec":{}"#)?;
    scene.cluster.lift(down);
    scene.await_live("/apis/coordination.k8s.io/v1/leases")?;
    scene.put(lease, "default", "l", r#""spec":{"n":1}"#)?;
    let account = scene.whole(&["deployments.apps", lease])?;
    assert_eq!(account.recorded, 3, "{account:?}");
    Ok(())
}

#[test]
fn custom_resources_are_recorded_in_the_version_they_are_stored_in() -> Result<()> {
    let mut scene = Scene::new()?;
    let stored = widgets().also_version("v1alpha1").stored_in("v1alpha1");
    scene.cluster.install_crd(&stored)?;
    scene.record()?;
    scene.await_live(&stored.path_in("v1alpha1"))?;
    scene.put("widgets.example.com", "default", "w", r#""spec":{}"#)?;
    scene.whole(&["widgets.example.com"])?;
    assert_eq!(scene.cluster.requests_to(&stored.path()).len(), 0);
    Ok(())
}
