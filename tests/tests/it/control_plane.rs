//! The harness itself: its oracle sees all, and nothing is left of a control plane whatever ends it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::{Api, Client};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::oracle::{ChangeKind, EtcdKey, ObjectKey};
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
    let expected = [
        ChangeKind::Created,
        ChangeKind::Updated,
        ChangeKind::Deleted,
    ];
    assert_eq!(kinds, expected);
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
