//! Faults of the recorder's own process and of the machine it runs on: stopped for a while, too little
//! memory, too few descriptors, a slow disk, a clock that steps. After each the reel can be read, and
//! nothing is lost that it does not say.

#![expect(clippy::print_stderr, reason = "says what a fault did")]

// The longest come first in the order of names, side by side with all others.
mod asleep;
mod clock;
mod limits;
mod slow_disk;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::claims::Claims;
use kubereel_tests::recording::{Account, Recording, settle};
use kubereel_tests::scripted::{Churn, Churning, Kubeconfig, ScriptedCluster};
use tempfile::TempDir;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

const ENDPOINTS: &str = "/api/v1/endpoints";

/// A scripted cluster, and a recorder that records it.
struct Scene {
    cluster: ScriptedCluster,
    recorder: Option<Recording>,
    folder: TempDir,
}

impl Scene {
    /// A cluster that nobody records yet.
    fn new() -> Result<Self> {
        let scene = Self {
            cluster: ScriptedCluster::start()?,
            recorder: None,
            folder: tempfile::tempdir()?,
        };
        scene
            .cluster
            .write_kubeconfig(&scene.folder.path().join("kubeconfig"), &Kubeconfig::Good)?;
        // As a real server: who does not read loses its connection.
        scene
            .cluster
            .set(|settings| settings.stall_limit = Some(Duration::from_millis(100)));
        Ok(scene)
    }

    /// A cluster that is recorded by a recorder that runs under a program.
    fn live_under(under: &[&str]) -> Result<Self> {
        let mut scene = Self::new()?;
        scene.record_under(under)?;
        scene.await_live(ENDPOINTS)?;
        Ok(scene)
    }

    fn live() -> Result<Self> {
        Self::live_under(&[])
    }

    fn reel(&self) -> PathBuf {
        self.folder.path().join("run.reel")
    }

    fn record_under(&mut self, under: &[&str]) -> Result<()> {
        let kubeconfig = self.folder.path().join("kubeconfig");
        let started = Recording::start_under(under, &self.reel(), &kubeconfig, &[])?;
        self.recorder = Some(started);
        Ok(())
    }

    fn recorder(&self) -> Result<&Recording> {
        self.recorder.as_ref().context("somebody records")
    }

    fn log(&self) -> String {
        self.recorder
            .as_ref()
            .map(Recording::log)
            .unwrap_or_default()
    }

    /// Waits until a path is watched and its first list was sent.
    fn await_live(&self, path: &str) -> Result<()> {
        let live = self.cluster.wait_live(path, SURE);
        live.with_context(|| self.log())
    }

    /// Waits until the recorder has said something.
    fn await_word(&self, word: &str) -> Result<()> {
        let deadline = Instant::now() + SURE;
        while !self.log().contains(word) {
            ensure!(Instant::now() < deadline, "no {word:?}:\n{}", self.log());
            // A file cannot be awaited, and the cluster need not hear of it.
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Waits until so many more changes were made.
    fn await_writes(&self, count: u128) -> Result<()> {
        let next = self.cluster.revision() + count;
        self.cluster.wait_until("more writes", SURE, |cluster| {
            (cluster.revision() >= next).then_some(())
        })
    }

    /// A steady load on these resources.
    fn load(&self, resources: &[&str], per_second: u32) -> Result<Vec<Churning>> {
        let mut loads = Vec::new();
        for (resource, seed) in resources.iter().zip(1..) {
            loads.push(self.cluster.churn(Churn {
                resource: (*resource).to_owned(),
                per_second: Some(per_second),
                seed,
                ..Churn::default()
            })?);
        }
        Ok(loads)
    }

    /// Holds the claims of `verify` against what the cluster committed.
    fn claims(&self, storages: &[&str]) -> Result<()> {
        Claims::hold(&self.reel(), &self.cluster, storages)?;
        Ok(())
    }

    /// Ends the recording once it has received everything, and accounts for it.
    fn account(&mut self, storages: &[&str]) -> Result<Account> {
        for storage in storages {
            // After a deletion among Events a recorder rightly resumes one revision earlier.
            self.cluster
                .put(storage, "default", "last", r#""data":{}"#)?;
            settle(&self.cluster, storage, SURE).with_context(|| self.log())?;
        }
        self.finish()?;
        self.claims(storages)?;
        Account::of(&self.reel(), &self.cluster, storages)?.check()
    }

    fn finish(&mut self) -> Result<()> {
        let recorder = self.recorder.take().context("somebody records")?;
        let ended = recorder.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        Ok(())
    }
}
