//! Owns the proof that a recorder has received everything: the revision it resumes from.
//! Refuses to wait a while and hope.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::scripted::{End, On, ScriptedCluster};

/// Brings the recorder to where it has received everything committed to a storage, and proves it:
/// its streams are ended in order until it resumes one from the last revision or beyond.
///
/// The last commit must not be a deletion among Events: after those a recorder rightly resumes one
/// revision earlier.
///
/// # Errors
///
/// When it does not come so far in time.
pub fn settle(cluster: &ScriptedCluster, storage: &str, timeout: Duration) -> Result<()> {
    let commits = cluster.committed();
    let Some(last) = commits.iter().rfind(|commit| commit.storage == storage) else {
        return Ok(());
    };
    let paths = paths_of(cluster, storage)?;
    let mut seen = cluster.requests().len();
    let deadline = Instant::now() + timeout;
    loop {
        for path in &paths {
            cluster.cut_open(&On::watch(path), End::Finished);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let what = format!("a watch of {storage} to go on from {}", last.revision);
        let watch = cluster.wait_until(&what, left, |cluster| {
            let requests = cluster.requests();
            let mut new = requests.into_iter().skip(seen);
            new.find(|one| one.asked.is_watch() && paths.contains(&one.asked.path))
        })?;
        let from = watch.asked.parameter("resourceVersion");
        let from: Option<u128> = from.and_then(|from| from.parse().ok());
        if from.is_some_and(|from| from >= last.revision) {
            return Ok(());
        }
        seen = watch.number + 1;
        // It is behind: let the stream it has just opened bring what there is.
        cluster.wait_until("the stream to catch up", left, |_| {
            let progress = watch.progress();
            (progress.ended.is_some() || progress.lines > 0).then_some(())
        })?;
    }
}

fn paths_of(cluster: &ScriptedCluster, storage: &str) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for resource in cluster.resources() {
        if resource.storage == storage {
            let versions = resource.versions.iter();
            paths.extend(versions.map(|version| resource.path_in(version)));
        }
    }
    ensure!(!paths.is_empty(), "nothing is stored as {storage}");
    Ok(paths)
}
