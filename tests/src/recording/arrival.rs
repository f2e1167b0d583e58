//! Owns waiting until versions of a real cluster's objects are in a reel that is being written.
//! Refuses to know how they came there.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kubereel_format::Reel;
use kubereel_history::{Certainty, Moment, Timeline};

use super::run::Recording;
use crate::oracle::{Account, Change};

const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A resource and a resourceVersion of it that must have arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// The resource, as kubectl spells it.
    pub resource: String,
    /// The version.
    pub rv: u128,
    /// Whether the state at that version must be known, not only a later one.
    pub is_exact: bool,
}

/// Waits until versions have arrived, as a copy of the running reel shows.
///
/// # Errors
///
/// When one has not in time.
pub async fn arrived(recording: &Recording, awaited: &[Awaited], limit: Duration) -> Result<()> {
    let copy = recording.reel().with_extension("copy");
    let deadline = Instant::now() + limit;
    loop {
        let missing = match copied(recording.reel(), &copy) {
            Ok(timeline) => awaited.iter().find(|one| !has(&timeline, one)),
            // A copy that is made while the file is written need not open.
            Err(_) => awaited.first(),
        };
        let Some(missing) = missing else {
            return Ok(());
        };
        if Instant::now() >= deadline {
            let (resource, rv, log) = (&missing.resource, missing.rv, recording.log());
            bail!("{resource} rv {rv} did not arrive: {log}");
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Waits until a copy of the running reel accounts for every one of etcd's changes.
///
/// Streams of different resources arrive at their own pace: that the last change of one has arrived
/// says nothing of a Lease written just before it.
///
/// # Errors
///
/// With what is missing still, when that takes longer than `limit`.
pub async fn accounted(recording: &Recording, changes: &[Change], limit: Duration) -> Result<()> {
    let copy = recording.reel().with_extension("copy");
    let deadline = Instant::now() + limit;
    loop {
        let accounted = std::fs::copy(recording.reel(), &copy)
            .context("a copy")
            .and_then(|_| Ok(Reel::open(&copy)?))
            .and_then(|reel| Account::of(&reel, changes)?.check());
        let Err(missing) = accounted else {
            return Ok(());
        };
        if Instant::now() >= deadline {
            return Err(missing.context(recording.log()));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn copied(reel: &Path, copy: &Path) -> Result<Timeline> {
    std::fs::copy(reel, copy).context("a copy")?;
    Ok(Timeline::open(copy)?)
}

fn has(timeline: &Timeline, awaited: &Awaited) -> bool {
    let Ok(info) = timeline.resources().find(&awaited.resource) else {
        return false;
    };
    let cut = timeline.resolve(Moment::Revision(awaited.rv));
    cut.is_ok_and(|cut| match timeline.certainty(info.id, cut) {
        // The first list was later.
        Certainty::BeforeFirst { first: Some(_) } => !awaited.is_exact,
        certainty => certainty.is_known(),
    })
}
