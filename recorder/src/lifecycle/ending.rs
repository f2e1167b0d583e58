//! The end of a run: the signals that request it, the time for each step, and the handling of a
//! complete file. The steps keep their order, however little time is left.

use crate::health::RecorderStatus;
use crate::writer::{Finished, HandoverTaker, WriteError};
use kubereel_format::{RecordedAt, SessionEnd};
use std::io;
#[cfg(unix)]
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long streams may take to end, and the last entries to be queued.
const STOP_SECS: u64 = 5;

/// The part of a grace period that is used; the rest absorbs delays of a busy machine.
const USED: u32 = 5;
const OF: u32 = 6;

/// A complete file, with a note of how the run ended.
#[derive(Clone, Debug)]
pub(crate) struct WholeReel {
    /// Why the run ended.
    pub(crate) end: SessionEnd,
    /// The state when its end was requested.
    pub(crate) standing: RecorderStatus,
    /// When the end was requested.
    pub(crate) at: RecordedAt,
    /// The size of the file, in bytes.
    pub(crate) file_bytes: u64,
    /// How long the remaining steps may take, if that is limited.
    pub(crate) remaining: Option<Duration>,
}

/// Called once with a complete file; returns whether to pack it.
pub(crate) type OnceWhole = Box<dyn FnOnce(&WholeReel) -> bool + Send>;

/// The progress of a run to its end.
pub(crate) struct Ending {
    deadline: Option<Instant>,
    patience: Duration,
}

impl Ending {
    /// Begins the end, within a grace period if there is one.
    pub(crate) fn begin(grace: Option<Duration>) -> Self {
        let usual = Duration::from_secs(STOP_SECS);
        Self {
            deadline: grace.map(|grace| Instant::now() + grace * USED / OF),
            // Two such steps come before the file is complete, and completing it needs time too.
            patience: grace.map_or(usual, |grace| usual.min(grace / OF)),
        }
    }

    /// Returns when the run must be at its end, if that is limited.
    pub(crate) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Returns how long one of the steps before the last may take.
    pub(crate) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Waits until the file is complete, calls `once_whole`, and waits for the end of the writer.
    pub(crate) async fn wait(
        self,
        taker: HandoverTaker,
        end: SessionEnd,
        (standing, at): (RecorderStatus, RecordedAt),
        once_whole: OnceWhole,
        writer: impl Future<Output = Finished>,
    ) -> Finished {
        let deadline = self.deadline;
        let ending = async move {
            if let Ok(stats) = taker.whole.await {
                let whole = WholeReel {
                    end,
                    standing,
                    at,
                    file_bytes: stats.file_bytes,
                    remaining: deadline
                        .map(|deadline| deadline.saturating_duration_since(Instant::now())),
                };
                // It writes files, and a disk may hang: it must not block the runtime's threads.
                let decision = tokio::task::spawn_blocking(move || once_whole(&whole)).await;
                // A writer that failed meanwhile reports its own error.
                let _sent = taker.pack.send(decision.unwrap_or(true));
            }
            writer.await
        };
        match deadline {
            None => ending.await,
            Some(deadline) => tokio::time::timeout_at(deadline, ending)
                .await
                .unwrap_or(Err(WriteError::Late)),
        }
    }
}

/// The signals that end a run.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    /// That of a terminal that is closed; `None` if the process ignores it, as below `nohup`.
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

/// The receivers of [`catch_signals`]: the first run takes them, with the signals since then.
#[cfg(unix)]
static CAUGHT: Mutex<Option<Signals>> = Mutex::new(None);

/// The signal of a file that grows beyond the limit of the process, on Linux and macOS.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;

/// The signal of a terminal that is closed.
#[cfg(unix)]
const SIGHUP: u32 = 1;

/// From here on a write beyond the size limit of files fails, and does not kill the process: what was written is
/// removed, and the user reads why. It must not be called from within a runtime.
///
/// # Errors
/// When the handler cannot be installed.
pub fn catch_file_limit() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // The handler stays when the receiver goes.
        signal_runtime()?.block_on(async { signal(SignalKind::from_raw(SIGXFSZ)).map(drop) })?;
    }
    Ok(())
}

#[cfg(unix)]
fn signal_runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// From here on the signals that end a run no longer kill the process: one that arrives before the run ends it as soon
/// as it begins. It must not be called from within a runtime.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn catch_signals() -> io::Result<()> {
    #[cfg(unix)]
    {
        let signals = signal_runtime()?.block_on(async { Signals::listen() })?;
        *caught() = Some(signals);
    }
    Ok(())
}

#[cfg(unix)]
fn caught() -> MutexGuard<'static, Option<Signals>> {
    CAUGHT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether the process ignores SIGHUP, as `nohup` has it; true where that is not known.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    std::fs::read_to_string("/proc/self/status").map_or(true, |status| ignores(&status, SIGHUP))
}

/// Reads from the status of a process whether it ignores a signal.
#[cfg(unix)]
fn ignores(status: &str, signal: u32) -> bool {
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & (1 << (signal - 1)) != 0)
}

impl Signals {
    /// Installs the handlers: from here on a signal no longer kills the process.
    #[cfg(unix)]
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        if let Some(signals) = caught().take() {
            return Ok(signals);
        }
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: if ignores_hangup() {
                None
            } else {
                Some(signal(SignalKind::hangup())?)
            },
        })
    }

    /// Waits for a signal and returns its name.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> &'static str {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        // If several are pending, SIGINT is reported: it is the one that was sent first.
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = hangup => "SIGHUP",
        }
    }

    /// Installs the handlers.
    #[cfg(not(unix))]
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for a signal and returns its name.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "Ctrl-C"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::WrittenReel;
    use kubereel_format::FinishStats;
    use tokio::sync::oneshot;

    const STATS: FinishStats = FinishStats {
        file_bytes: 7,
        records: 1,
    };

    fn standing() -> (RecorderStatus, RecordedAt) {
        (RecorderStatus::default(), RecordedAt::default())
    }

    #[cfg(unix)]
    #[test]
    fn a_hangup_that_nohup_ignores_stays_ignored() {
        let status = |mask: &str| format!("Name:\tkubereel\nSigBlk:\t0001\nSigIgn:\t{mask}\n");
        assert!(ignores(&status("0000000000001001"), SIGHUP));
        assert!(!ignores(&status("0000000000001000"), SIGHUP));
        assert!(ignores("Name:\tkubereel\n", SIGHUP), "not known");
    }

    #[tokio::test]
    async fn the_writer_hears_what_is_said_of_the_whole_file() {
        for is_packed in [true, false] {
            let (whole, completed) = oneshot::channel();
            let (pack, heard) = oneshot::channel();
            whole.send(STATS).expect("somebody waits");
            let taker = HandoverTaker {
                whole: completed,
                pack,
            };
            let ending = Ending::begin(Some(Duration::from_mins(1)));
            let speak: OnceWhole = Box::new(move |whole| {
                assert_eq!(whole.file_bytes, 7);
                assert!(whole.remaining.expect("a limit") <= Duration::from_secs(50));
                is_packed
            });
            let writer = async move {
                assert_eq!(heard.await, Ok(is_packed));
                Ok(WrittenReel {
                    file_bytes: 7,
                    records: 1,
                    unpacked: None,
                    is_moved: false,
                })
            };
            let finished = ending
                .wait(taker, SessionEnd::Finished, standing(), speak, writer)
                .await;
            assert!(finished.is_ok());
        }
    }

    #[tokio::test]
    async fn a_writer_that_hangs_does_not_hold_up_the_end() {
        let (_whole, completed) = oneshot::channel();
        let (pack, _sent) = oneshot::channel();
        let taker = HandoverTaker {
            whole: completed,
            pack,
        };
        let ending = Ending::begin(Some(Duration::from_millis(60)));
        assert_eq!(ending.patience(), Duration::from_millis(10));
        let never = std::future::pending();
        let speak: OnceWhole = Box::new(|_| true);
        let finished = ending
            .wait(taker, SessionEnd::Finished, standing(), speak, never)
            .await;
        assert!(matches!(finished, Err(WriteError::Late)));
    }
}
