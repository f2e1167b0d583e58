//! The recorder's most memory with a large cluster alive.

use crate::life::Life;
use crate::measured::Measured;
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
pub(crate) fn show_memory() -> Result<()> {
    println!(
        "{:<10} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "memory", "objects", "MB", "changes", "peak MB", "at most"
    );
    let mut most = 0.0_f64;
    for (name, watch_list) in [
        ("WatchList", WatchList::Served),
        ("pages", WatchList::Refused),
    ] {
        let cluster = Population {
            pods: (0..OBJECTS).collect(),
            events: EVENTS,
            changes: CHANGES,
        };
        let Peak {
            megabytes,
            listed_megabytes,
        } = cluster.record(watch_list)?;
        println!(
            "{name:<10} {:>8} {listed_megabytes:>8.1} {CHANGES:>8} {megabytes:>8.1} {MB_MOST:>8.0}",
            OBJECTS + EVENTS,
        );
        most = most.max(megabytes);
    }
    ensure!(most <= MB_MOST, "{most:.0} MB are more than {MB_MOST}");
    Ok(())
}

/// The objects of a cluster that is recorded.
#[derive(Debug)]
pub(crate) struct Population {
    /// The numbers of its Pods: those of 2 modulo 3 have some 10 kB, the others less.
    pub(crate) pods: Vec<u64>,
    pub(crate) events: u64,
    /// Writes after the list.
    pub(crate) changes: u64,
}

/// The most memory of a recorder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peak {
    pub(crate) megabytes: f64,
    /// The bodies of the list.
    pub(crate) listed_megabytes: f64,
}

impl Population {
    /// Records it with a recorder of its own.
    pub(crate) fn record(&self, watch_list: WatchList) -> Result<Peak> {
        let folder = tempfile::tempdir()?;
        let reel = folder.path().join("large.reel");
        let kubeconfig = folder.path().join("kubeconfig");
        let cluster = ScriptedCluster::start()?;
        cluster.write_kubeconfig(&kubeconfig, &Kubeconfig::Good)?;
        cluster.set(|settings| settings.watch_list = watch_list);
        let mut life = Life::new();
        for number in &self.pods {
            life.put_pod(&cluster, *number)?;
        }
        for number in 0..self.events {
            life.put_event_numbered(&cluster, number)?;
        }
        life.step(&cluster)?;
        let recorder = Measured::start(&reel, &kubeconfig)?;
        settle_all(&cluster)?;
        for _ in 0..self.changes {
            life.step(&cluster)?;
        }
        settle_all(&cluster)?;
        let spent = recorder.finish()?;
        let listed = u64::try_from(self.pods.len())? + self.events;
        let opened = Reel::open(&reel)?;
        let bytes: usize = opened
            .scan()
            .take(usize::try_from(listed)?)
            .map(|event| event.map(|event| event.body.len()))
            .sum::<Result<_, _>>()?;
        ensure!(opened.event_count() >= listed + self.changes);
        Ok(Peak {
            megabytes: spent.peak_memory_kib as f64 * 1024.0 / 1e6,
            listed_megabytes: bytes as f64 / 1e6,
        })
    }
}
