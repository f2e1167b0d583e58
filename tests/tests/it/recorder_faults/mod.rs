//! The real recorder against a server that misbehaves in every way we know: whatever was committed is
//! in the reel, byte for byte, or inside a gap that the reel declares.

mod accounting;
mod answers;
mod clusters;
mod discovering;
mod failing_lists;
mod limits;
mod lines;
mod lists;
mod overlap;
mod read_back;
mod slow;
mod streams;
mod surroundings;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kubereel_format::{Note, Reel};
use kubereel_tests::claims::{Claims, Tally};
use kubereel_tests::recording::{Account, Recording, settle};
use kubereel_tests::scripted::{
    Cut, End, Fault, FaultId, Kubeconfig, On, Pick, Place, ScriptedCluster, Settings,
};
use tempfile::TempDir;

/// How long anything that is sure to come may take on a busy machine.
pub(crate) const SURE: Duration = Duration::from_mins(1);

pub(crate) const ENDPOINTS: &str = "/api/v1/endpoints";

/// A scripted cluster, and a recorder that records it.
pub(crate) struct Scene {
    pub(crate) cluster: ScriptedCluster,
    pub(crate) recorder: Option<Recording>,
    pub(crate) folder: TempDir,
    written: usize,
}

impl Scene {
    /// A cluster with one endpoints object, and nobody recording it yet.
    pub(crate) fn new() -> Result<Self> {
        let scene = Self {
            cluster: ScriptedCluster::start()?,
            recorder: None,
            folder: tempfile::tempdir()?,
            written: 0,
        };
        scene.put("endpoints", "default", "written", r#""data":{"n":"0"}"#)?;
        scene
            .cluster
            .write_kubeconfig(&scene.kubeconfig(), &Kubeconfig::Good)?;
        Ok(scene)
    }

    /// A cluster whose endpoints are being recorded live.
    fn live() -> Result<Self> {
        let mut scene = Self::new()?;
        scene.record()?;
        scene.await_live(ENDPOINTS)?;
        Ok(scene)
    }

    /// Changes how the server behaves.
    pub(crate) fn set(&self, change: impl FnOnce(&mut Settings)) {
        self.cluster.set(change);
    }

    fn fault(&self, on: On, fault: Fault) -> FaultId {
        self.cluster.fault(on, fault)
    }

    pub(crate) fn put(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        members: &str,
    ) -> Result<u128> {
        self.cluster.put(resource, namespace, name, members)
    }

    fn delete(&self, resource: &str, namespace: &str, name: &str) -> Result<u128> {
        self.cluster.delete(resource, namespace, name)
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    pub(crate) fn reel(&self) -> PathBuf {
        self.folder.path().join("run.reel")
    }

    fn record(&mut self) -> Result<()> {
        self.record_with(&[])
    }

    fn record_with(&mut self, more: &[&str]) -> Result<()> {
        self.recorder = Some(Recording::start(&self.reel(), &self.kubeconfig(), more)?);
        Ok(())
    }

    /// Waits until a path is watched and its first list, streamed or not, was sent.
    pub(crate) fn await_live(&self, path: &str) -> Result<()> {
        let live = self.cluster.wait_live(path, SURE);
        live.with_context(|| self.log())
    }

    pub(crate) fn log(&self) -> String {
        self.recorder
            .as_ref()
            .map(Recording::log)
            .unwrap_or_default()
    }

    /// Writes one more version of the endpoints object.
    fn write(&mut self) -> Result<u128> {
        self.written += 1;
        let members = format!(
            r#""data":{{"n":"{}","padding":"{}"}}"#,
            self.written,
            "p".repeat(200)
        );
        self.cluster
            .put("endpoints", "default", "written", &members)
    }

    /// Ends the streams of a path in order, so that the recorder comes back; none of them is left.
    fn reconnect(&self, path: &str) -> Result<()> {
        let on = On::watch(path);
        let mut open = self.cluster.requests();
        open.retain(|one| on.matches(one) && one.progress().ended.is_none());
        self.cluster.cut_open(&on, End::Finished);
        self.cluster.wait_until("the streams to end", SURE, |_| {
            open.iter()
                .all(|one| one.progress().ended.is_some())
                .then_some(())
        })
    }

    /// Waits until the last stream of endpoints has brought so many lines, good or bad.
    fn await_lines(&self, lines: usize) -> Result<()> {
        let met = self.cluster.wait_until("the lines", SURE, |cluster| {
            let last = cluster.requests_to(ENDPOINTS).pop()?;
            (last.progress().lines >= lines).then_some(())
        });
        met.with_context(|| self.log())
    }

    /// Has the next watch of endpoints meet a fault, and waits until it has begun to.
    fn next_watch(&self, fault: Fault) -> Result<FaultId> {
        self.next(On::watch(ENDPOINTS).once(), fault)
    }

    fn next(&self, on: On, fault: Fault) -> Result<FaultId> {
        let rule = self.cluster.fault(on, fault);
        self.reconnect("*")?;
        self.await_hits(rule, 1)?;
        Ok(rule)
    }

    fn await_hits(&self, rule: FaultId, hits: usize) -> Result<()> {
        let enough = |cluster: &ScriptedCluster| (cluster.hits(rule) >= hits).then_some(());
        let met = self.cluster.wait_until("the fault to be met", SURE, enough);
        met.with_context(|| self.log())
    }

    /// Ends the recording once it has received everything, and accounts for it.
    pub(crate) fn account(&mut self, storages: &[&str]) -> Result<Account> {
        for storage in storages {
            settle(&self.cluster, storage, SURE).with_context(|| self.log())?;
        }
        self.finish()?;
        self.check_claims(storages)?;
        Account::of(&self.reel(), &self.cluster, storages)
    }

    /// Nothing of what was committed is missing unsaid, and nothing is claimed falsely.
    pub(crate) fn check_claims(&self, storages: &[&str]) -> Result<Tally> {
        Claims::hold(&self.reel(), &self.cluster, storages)
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        let recorder = self.recorder.take().context("somebody records")?;
        let ended = recorder.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        Ok(())
    }

    /// Everything is in the reel, and no gap was declared.
    fn whole(&mut self, storages: &[&str]) -> Result<Account> {
        let account = self.account(storages)?.check_whole()?;
        ensure!(account.recorded > 0, "nothing was recorded");
        Ok(account)
    }

    /// Records; one version later everything is in the reel, and no gap was declared.
    fn recorded_whole(&mut self) -> Result<Account> {
        self.record()?;
        self.await_live(ENDPOINTS)?;
        self.write()?;
        self.whole(&["endpoints"])
    }

    /// After one more version everything is in the reel, and no gap was declared.
    fn written_whole(&mut self) -> Result<()> {
        self.write()?;
        self.whole(&["endpoints"]).map(drop)
    }

    fn notes(&self) -> Result<Vec<Note>> {
        let reel = Reel::open(&self.reel())?;
        Ok(reel
            .notes()
            .iter()
            .map(|entry| entry.note.clone())
            .collect())
    }
}

fn cut(line: Pick, place: Place, end: End) -> Fault {
    Fault::Cut(Cut { line, place, end })
}
