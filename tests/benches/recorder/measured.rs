//! A recorder that is measured: its time on processors and its most memory, to its very end. It does not guess: where
//! the system does not report it, the run fails.

use anyhow::{Context as _, Result, ensure};
use kubereel_tests::recording::Recording;
use std::path::Path;
use std::time::Duration;

/// The unit of `/proc/PID/stat`, which is the same on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// How long anything that is sure to come may take.
pub(crate) const SURE: Duration = Duration::from_mins(5);

/// A recorder at work.
#[derive(Debug)]
pub(crate) struct Measured {
    recording: Recording,
    /// What the children that ended before had taken.
    children_before: Duration,
}

/// What a recorder took over its whole life.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessCost {
    pub(crate) cpu: Duration,
    pub(crate) peak_memory_kib: u64,
}

impl Measured {
    pub(crate) fn start(reel: &Path, kubeconfig: &Path) -> Result<Self> {
        // Whatever builds the program must have ended before its time is taken.
        kubereel_tests::recording::program()?;
        let children_before = children_cpu()?;
        let recording = Recording::start(reel, kubeconfig, &["--log", "warn"])?;
        Ok(Self {
            recording,
            children_before,
        })
    }

    /// Its time on processors so far, all threads together.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        cpu_of(&format!("/proc/{}/stat", self.recording.id()), 0)
    }

    /// Has it finish the reel; says what it took from its first to its last moment.
    pub(crate) fn finish(self) -> Result<ProcessCost> {
        let watcher = kubereel_tests::peak_memory::watch(self.recording.id())?;
        let ended = self.recording.finish(SURE)?;
        ensure!(ended.status.success(), "{}: {}", ended.status, ended.log);
        let peak = watcher.join().ok().context("the watcher panicked")?;
        Ok(ProcessCost {
            cpu: children_cpu()?.saturating_sub(self.children_before),
            peak_memory_kib: peak.context("no VmHWM was seen")?,
        })
    }
}

/// The time of all children that have ended and were waited for.
fn children_cpu() -> Result<Duration> {
    cpu_of("/proc/self/stat", 2)
}

/// Adds user and system time: two neighbouring fields, `skip` behind the process's own.
fn cpu_of(path: &str, skip: usize) -> Result<Duration> {
    let stat = std::fs::read_to_string(path).with_context(|| path.to_owned())?;
    // The name, in parentheses, may hold spaces; the state and ten more fields follow it.
    let (_, fields) = stat.rsplit_once(") ").context("no name in stat")?;
    let ticks: Vec<u32> = fields
        .split(' ')
        .skip(11 + skip)
        .take(2)
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    Ok(TICK * ticks.iter().sum::<u32>())
}

/// This thread's time on a processor so far.
pub(crate) fn own_cpu() -> Result<Duration> {
    let path = "/proc/thread-self/schedstat";
    let line = std::fs::read_to_string(path).context(path)?;
    let nanos = line.split(' ').next().context("an empty schedstat")?;
    Ok(Duration::from_nanos(nanos.parse()?))
}
