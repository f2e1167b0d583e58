//! A real control plane that is written to and shaken while it is recorded, and what etcd says of it.
//!
//! Owns the place: servers, oracle, proxy, recorder, writers. Refuses to judge: what a recording must
//! hold after which fault is the tests' own.
//!
//! Owns the objects that are written: plain ones, Secrets with a word that must not be recorded, and
//! definitions of resources. Refuses to send them.
//!
//! Owns one control plane, its oracle, and a recorder behind a proxy; and their common end: the
//! recorder has caught up, and everything is accounted for. Refuses to wait longer than it must.
//!
//! Owns writers that change a cluster through its API until they are told to stop. Refuses to give up
//! while a server is down: a call is tried again for as long as a restart takes.

use crate::control_plane::ControlPlane;
use crate::oracle::{Account, Change, Oracle};
use crate::proxy::Proxy;
use crate::recording::{Page, Recording};
use crate::rest::{Body, Call, Patience, Rest, Verb};
use anyhow::{Result, bail, ensure};
use kubereel_format::Reel;
use serde_json::{Value, json};
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Must never be found in a reel.
pub const CANARY: &str = "kubereel-canary-7d1f";

/// [`CANARY`] as a Secret's `data` holds it.
pub const CANARY_BASE64: &str = "a3ViZXJlZWwtY2FuYXJ5LTdkMWY=";

/// Makes the version of an object that a round writes.
pub type Make = fn(name: &str, round: u64) -> Value;

/// A config map.
pub fn config_map(name: &str, round: u64) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"round": round.to_string()}})
}

/// A Secret with the canary in every place that Secrets have.
pub fn secret(name: &str, round: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"stringData\":{{\"word\":\"{CANARY}\"}}}}"),
        }},
        "data": {"word": CANARY_BASE64},
        "stringData": {"round": round.to_string(), "plain": CANARY},
    })
}

/// An Event.
pub fn event(name: &str, round: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
        "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "none"},
        "reason": "Churned", "message": format!("round {round}"), "type": "Normal", "count": round,
    })
}

/// A definition of a namespaced resource `{word}{number}s` of the group `churn.kubereel.dev`.
pub fn definition(word: &str, number: u64) -> Value {
    let singular = format!("{word}{number}");
    let kind: String = singular
        .char_indices()
        .map(|(place, letter)| {
            if place == 0 {
                letter.to_ascii_uppercase()
            } else {
                letter
            }
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{singular}s.churn.kubereel.dev")},
        "spec": {
            "group": "churn.kubereel.dev", "scope": "Namespaced",
            "names": {"plural": format!("{singular}s"), "singular": singular, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    })
}

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

/// Longer than any restart takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Writers at work; they end when this is dropped.
#[derive(Debug)]
pub struct Writers {
    stop: watch::Sender<bool>,
    tasks: JoinSet<Result<()>>,
    pace: Duration,
}

/// One of them.
#[derive(Clone)]
pub struct Writer {
    rest: Rest,
    stopped: watch::Receiver<bool>,
    pace: Duration,
}

impl Writers {
    /// Makes none yet; each will wait so long between two writes.
    pub fn new(pace: Duration) -> Self {
        Self {
            stop: watch::channel(false).0,
            tasks: JoinSet::new(),
            pace,
        }
    }

    /// Lets one more begin.
    pub fn add<F>(&mut self, rest: &Rest, write: impl FnOnce(Writer) -> F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let writer = Writer {
            rest: rest.clone(),
            stopped: self.stop.subscribe(),
            pace: self.pace,
        };
        self.tasks.spawn(write(writer));
    }

    /// Lets every writer end what it is at.
    ///
    /// # Errors
    ///
    /// When one failed.
    pub async fn stop(mut self) -> Result<()> {
        self.stop.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            ended??;
        }
        Ok(())
    }
}

impl Writer {
    /// Whether it shall end.
    pub fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }

    /// Its way to the cluster.
    pub fn rest(&self) -> &Rest {
        &self.rest
    }

    /// Makes one call, and waits as its pace wants.
    ///
    /// # Errors
    ///
    /// When the cluster refuses it, or is not there for a minute.
    pub async fn call(&self, verb: Verb, path: String, body: Body) -> Result<Value> {
        let call = Call { verb, path, body };
        let patience = Patience::until_found(PATIENCE);
        let answer = self.rest.send(&call, patience).await?;
        if !self.pace.is_zero() {
            tokio::time::sleep(self.pace).await;
        }
        Ok(answer.body)
    }

    /// Objects named `{word}-0`, `{word}-1`, … that are created, changed twice, and every other one deleted.
    ///
    /// # Errors
    ///
    /// As [`Self::call`].
    pub async fn objects(self, path: &str, word: &str, make: Make) -> Result<()> {
        let mut number = 0_u64;
        while !self.is_stopped() {
            let name = format!("{word}-{number}");
            self.life(path, &name, make, number.is_multiple_of(2))
                .await?;
            number += 1;
        }
        Ok(())
    }

    async fn life(&self, path: &str, name: &str, make: Make, dies: bool) -> Result<()> {
        self.call(Verb::Post, path.to_owned(), Body::Json(make(name, 0)))
            .await?;
        for round in 1..3 {
            let body = Body::Merge(make(name, round));
            self.call(Verb::Patch, format!("{path}/{name}"), body)
                .await?;
        }
        if dies {
            self.call(Verb::Delete, format!("{path}/{name}"), Body::Empty)
                .await?;
        }
        Ok(())
    }
}
