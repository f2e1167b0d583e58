//! Two servers behind a proxy, and watches that it cuts.

use anyhow::Context as _;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::api::PostParams;
use kube::client::Body;
use kubereel_tests::control_plane::{ControlPlane, skipped};
use kubereel_tests::proxy::Cut;

use super::{config_map, config_maps};

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
