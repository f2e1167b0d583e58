//! Follows a reel that is being recorded, and reads it again as it grows. This module never waits:
//! callers read again after [`ReelFollower::pause`].
//!
//! Invariants:
//! * The recorder is not slowed: a private copy of its commits is read.
//! * Reading takes a small share of the time, whatever the size of the reel.
//! * A record has the same number in every state of the reel, so new records begin at a number.

use crate::timeline::Timeline;
use kubereel_format::{GrowingReel, OpenError, Reel, ReelGrowth, Seq, Stamp};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

/// The shortest pause: the recorder commits about as often.
const LEAST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The least ratio of a pause to the work before it.
const PAUSES_PER_WORK: u32 = 4;

/// Follows a reel.
#[derive(Debug)]
pub struct ReelFollower {
    growing: GrowingReel,
    /// What is wrong with the file that the reel was taken from.
    damage: Option<String>,
    /// The number of the first record that was not returned yet.
    next: Seq,
    /// When the first record was received: another recording has another time.
    first: Option<Stamp>,
    /// When the reel was last read.
    looked: Instant,
}

/// The state of a followed reel.
pub enum FollowStep {
    /// No commit since the last reading.
    Unchanged,
    /// It is being recorded, and has grown.
    Grown(FollowedReel),
    /// It is not being recorded, or no longer. An unfinished reel may be resumed.
    Ended(FollowedReel),
}

/// A state of a followed reel.
pub struct FollowedReel {
    /// The reel.
    pub timeline: Timeline,
    /// The number of the first record that the previous state did not have.
    pub new_from: Seq,
}

/// A reel cannot be followed any longer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FollowError {
    /// It cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It was removed.
    #[error("the reel was removed: {path}", path = path.display())]
    Removed {
        /// The file.
        path: PathBuf,
    },
    /// Another recording has its path.
    #[error("another recording took the place of the reel: {path}", path = path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
}

impl ReelFollower {
    /// Starts following a reel. Its copies need room in a folder, and none of them remains there.
    pub fn new(path: &Path, folder: &Path) -> Self {
        Self {
            growing: GrowingReel::new(path, folder),
            damage: None,
            next: Seq(0),
            first: None,
            looked: Instant::now(),
        }
    }

    /// Adds the damage of the file that the reel was taken from to each state.
    #[must_use]
    pub fn of_damaged(self, damage: Option<String>) -> Self {
        Self { damage, ..self }
    }

    fn timeline(&self, reel: Reel) -> Timeline {
        Timeline::new(match &self.damage {
            Some(damage) => reel.taken_from_damaged(damage.clone()),
            None => reel,
        })
    }

    /// Reads the reel again if it has grown.
    ///
    /// # Errors
    /// When the reel cannot be read, or no longer exists.
    pub fn look(&mut self) -> Result<FollowStep, FollowError> {
        self.looked = Instant::now();
        match self.growing.read() {
            Ok(ReelGrowth::Unchanged) => Ok(FollowStep::Unchanged),
            Ok(ReelGrowth::Grown(reel)) => self.taken(self.timeline(reel)).map(FollowStep::Grown),
            Ok(ReelGrowth::Ended(reel)) => self.taken(self.timeline(reel)).map(FollowStep::Ended),
            Err(OpenError::Io { source, path })
                if source.kind() == std::io::ErrorKind::NotFound
                    && self.next > Seq(0)
                    && path == self.growing.path() =>
            {
                Err(FollowError::Removed { path })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn taken(&mut self, timeline: Timeline) -> Result<FollowedReel, FollowError> {
        let (reel, new_from) = (timeline.reel(), self.next);
        let first = reel.stamp(Seq(0));
        let is_another = self.first.is_some() && first != self.first;
        // A damaged reel may have lost its end.
        if is_another || (reel.end() < new_from && !reel.has_losses()) {
            return Err(FollowError::Replaced {
                path: self.growing.path().to_owned(),
            });
        }
        self.first = first.or(self.first);
        self.next = reel.end().max(new_from);
        Ok(FollowedReel { timeline, new_from })
    }

    /// Makes the next reading return the reel even without a new commit.
    pub fn forget(&mut self) {
        self.growing.forget();
    }

    /// Returns how long to wait before the next reading, so that reading and the caller's own work
    /// after it take a small share of the time.
    pub fn pause(&self) -> Duration {
        let work = self.looked.elapsed();
        // A process that was stopped meanwhile has not worked that long.
        work.saturating_mul(PAUSES_PER_WORK)
            .clamp(LEAST_PAUSE, LONGEST_PAUSE)
    }
}
