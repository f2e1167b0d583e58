//! Owns the third table: the recorder's most memory with a large cluster alive, for both ways of
//! listing it.

use crate::cluster_life::Life;
use crate::process::Measured;
use crate::rates::settle_all;
use anyhow::{Result, ensure};
use kubereel_format::Reel;
use kubereel_tests::scripted::{Kubeconfig, ScriptedCluster, WatchList};

const OBJECTS: u64 = 10_000;
const EVENTS: u64 = 50_000;
/// Writes after the list, to the same objects.
const CHANGES: u64 = 20_000;
/// The bound that was promised.
const MB_MOST: f64 = 250.0;

/// Measures and prints; a broken promise is an error.
pub(crate) fn show() -> Result<()> {
    println!(
        "{:<10} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "memory", "objects", "MB", "changes", "peak MB", "at most"
    );
    let mut peak = 0.0_f64;
    for (name, watch_list) in [
        ("WatchList", WatchList::Served),
        ("pages", WatchList::Refused),
    ] {
        peak = peak.max(measure(name, watch_list)?);
    }
    ensure!(peak <= MB_MOST, "{peak:.0} MB are more than {MB_MOST}");
    Ok(())
}

fn measure(name: &str, watch_list: WatchList) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let reel = folder.path().join("large.reel");
    let kubeconfig = folder.path().join("kubeconfig");
    let cluster = ScriptedCluster::start()?;
    cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
    cluster.set(|settings| settings.watch_list = watch_list);
    let mut life = Life::new();
    for number in 0..OBJECTS {
        life.put_pod(&cluster, number)?;
    }
    for number in 0..EVENTS {
        life.put_event_numbered(&cluster, number)?;
    }
    life.step(&cluster)?;
    let recorder = Measured::start(&reel, &kubeconfig)?;
    settle_all(&cluster)?;
    for _ in 0..CHANGES {
        life.step(&cluster)?;
    }
    settle_all(&cluster)?;
    let spent = recorder.finish()?;
    let opened = Reel::open(&reel)?;
    let bytes: usize = opened
        .scan(kubereel_format::Seq(0))
        .take(usize::try_from(OBJECTS + EVENTS)?)
        .map(|event| event.map(|event| event.body.len()))
        .sum::<Result<_, _>>()?;
    ensure!(opened.event_count() >= OBJECTS + EVENTS + CHANGES);
    let peak = spent.peak_memory_kib as f64 * 1024.0 / 1e6;
    println!(
        "{name:<10} {:>8} {:>8.1} {CHANGES:>8} {peak:>8.1} {MB_MOST:>8.0}",
        OBJECTS + EVENTS,
        bytes as f64 / 1e6,
    );
    Ok(peak)
}
