//! A run of monitortests over a reel in this process, and what the process took.

use anyhow::{Context as _, Result};
use kubereel_history::Timeline;
use kubereel_monitortests::{
    ExceptionSet, MonitorTest, RunOptions as Asked, RunReport, Selection, run_reel,
};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::Duration;

/// Judges a reel.
pub(crate) fn run(reel: &Path, tests: Vec<Box<dyn MonitorTest>>) -> Result<RunReport> {
    let timeline = Timeline::open(reel)?;
    let exceptions = ExceptionSet::builtin()?;
    let asked = Asked {
        selection: &Selection::default(),
        exceptions: &exceptions,
        now: None,
    };
    Ok(run_reel(&timeline, tests, &asked, |_| {}))
}

/// This process's time on processors so far.
pub(crate) fn spent() -> Duration {
    let at = clock_gettime(ClockId::ProcessCPUTime);
    // A process's own time is never negative.
    Duration::try_from(at).unwrap_or_default()
}

/// The most memory that this process had at once.
pub(crate) fn peak_mib() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.context("no VmHWM")?.trim().trim_end_matches(" kB");
    Ok(kib.parse::<u64>()? / 1024)
}
