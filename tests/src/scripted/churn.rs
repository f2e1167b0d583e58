//! Owns load: objects of one resource created, written and deleted in a steady or unbounded stream.
//! Refuses randomness it could not repeat: the same seed gives the same writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};

use super::cluster::ScriptedCluster;
use super::log::locked;
use super::model::Content;
use super::state::State;
use super::writes::key;

/// A load to put on a cluster.
#[derive(Debug, Clone)]
pub struct Churn {
    /// The resource, which must be namespaced.
    pub resource: String,
    /// The namespace of its objects.
    pub namespace: String,
    /// How many objects there are to choose from.
    pub objects: u64,
    /// How many writes are made; endless without.
    pub writes: Option<u64>,
    /// How many a second; as fast as possible without.
    pub per_second: Option<u32>,
    /// The size of each object's filler.
    pub body_bytes: usize,
    /// One in so many writes to an object that exists deletes it; none with zero.
    pub delete_one_in: u64,
    /// Chooses the writes.
    pub seed: u64,
}

impl Default for Churn {
    fn default() -> Self {
        Self {
            resource: "configmaps".to_owned(),
            namespace: "default".to_owned(),
            objects: 50,
            writes: None,
            per_second: Some(200),
            body_bytes: 300,
            delete_one_in: 10,
            seed: 1,
        }
    }
}

/// A load that goes on until it is through, stopped or dropped.
#[derive(Debug)]
pub struct Churning {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<u64>>>,
}

impl Churning {
    /// Waits until it is through; returns how many writes were made.
    ///
    /// # Errors
    ///
    /// When a write failed.
    pub fn finish(mut self) -> Result<u64> {
        self.join()
    }

    /// Ends it after the write it is at; returns how many were made.
    ///
    /// # Errors
    ///
    /// When a write failed.
    pub fn stop(mut self) -> Result<u64> {
        self.stop.store(true, Ordering::SeqCst);
        self.join()
    }

    fn join(&mut self) -> Result<u64> {
        let thread = self.thread.take().context("it was joined before")?;
        thread
            .join()
            .map_err(|_panic| anyhow!("the load panicked"))?
    }
}

impl Drop for Churning {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // Whoever drops it does not want to know how it went.
            thread.join().ok();
        }
    }
}

impl ScriptedCluster {
    /// Starts a load on a thread of its own.
    ///
    /// # Errors
    ///
    /// When the resource is not served or there is no thread.
    pub fn churn(&self, churn: Churn) -> Result<Churning> {
        self.resource(&churn.resource)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (state, stopped) = (Arc::clone(&self.state), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("churn".to_owned())
            .spawn(move || run(&churn, &state, &stopped))?;
        Ok(Churning {
            stop,
            thread: Some(thread),
        })
    }
}

fn run(churn: &Churn, state: &State, stop: &AtomicBool) -> Result<u64> {
    let started = Instant::now();
    let mut random = Random(churn.seed | 1);
    let filler: String = std::iter::repeat_with(|| char::from(b'a' + random.below_26()))
        .take(churn.body_bytes)
        .collect();
    let mut made = 0;
    while churn.writes.is_none_or(|writes| made < writes) && !stop.load(Ordering::SeqCst) {
        write_one(churn, state, &mut random, made, &filler)?;
        made += 1;
        if let Some(per_second) = churn.per_second {
            let due = Duration::from_secs_f64(
                f64::from(u32::try_from(made).unwrap_or(u32::MAX)) / f64::from(per_second.max(1)),
            );
            // Pacing, not waiting for anything.
            std::thread::sleep(due.saturating_sub(started.elapsed()));
        }
    }
    Ok(made)
}

fn write_one(
    churn: &Churn,
    state: &State,
    random: &mut Random,
    step: u64,
    filler: &str,
) -> Result<()> {
    let object = key(
        &churn.namespace,
        &format!("churn-{}", random.next() % churn.objects.max(1)),
    );
    let mut model = locked(&state.model);
    let exists = model
        .resource(&churn.resource)
        .ok()
        .and_then(|resource| model.storage_of(resource))
        .is_some_and(|storage| storage.objects.contains_key(&object));
    if exists && churn.delete_one_in > 0 && random.next().is_multiple_of(churn.delete_one_in) {
        model.delete(&churn.resource, &[object])?;
    } else {
        // Spaces, an exponent and both spellings of a letter: bytes that no serialiser would keep.
        let members = format!(
            r#""data":{{"step":"{step}","odd": "\u00e9é" ,"filler":"{filler}"}},"weight": 1e3"#
        );
        let metadata = "";
        let members = members.as_bytes();
        model.put(
            &churn.resource,
            object,
            Content::Members { metadata, members },
        )?;
    }
    drop(model);
    state.pulse.beat();
    Ok(())
}

/// Xorshift: small, repeatable, good enough to choose objects.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below_26(&mut self) -> u8 {
        u8::try_from(self.next() % 26).unwrap_or(0)
    }
}
