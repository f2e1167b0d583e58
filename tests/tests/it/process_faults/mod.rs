//! Faults of the recorder's own process and of the machine it runs on: stopped for a while, too little
//! memory, too few descriptors, a slow disk, a clock that steps. After each the reel can be read, and
//! nothing is lost that it does not say.

#![expect(clippy::print_stderr, reason = "says what a fault did")]

// The longest come first in the order of names, side by side with all others.
mod asleep;
mod clock;
mod limits;
mod slow_disk;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::recording::{Account, Recording, settle};
use kubereel_tests::scripted::{Churn, Churning};

use crate::recorder_faults::{ENDPOINTS, SURE, Scene};

impl Scene {
    /// A cluster that nobody records yet, and that ends connections which are not read, as real servers do.
    fn stalling() -> Result<Self> {
        let scene = Self::new()?;
        scene.set(|settings| settings.stall_limit = Some(Duration::from_millis(100)));
        Ok(scene)
    }

    /// Such a cluster that is recorded by a recorder that runs under a program.
    fn live_under(under: &[&str]) -> Result<Self> {
        let mut scene = Self::stalling()?;
        scene.record_under(under)?;
        scene.await_live(ENDPOINTS)?;
        Ok(scene)
    }

    fn record_under(&mut self, under: &[&str]) -> Result<()> {
        let started = Recording::start_under(under, &self.reel(), &self.kubeconfig(), &[])?;
        self.recorder = Some(started);
        Ok(())
    }

    fn recorder(&self) -> Result<&Recording> {
        self.recorder.as_ref().context("somebody records")
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

    /// Writes one more object of each storage, ends the recording once it has received everything, and
    /// accounts for it.
    fn account_after(&mut self, storages: &[&str]) -> Result<Account> {
        for storage in storages {
            // After a deletion among Events a recorder rightly resumes one revision earlier.
            self.put(storage, "default", "last", r#""data":{}"#)?;
            settle(&self.cluster, storage, SURE).with_context(|| self.log())?;
        }
        self.account(storages)?.check()
    }
}
