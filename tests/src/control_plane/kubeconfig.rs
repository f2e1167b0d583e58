//! Kubeconfig files, self-contained: certificates and keys are inside, as base64.
//!
//! They are written as JSON, which is YAML too, so nothing here can quote a string wrongly.

use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::certificates::Identity;

/// Writes a kubeconfig of one cluster, one user and one context.
pub(crate) fn write(
    path: &Path,
    port: u16,
    ca_pem: &str,
    identity: &Identity,
) -> anyhow::Result<()> {
    let name = "control-plane";
    let kubeconfig = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {
            "server": format!("https://127.0.0.1:{port}"),
            "certificate-authority-data": STANDARD.encode(ca_pem),
        }}],
        "users": [{"name": name, "user": {
            "client-certificate-data": STANDARD.encode(&identity.certificate_pem),
            "client-key-data": STANDARD.encode(&identity.key_pem),
        }}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    });
    std::fs::write(path, serde_json::to_vec_pretty(&kubeconfig)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

/// A client of what the kubeconfig names, without hidden retries: a test sees every error.
pub(crate) async fn client(path: &Path) -> anyhow::Result<Client> {
    let kubeconfig = Kubeconfig::read_from(path)?;
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    config.proxy_url = None; // whatever the environment says: all is on loopback
    config.proxy_url = None; // whatever the environment says: all is on loopback
    Ok(Client::try_from(config)?)
}
