//! The oracle against what the API says of the same changes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use kube::api::{DeleteParams, PostParams};
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::oracle::{ChangeKind, EtcdKey, ObjectKey};

use super::{config_map, config_maps};

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
