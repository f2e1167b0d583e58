//! The one etcd of a control plane: flags, readiness, and its address for the oracle.

use std::ffi::OsString;

use anyhow::ensure;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

use super::component::Component;
use super::readiness;
use super::surroundings::{Surroundings, path_flag};
use crate::ports::PortBlock;

/// A running etcd; its data outlives a kill and a start.
#[derive(Debug)]
pub struct Etcd {
    component: Component,
    endpoint: String,
}

impl Etcd {
    pub(crate) fn new(
        around: &Surroundings,
        ports: &mut PortBlock,
        extra: &[String],
    ) -> anyhow::Result<Self> {
        let endpoint = format!("http://127.0.0.1:{}", ports.take()?);
        let peer = format!("http://127.0.0.1:{}", ports.take()?);
        let mut flags: Vec<OsString> = [
            format!("--listen-client-urls={endpoint}"),
            format!("--advertise-client-urls={endpoint}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=default={peer}"),
            "--unsafe-no-fsync".to_owned(), // the data dies with the test; the machine's disk does not matter
            "--watch-progress-notify-interval=5s".to_owned(),
            "--log-level=warn".to_owned(),
        ]
        .into_iter()
        .map(OsString::from)
        .collect();
        flags.push(path_flag("--data-dir", &around.dir.join("etcd")));
        let component = around.component("etcd", "etcd", flags, extra);
        Ok(Self {
            component,
            endpoint,
        })
    }

    /// Base address of its plain HTTP gateway, `http://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The process, to kill, stop or pause it.
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// Starts the process and waits until it serves.
    ///
    /// # Errors
    /// When it runs already or does not become healthy; the message ends with its log.
    pub async fn start(&self) -> anyhow::Result<()> {
        self.component.spawn()?;
        let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
        let health: http::Uri = format!("{}/health", self.endpoint).parse()?;
        readiness::until(&self.component, "become healthy", || async {
            let answer = client.get(health.clone()).await?;
            let status = answer.status();
            let body = answer.into_body().collect().await?.to_bytes();
            ensure!(
                status.is_success(),
                "{status}: {}",
                String::from_utf8_lossy(&body)
            );
            Ok(())
        })
        .await
    }
}
