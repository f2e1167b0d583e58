//! Servers can be killed, stopped, paused and started again, and clients of every kind reach them.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::skipped::say_skipped;
use tokio::time::Instant;

use super::{config_map, config_maps};

#[tokio::test]
async fn data_outlives_the_death_of_every_server() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder().start().await?;
    let maps = config_maps(control_plane.client(0).await?);
    let made = maps
        .create(&PostParams::default(), &config_map("kept"))
        .await?;

    let server = control_plane.api(0);
    server.kill().await?;
    assert!(
        maps.get("kept").await.is_err(),
        "a killed API server answered"
    );
    assert!(
        server.kill().await.is_err(),
        "an API server was killed twice"
    );
    server.start().await?;
    assert!(server.spawn().is_err(), "an API server runs twice");
    assert_eq!(maps.get("kept").await?.metadata, made.metadata);

    // A stopped server ends by itself and says so with its status.
    assert!(server.stop().await?.success());
    control_plane.etcd().component().kill().await?;
    control_plane.etcd().start().await?;
    server.start().await?;
    assert_eq!(maps.get("kept").await?.metadata, made.metadata);
    Ok(())
}

#[tokio::test]
async fn a_paused_server_is_silent_and_goes_on() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder().start().await?;
    let maps = config_maps(control_plane.client(0).await?);
    maps.create(&PostParams::default(), &config_map("kept"))
        .await?;
    control_plane.api(0).pause()?;
    let mut asked = pin!(maps.get("kept"));
    // Silence is the one thing that can only be seen by waiting for it to be broken.
    let silence = tokio::time::timeout(Duration::from_millis(300), &mut asked).await;
    assert!(silence.is_err(), "a paused API server said {silence:?}");
    control_plane.api(0).resume()?;
    assert_eq!(asked.await?.metadata.name.as_deref(), Some("kept"));
    Ok(())
}

#[tokio::test]
async fn every_kubectl_here_works() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let kubectls = Kubectl::all()?;
    if kubectls.is_empty() {
        say_skipped("no kubectl on PATH");
        return Ok(());
    }
    let control_plane = ControlPlane::builder().start().await?;
    for kubectl in kubectls {
        let said = kubectl
            .run(control_plane.kubeconfig(0), &["version", "-o", "json"])
            .await?;
        let version: serde_json::Value = serde_json::from_str(&said)?;
        let server = version["serverVersion"]["gitVersion"]
            .as_str()
            .context("no version")?;
        assert!(
            server.starts_with("v1."),
            "{}: {said}",
            kubectl.program().display()
        );

        let said = kubectl
            .run(control_plane.kubeconfig(0), &["get", "ns", "-o", "json"])
            .await?;
        let namespaces: serde_json::Value = serde_json::from_str(&said)?;
        let names: BTreeSet<&str> = namespaces["items"]
            .as_array()
            .context("no items")?
            .iter()
            .filter_map(|item| item["metadata"]["name"].as_str())
            .collect();
        assert!(
            names.is_superset(&BTreeSet::from(["default", "kube-system"])),
            "{names:?}"
        );

        let wrong = kubectl
            .run(control_plane.kubeconfig(0), &["get", "nothing"])
            .await;
        assert!(
            wrong.is_err(),
            "{} found nothing",
            kubectl.program().display()
        );
    }
    Ok(())
}

#[tokio::test]
async fn controllers_make_what_pods_need_and_live_through_the_loss_of_a_server()
-> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder()
        .api_servers(2)
        .controllers(true)
        .scheduler(true)
        .start()
        .await?;
    assert_eq!(control_plane.pids().len(), 5);
    control_plane.api(0).kill().await?;

    // Only a controller empties and ends a namespace.
    let namespaces: Api<Namespace> = Api::all(control_plane.client(1).await?);
    let namespace = Namespace {
        metadata: ObjectMeta {
            name: Some("short-lived".to_owned()),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    };
    namespaces
        .create(&PostParams::default(), &namespace)
        .await?;
    namespaces
        .delete("short-lived", &DeleteParams::default())
        .await?;
    let deadline = Instant::now() + Duration::from_mins(1);
    while namespaces.get_opt("short-lived").await?.is_some() {
        assert!(
            Instant::now() < deadline,
            "the controllers are cut off from the API"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}
