//! Seals the finished reel at the end of a run, while there is time.
//!
//! Invariants:
//! * Until the sealed copy takes the reel's place in one step, the finished reel is unchanged: a kill at any moment, a second
//!   signal and the end of the time leave it as it is.
//! * The thread that writes the copy never replaces the reel: the task that waits for it does, unless it has given up. So the size
//!   that is reported is that of the file that is there.
//! * A copy that would be late is given up early: its speed so far predicts when it would be complete.

use super::ending::Signals;
use crate::health::Health;
use crate::options::SealPolicy;
use kubereel_format::{Reel, SealError, SealedCopy, SessionEnd, remove_interrupted_copies};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long a copy that was given up may take to remove itself.
const REMOVAL: Duration = Duration::from_millis(300);

/// The share of the work, as a divisor, and the time after which its speed predicts whether it will be late.
const SPEED_SHARE: u64 = 10;
const SPEED_AFTER: Duration = Duration::from_secs(1);

/// The outcome of sealing a reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SealOutcome {
    /// It was not requested.
    Unasked,
    /// It is sealed.
    Sealed {
        /// Its length, in bytes.
        file_bytes: u64,
    },
    /// It is unchanged.
    Unsealed {
        /// Why, in words.
        why: String,
    },
}

impl SealPolicy {
    /// Returns whether the reel of a run that ended so is to be sealed.
    fn applies(self, end: &SessionEnd) -> bool {
        match (self, end) {
            // What failed is resumed, or looked at.
            (Self::Never, _) | (_, SessionEnd::Failed(_)) => false,
            (Self::UnlessTerminated { .. }, SessionEnd::Signal(name)) => {
                !["SIGTERM", "SIGHUP"].contains(&name.as_str())
            }
            _ => true,
        }
    }

    /// Returns how long sealing may take, if that is limited.
    const fn within(self) -> Option<Duration> {
        match self {
            Self::UnlessTerminated { within } | Self::Within { within } => Some(within),
            Self::Never | Self::Always => None,
        }
    }
}

/// Seals a finished reel if the policy says so, until the deadline or the next signal.
pub(super) async fn seal_at_end(
    path: &Path,
    policy: SealPolicy,
    end: &SessionEnd,
    deadline: Option<Instant>,
    health: &Arc<Health>,
) -> SealOutcome {
    if !policy.applies(end) {
        return SealOutcome::Unasked;
    }
    let until = policy.within().map(|within| Instant::now() + within);
    let until = until.into_iter().chain(deadline).min();
    let sealed = seal(path, until, health).await;
    health.set_sealing(None);
    match sealed {
        Ok(file_bytes) => SealOutcome::Sealed { file_bytes },
        Err(why) => {
            tracing::info!(why, "the reel is finished, and not sealed");
            SealOutcome::Unsealed { why }
        }
    }
}

async fn seal(path: &Path, until: Option<Instant>, health: &Arc<Health>) -> Result<u64, String> {
    let mut signals = Signals::listen().map_err(|error| error.to_string())?;
    let stop = Arc::new(AtomicBool::new(false));
    let work = SealWork {
        path: path.to_owned(),
        stop: Arc::clone(&stop),
        health: Arc::clone(health),
        began: Instant::now(),
        until,
    };
    let (sent, mut copied) = oneshot::channel();
    let thread = std::thread::Builder::new().name("reel-seal".to_owned());
    thread
        .spawn(move || drop(sent.send(work.copy())))
        .map_err(|error| error.to_string())?;
    let time_is_up = async {
        match until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    };
    let why = tokio::select! {
        biased;
        copied = &mut copied => {
            let (reel, copy) = copied.map_err(|_panic| "the thread broke".to_owned())??;
            let stats = copy.replace(&reel).map_err(|error| error.to_string())?;
            return Ok(stats.file_bytes);
        }
        name = signals.next() => format!("interrupted by {name}"),
        () = time_is_up => NO_TIME.to_owned(),
    };
    stop.store(true, Ordering::Relaxed);
    // A copy that is complete after all is dropped, and with that removed.
    if tokio::time::timeout(REMOVAL, copied).await.is_err() {
        // The thread is in the middle of a group of blocks, and ends with the program. Nothing else writes this reel
        // until then: its recorder is this program.
        remove_interrupted_copies(path);
    }
    Err(why)
}

const NO_TIME: &str = "there was no time";

/// What the thread needs that writes the copy.
struct SealWork {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    health: Arc<Health>,
    began: Instant,
    until: Option<Instant>,
}

impl SealWork {
    /// Writes the copy; gives it with the reel, whose lock keeps others from resuming it.
    fn copy(self) -> Result<(Reel, SealedCopy), String> {
        let reel = Reel::open(&self.path).map_err(|error| error.to_string())?;
        let all = reel.end().0.saturating_mul(2);
        let copy = SealedCopy::write(&reel, |done| self.reached(done, all));
        match copy {
            Ok(copy) if copy.stats().file_bytes >= copy.stats().bytes_before => {
                Err("it would not be smaller".to_owned())
            }
            Ok(copy) => Ok((reel, copy)),
            Err(SealError::Interrupted) => Err(NO_TIME.to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn reached(&self, done: u64, all: u64) -> ControlFlow<()> {
        let percent = done.saturating_mul(100).checked_div(all);
        self.health.set_sealing(percent);
        if self.stop.load(Ordering::Relaxed) || self.would_be_late(done, all) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Returns whether it would be complete too late at its speed so far. Writing the copy is the first half of the
    /// steps; the second half, reading it again, is several times faster: together they take some half of what the
    /// speed so far says.
    fn would_be_late(&self, done: u64, all: u64) -> bool {
        let Some(until) = self.until else {
            return false;
        };
        let spent = self.began.elapsed();
        if spent < SPEED_AFTER || done < all / SPEED_SHARE {
            return false;
        }
        let left = all.saturating_sub(done);
        let needed = spent.as_secs_f64() * fraction(left, done) / 2.0;
        Instant::now() + Duration::from_secs_f64(needed.min(FAR_SECS)) > until
    }
}

/// A time, in seconds, that no budget reaches.
const FAR_SECS: f64 = 1e9;

#[expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "an estimate of a time"
)]
fn fraction(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use kubereel_format::{Appender, Note, Stamp};
    use kubereel_redact::{Extra, Redactor};

    fn signal(name: &str) -> SessionEnd {
        SessionEnd::Signal(name.to_owned())
    }

    #[test]
    fn a_recording_that_may_be_resumed_soon_is_not_sealed() {
        let within = Duration::from_secs(10);
        let auto = SealPolicy::UnlessTerminated { within };
        assert!(auto.applies(&signal("SIGINT")));
        assert!(auto.applies(&SessionEnd::Finished));
        assert!(!auto.applies(&signal("SIGTERM")) && !auto.applies(&signal("SIGHUP")));
        let observer = SealPolicy::Within { within };
        assert!(
            observer.applies(&signal("SIGTERM")) && SealPolicy::Always.applies(&signal("SIGTERM"))
        );
        let failed = SessionEnd::Failed("full".to_owned());
        for policy in [auto, observer, SealPolicy::Always, SealPolicy::Never] {
            assert!(!policy.applies(&failed));
        }
        assert!(!SealPolicy::Never.applies(&SessionEnd::Finished));
    }

    /// A finished reel of `notes` notes, and its folder.
    fn finished(notes: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.reel");
        let mut appender = Appender::create(&path).expect("a reel");
        for number in 0..notes {
            let stamp = Stamp::from_micros(i64::from(number), u64::from(number));
            let text = format!("mark {number}");
            appender
                .append_note(stamp, Note::Mark { text })
                .expect("room");
        }
        appender.finish().expect("finished");
        (folder, path)
    }

    fn health() -> Arc<Health> {
        let redactor = Redactor::new(Extra::default()).expect("a key");
        Arc::new(Health::new(Clock::start(), redactor))
    }

    fn files(folder: &tempfile::TempDir) -> usize {
        std::fs::read_dir(folder.path()).expect("a folder").count()
    }

    #[tokio::test]
    async fn a_finished_reel_is_sealed_in_its_place() {
        let (folder, path) = finished(5_000);
        let before = std::fs::metadata(&path).expect("a file").len();
        let digest = |path: &Path| Reel::open(path).map(|reel| reel.digest(|_done| {}).ok());
        let digest_before = digest(&path).expect("a reel");
        let policy = SealPolicy::Always;
        let outcome = seal_at_end(&path, policy, &SessionEnd::Finished, None, &health()).await;
        let after = std::fs::metadata(&path).expect("a file").len();
        assert_eq!(outcome, SealOutcome::Sealed { file_bytes: after });
        assert!(after < before, "{after} of {before}");
        assert!(Reel::open(&path).expect("a reel").is_sealed());
        assert_eq!(digest(&path).expect("a reel"), digest_before);
        assert_eq!(files(&folder), 1);
    }

    #[tokio::test]
    async fn without_time_the_finished_reel_stands() {
        let (folder, path) = finished(5_000);
        let before = std::fs::read(&path).expect("a file");
        let policy = SealPolicy::Within {
            within: Duration::from_mins(1),
        };
        let deadline = Some(Instant::now());
        let outcome = seal_at_end(&path, policy, &SessionEnd::Finished, deadline, &health()).await;
        let why = NO_TIME.to_owned();
        assert_eq!(outcome, SealOutcome::Unsealed { why });
        assert!(std::fs::read(&path).expect("a file") == before);
        assert_eq!(files(&folder), 1);
    }
}
