//! The harness itself: a control plane starts, survives what tests do to it, and leaves nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::client::Body;
use kube::{Api, Client};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::kubectl::Kubectl;
use kubereel_tests::oracle::{ChangeKind, EtcdKey, ObjectKey};
use kubereel_tests::proxy::Cut;
use kubereel_tests::skipped::say_skipped;
use tokio::time::Instant;

fn config_map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("text".to_owned(), "before".to_owned())])),
        ..ConfigMap::default()
    }
}

fn config_maps(client: Client) -> Api<ConfigMap> {
    Api::namespaced(client, "default")
}

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

#[tokio::test]
async fn the_oracle_sees_every_revision_from_the_first() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let (control_plane, oracle) = ControlPlane::builder().start_with_oracle().await?;
    let maps = config_maps(control_plane.client(0).await?);
    let made = maps
        .create(&PostParams::default(), &config_map("watched"))
        .await?;
    let mut edited = made.clone();
    edited.data = Some(BTreeMap::from([("text".to_owned(), "after".to_owned())]));
    let edited = maps
        .replace("watched", &PostParams::default(), &edited)
        .await?;
    maps.delete("watched", &DeleteParams::default()).await?;

    let changes = oracle.changes_up_to_now().await?;
    // etcd itself begins at revision 1, with nothing in it.
    let revisions: BTreeSet<u64> = changes.iter().map(|change| change.revision).collect();
    let last = *revisions.last().context("no change at all")?;
    assert!(
        revisions.iter().copied().eq(2..=last),
        "revisions are missing of 2 to {last}"
    );
    let unknown: Vec<_> = changes
        .iter()
        .filter(|change| change.etcd_key() == EtcdKey::Unknown)
        .collect();
    assert!(unknown.is_empty(), "keys that nobody knows: {unknown:?}");
    assert!(
        changes
            .iter()
            .any(|change| change.etcd_key() == EtcdKey::WithoutApi)
    );

    let key = EtcdKey::Object(ObjectKey {
        group: None,
        resource: "configmaps".to_owned(),
        namespace: Some("default".to_owned()),
        name: "watched".to_owned(),
    });
    let of_map: Vec<_> = changes
        .iter()
        .filter(|change| change.etcd_key() == key)
        .collect();
    let kinds: Vec<_> = of_map.iter().map(|change| change.kind).collect();
    assert_eq!(
        kinds,
        [
            ChangeKind::Created,
            ChangeKind::Updated,
            ChangeKind::Deleted
        ]
    );
    let revisions: Vec<_> = of_map
        .iter()
        .map(|change| change.revision.to_string())
        .collect();
    let told = [made, edited].map(|map| map.metadata.resource_version.unwrap_or_default());
    assert!(
        revisions.starts_with(&told),
        "{revisions:?} is not {told:?}"
    );

    // An oracle that has lost its etcd says so instead of waiting.
    control_plane.etcd().component().kill().await?;
    assert!(oracle.wait_for_revision(last + 1000).await.is_err());
    oracle.wait_for_revision(last).await
}

#[tokio::test]
async fn two_servers_share_their_data_and_a_proxy() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder().api_servers(2).start().await?;
    let (one, other) = (
        config_maps(control_plane.client(0).await?),
        config_maps(control_plane.client(1).await?),
    );
    let made = one
        .create(&PostParams::default(), &config_map("shared"))
        .await?;
    assert_eq!(other.get("shared").await?.metadata, made.metadata);

    let proxy = control_plane.proxy()?;
    // Two clients are two connections, and each server gets one.
    for _ in 0..2 {
        let maps = config_maps(control_plane.client_through(&proxy).await?);
        assert_eq!(maps.get("shared").await?.metadata, made.metadata);
    }
    assert_eq!(proxy.counts().per_backend, [1, 1]);

    // With one server dead all go to the other.
    control_plane.api(0).kill().await?;
    for _ in 0..2 {
        let maps = config_maps(control_plane.client_through(&proxy).await?);
        assert_eq!(maps.get("shared").await?.metadata, made.metadata);
    }
    assert_eq!(proxy.counts().per_backend, [1, 3]);
    control_plane.api(0).start().await?;

    for (how, text) in [(Cut::Reset, "reset"), (Cut::Fin, "eof")] {
        let client = control_plane.client_through(&proxy).await?;
        let end = watch_until_cut(client, || proxy.cut(how)).await?;
        let end = end.to_lowercase();
        assert!(end.contains(text), "after {how:?} the watch said {end:?}");
    }
    Ok(())
}

/// Opens a watch, cuts it after its first event, and returns how it ended.
async fn watch_until_cut<F: Future<Output = anyhow::Result<()>>>(
    client: Client,
    cut: impl FnOnce() -> F,
) -> anyhow::Result<String> {
    let request = http::Request::get("/api/v1/namespaces/default/configmaps?watch=true")
        .body(Body::empty())?;
    let mut body = client.send(request).await?.into_body();
    let first = body.frame().await.context("the watch ended at once")??;
    assert!(
        first
            .into_data()
            .is_ok_and(|data| data.starts_with(b"{\"type\":\"ADDED\""))
    );
    let (cut, end) = tokio::join!(cut(), async {
        let end = loop {
            match body.frame().await {
                Some(Ok(_)) => {}
                Some(Err(error)) => break format!("{error:?}"),
                None => break "clean end".to_owned(),
            }
        };
        drop((body, client));
        end
    });
    cut?;
    Ok(end)
}

/// Whether a process is there and is not only waiting to be reaped.
fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .trim_start()
            .starts_with('Z')
    })
}

/// Waits for what no event tells; the limit only ends a test that has failed.
async fn until(what: &str, mut there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !there() {
        assert!(Instant::now() < deadline, "{what}: not within 30 s");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn what_does_not_start_says_why_and_leaves_nothing() {
    if skipped() {
        return;
    }
    let started = ControlPlane::builder()
        .api_flag("--no-such-flag=1")
        .start()
        .await;
    let error = format!("{:#}", started.expect_err("an unknown flag was taken"));
    assert!(
        error.contains("api-0") && error.contains("unknown flag: --no-such-flag"),
        "{error}"
    );
    let log = error
        .split_whitespace()
        .find_map(|word| word.strip_suffix("/api-0.log:"));
    let dir = Path::new(log.expect("the message names the log"));
    assert!(!dir.exists(), "{} is left", dir.display());
}

#[tokio::test]
async fn a_panic_leaves_nothing() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder().start().await?;
    let (pids, dir) = (control_plane.pids(), control_plane.dir().to_owned());
    assert!(
        pids.len() == 2 && pids.iter().all(|pid| lives(*pid)),
        "{pids:?}"
    );
    let panicked = tokio::spawn(async move {
        let _held = control_plane;
        panic!("this panic is part of the test");
    });
    assert!(panicked.await.is_err());
    assert!(
        !pids.iter().any(|pid| lives(*pid)),
        "one of {pids:?} is left"
    );
    assert!(!dir.exists(), "{} is left", dir.display());
    Ok(())
}

#[tokio::test]
async fn a_killed_test_process_leaves_nothing() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let mut holder = Command::new(env!("CARGO_BIN_EXE_control-plane"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut about = String::new();
    BufReader::new(holder.stdout.take().context("no stdout")?).read_line(&mut about)?;
    let about: serde_json::Value = serde_json::from_str(&about)?;
    let pids: Vec<u32> = serde_json::from_value(about["pids"].clone())?;
    let dir: PathBuf = serde_json::from_value(about["dir"].clone())?;
    assert!(
        pids.len() == 2 && pids.iter().all(|pid| lives(*pid)),
        "{pids:?}"
    );

    holder.kill()?;
    holder.wait()?;
    until("every process is gone", || {
        !pids.iter().any(|pid| lives(*pid))
    })
    .await;
    until("the folder is gone", || !dir.exists()).await;
    Ok(())
}
