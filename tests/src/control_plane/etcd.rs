//! One etcd of a control plane: flags, readiness, its address for the oracle, and its data, which can be
//! copied and put back as from a backup.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
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
    data: PathBuf,
}

impl Etcd {
    pub(crate) fn new(
        name: &str,
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
        let data = around.dir.join(name);
        flags.push(path_flag("--data-dir", &data));
        let component = around.component(name, "etcd", flags, extra);
        Ok(Self {
            component,
            endpoint,
            data,
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

    /// Copies its data into a folder that is not there yet, while it stands still: what it would find
    /// had it been killed now.
    ///
    /// # Errors
    /// When it does not run, or the copy cannot be made.
    pub fn back_up(&self, to: &Path) -> anyhow::Result<()> {
        self.component.pause()?;
        let copied = copy_folder(&self.data, to);
        self.component.resume()?;
        copied
    }

    /// Puts an earlier copy in the place of its data: the next start goes on from there.
    ///
    /// # Errors
    /// When it runs, or the copy cannot be read.
    pub fn put_back(&self, from: &Path) -> anyhow::Result<()> {
        ensure!(
            self.component.pid().is_none(),
            "data is put back only while nobody writes it"
        );
        std::fs::remove_dir_all(&self.data)?;
        copy_folder(from, &self.data)
    }
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            std::fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        }
    }
    Ok(())
}
