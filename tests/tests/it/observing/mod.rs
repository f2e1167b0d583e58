//! `kubereel observe` as a CI job runs it: kubeconfigs that come late or never, a proxy that comes later,
//! signals, marks, the files that others read. Against the scripted server, and a real control plane.

mod credentials;
mod delivery;
mod ends;
mod files;
mod marks;
mod page;
mod planted;
mod proxied;
mod sampling;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use kubereel_tests::recording::Observing;
use kubereel_tests::scripted::{Kubeconfig, ScriptedCluster};
use tempfile::TempDir;

/// How long anything that is sure to come may take on a busy machine.
const SURE: Duration = Duration::from_mins(1);

const ENDPOINTS: &str = "/api/v1/endpoints";

/// A cluster that a job brings up, and the folders of the job's pod.
struct Job {
    cluster: ScriptedCluster,
    folder: TempDir,
}

impl Job {
    fn new() -> Result<Self> {
        let job = Self {
            cluster: ScriptedCluster::start()?,
            folder: tempfile::tempdir()?,
        };
        job.cluster
            .put("endpoints", "default", "written", r#""data":{"n":"0"}"#)?;
        std::fs::create_dir(job.mount())?;
        Ok(job)
    }

    /// Where the job's Secret is seen.
    fn mount(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    fn minimal(&self) -> PathBuf {
        self.mount().join("kubeconfig-minimal")
    }

    fn full(&self) -> PathBuf {
        self.mount().join("kubeconfig")
    }

    fn deliver(&self, path: &Path, what: &Kubeconfig) -> Result<()> {
        self.cluster.write_kubeconfig(path, what)
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// Starts an observer with the variables of a job.
    fn observe(&self, more: &[&str]) -> Result<Observing> {
        self.observe_with(&[], more)
    }

    fn observe_with(&self, variables: &[(&str, &str)], more: &[&str]) -> Result<Observing> {
        let minimal = self.minimal();
        let minimal = minimal.to_str().context("a path in letters")?;
        let mut all = vec![("KUBECONFIGMINIMAL", minimal)];
        all.extend(variables);
        Observing::start(&self.output(), &all, more)
    }

    /// Waits until endpoints are watched and their first list was sent.
    fn await_live(&self, observing: &Observing) -> Result<()> {
        let live = self.cluster.wait_live(ENDPOINTS, SURE);
        live.with_context(|| observing.log())
    }

    /// Waits until the observer says that the cluster answers.
    fn await_reached(observing: &Observing) -> Result<()> {
        observing.until_said("the cluster answers", SURE)
    }

    fn write(&self, number: u32) -> Result<u128> {
        let members = format!(r#""data":{{"n":"{number}"}}"#);
        self.cluster
            .put("endpoints", "default", "written", &members)
    }
}
