//! Owns one control plane, its oracle, and a recorder behind a proxy; and their common end: the
//! recorder has caught up, and everything is accounted for. Refuses to wait longer than it must.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use kubereel_format::Reel;
use tempfile::TempDir;

use super::objects::CANARY;
use crate::control_plane::ControlPlane;
use crate::oracle::{Account, Change, Oracle};
use crate::proxy::Proxy;
use crate::recording::{Page, Recording};
use crate::rest::Rest;

/// Names a folder where the reel is left.
const KEEP: &str = "KUBEREEL_KEEP";

/// Anything that must come comes within this time, also on a busy machine.
const SURE: Duration = Duration::from_mins(2);

/// How long the last changes may take to arrive.
const CAUGHT_UP: Duration = Duration::from_secs(30);

/// A control plane, its oracle, and a recorder behind a proxy.
#[derive(Debug)]
pub struct Scene {
    /// The servers.
    pub control_plane: Arc<ControlPlane>,
    /// What etcd says.
    pub oracle: Oracle,
    /// Between the recorder and the servers.
    pub proxy: Proxy,
    /// The recorder.
    pub recording: Recording,
    /// What it says of itself.
    pub page: Page,
    folder: TempDir,
}

/// What a recording came to.
#[derive(Debug)]
pub struct Settled {
    /// What became of every change.
    pub account: Account,
    /// Every change that etcd made before the recording was ended.
    pub changes: Vec<Change>,
    /// Those, and what the servers wrote while it ended.
    pub all_changes: Vec<Change>,
    /// The reel, finished.
    pub reel: Reel,
    /// Where it lies.
    pub folder: TempDir,
}

impl Scene {
    /// Starts so many API servers with these flags and records them. etcd keeps its history unless a
    /// flag says otherwise; the oracle is there before the first server.
    ///
    /// # Errors
    ///
    /// When something does not start, or the recorder does not become ready.
    pub async fn start(api_servers: usize, flags: &[&str]) -> Result<Self> {
        let mut builder = ControlPlane::builder()
            .api_servers(api_servers)
            .api_flag("--etcd-compaction-interval=0");
        for flag in flags {
            builder = builder.api_flag(*flag);
        }
        let (control_plane, oracle) = builder.start_with_oracle().await?;
        let proxy = control_plane.proxy()?;
        let kubeconfig = control_plane.kubeconfig_through(&proxy)?;
        let folder = tempfile::tempdir()?;
        let reel = folder.path().join("run.reel");
        let more = [
            "--listen",
            "127.0.0.1:0",
            "--log",
            "info,kubereel_recorder=debug",
        ];
        let recording = Recording::start(&reel, &kubeconfig, &more)?;
        let page = Page::of(&recording, SURE).await?;
        page.until_ready(SURE).await?;
        Ok(Self {
            control_plane: Arc::new(control_plane),
            oracle,
            proxy,
            recording,
            page,
            folder,
        })
    }

    /// A way past the proxy, to the server that is there.
    ///
    /// # Errors
    ///
    /// When a kubeconfig cannot be read.
    pub async fn rest(&self) -> Result<Rest> {
        let mut clients = Vec::new();
        for index in 0..self.control_plane.api_servers() {
            clients.push(self.control_plane.client(index).await?);
        }
        Ok(Rest::new(clients))
    }

    /// Ends the faults, waits until the recorder has caught up, stops it, and accounts for it.
    ///
    /// # Errors
    ///
    /// When a change is lost.
    pub async fn settle(self) -> Result<Settled> {
        self.proxy.change(|faults| faults.cut_every = None);
        let mut changes = self.oracle.changes_up_to_now().await?;
        // A token that is a name: the reel knows it by another one, which the test looks for.
        changes.retain(|change| !change.key.contains(CANARY));
        let deadline = Instant::now() + CAUGHT_UP;
        // What is missing at the end is told by the final account, not here.
        while Instant::now() < deadline && !self.has_caught_up(&changes) {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        let path = self.recording.reel().to_owned();
        let ended = self.recording.finish(SURE)?;
        if let Some(folder) = std::env::var_os(KEEP) {
            for kept in [&path, &path.with_extension("log")] {
                if let Some(name) = kept.file_name() {
                    std::fs::copy(kept, Path::new(&folder).join(name))?;
                }
            }
        }
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        let all_changes = self.oracle.changes_up_to_now().await?;
        let reel = Reel::open(&path)?;
        ensure!(reel.is_finished(), "the reel is not finished");
        let account = Account::of(&reel, &changes)?;
        if let Err(error) = account.check() {
            let kept = self.folder.keep();
            bail!(
                "{error:#}\nthe reel and the recorder's log: {}",
                kept.display()
            );
        }
        Ok(Settled {
            account,
            changes,
            all_changes,
            reel,
            folder: self.folder,
        })
    }

    fn has_caught_up(&self, changes: &[Change]) -> bool {
        let copy = self.folder.path().join("copy.reel");
        // A copy that was taken in the middle of a write may not open: the next one will.
        let account = std::fs::copy(self.recording.reel(), &copy)
            .map_err(anyhow::Error::from)
            .and_then(|_bytes| Ok(Reel::open(&copy)?))
            .and_then(|reel| Account::of(&reel, changes));
        account.is_ok_and(|account| account.lost.is_empty())
    }
}
