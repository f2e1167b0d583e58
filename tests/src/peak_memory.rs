//! How the most memory of a process is measured: by looking until it is gone.

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Watches a process to its end; the thread gives the most memory it had at once, in KiB, and `None`
/// if it was gone before it could be looked at.
///
/// # Errors
///
/// When no thread can be started.
pub fn watch(process: u32) -> io::Result<JoinHandle<Option<u64>>> {
    let path = format!("/proc/{process}/status");
    std::thread::Builder::new()
        .name("peak-memory".to_owned())
        .spawn(move || {
            let mut peak = None;
            loop {
                let status = std::fs::read_to_string(&path).unwrap_or_default();
                let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let Some(line) = line else {
                    return peak;
                };
                peak = line.trim().trim_end_matches(" kB").parse().ok();
                // A counter of the system cannot be awaited.
                std::thread::sleep(LOOK_EVERY);
            }
        })
}
