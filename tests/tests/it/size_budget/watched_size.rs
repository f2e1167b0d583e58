//! Owns the size of a file, looked at all the time by a thread of its own. Refuses to miss what lasts
//! longer than a look.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;

/// Between two looks.
const EVERY: Duration = Duration::from_micros(200);

/// The largest size that a file has had.
pub(crate) struct WatchedSize {
    largest: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WatchedSize {
    pub(crate) fn start(path: &Path) -> Result<Self> {
        let (largest, stop) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let path: PathBuf = path.to_owned();
        let thread = {
            let (largest, stop) = (Arc::clone(&largest), Arc::clone(&stop));
            std::thread::Builder::new()
                .name("size".to_owned())
                .spawn(move || {
                    while !stop.load(Ordering::SeqCst) {
                        let len = std::fs::metadata(&path).map_or(0, |facts| facts.len());
                        largest.fetch_max(len, Ordering::SeqCst);
                        // Pacing, not waiting for anything.
                        std::thread::sleep(EVERY);
                    }
                })?
        };
        Ok(Self {
            largest,
            stop,
            thread: Some(thread),
        })
    }

    pub(crate) fn largest(&self) -> u64 {
        self.largest.load(Ordering::SeqCst)
    }
}

impl Drop for WatchedSize {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // It does nothing that could fail.
            thread.join().ok();
        }
    }
}
