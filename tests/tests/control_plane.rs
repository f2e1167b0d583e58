//! The harness itself: a control plane starts, survives what tests do to it, and leaves nothing.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ObjectMeta, PostParams};
use kubereel_tests::control_plane::{ControlPlane, skipped};

fn config_map(name: &str, text: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("text".to_owned(), text.to_owned())])),
        ..ConfigMap::default()
    }
}

#[tokio::test]
async fn data_outlives_a_killed_api_server() -> anyhow::Result<()> {
    if skipped() {
        return Ok(());
    }
    let control_plane = ControlPlane::builder().start().await?;
    let maps: Api<ConfigMap> = Api::namespaced(control_plane.client(0).await?, "default");
    let made = maps
        .create(&PostParams::default(), &config_map("kept", "before"))
        .await?;

    control_plane.api(0).kill().await?;
    assert!(
        maps.get("kept").await.is_err(),
        "a killed API server answered"
    );
    control_plane.api(0).start().await?;

    let kept = maps.get("kept").await?;
    assert_eq!(kept.metadata.uid, made.metadata.uid);
    assert_eq!(
        kept.metadata.resource_version,
        made.metadata.resource_version
    );
    Ok(())
}
