//! A reel that is being recorded, read again as it grows. Nothing here waits: who follows a reel asks again after
//! [`ReelFollower::pause`].
//!
//! Invariants:
//! * The recorder is neither asked nor slowed: what is read is a private copy of what it committed.
//! * Reading takes a small share of the time, whatever the size of the reel.
//! * A record has the same number in every state of the reel, so that what is new begins at a number.

use crate::timeline::Timeline;
use kubereel_format::{GrowingReel, OpenError, ReelGrowth, Seq, Stamp};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

/// The shortest pause: the recorder commits about as often.
const LEAST_PAUSE: Duration = Duration::from_millis(250);

/// How many times as long as the work before it a pause is at least.
const PAUSES_PER_WORK: u32 = 4;

/// Follows a reel.
#[derive(Debug)]
pub struct ReelFollower {
    growing: GrowingReel,
    /// The number of the first record that was not handed out yet.
    next: Seq,
    /// When the first record was received: another recording has another one.
    first: Option<Stamp>,
    /// When it was looked last.
    looked: Instant,
}

/// How a followed reel stands.
pub enum FollowStep {
    /// Nothing was committed since the last look.
    Unchanged,
    /// It is being recorded, and there is more of it.
    Grown(FollowedReel),
    /// It is not being recorded, or no longer. One that is not finished may be gone on with.
    Ended(FollowedReel),
}

/// A state of a followed reel.
pub struct FollowedReel {
    /// The reel.
    pub timeline: Timeline,
    /// The number of the first record that the state before did not have.
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
    /// Another recording lies in its place.
    #[error("another recording took the place of the reel: {path}", path = path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
}

impl ReelFollower {
    /// Begins to follow a reel; its copies take room in a folder, where nothing of them stays.
    pub fn new(path: &Path, folder: &Path) -> Self {
        Self {
            growing: GrowingReel::new(path, folder),
            next: Seq(0),
            first: None,
            looked: Instant::now(),
        }
    }

    /// Looks whether there is more of the reel.
    ///
    /// # Errors
    /// When the reel cannot be read, or is not there any more.
    pub fn look(&mut self) -> Result<FollowStep, FollowError> {
        self.looked = Instant::now();
        match self.growing.read() {
            Ok(ReelGrowth::Unchanged) => Ok(FollowStep::Unchanged),
            Ok(ReelGrowth::Grown(reel)) => self.taken(Timeline::new(reel)).map(FollowStep::Grown),
            Ok(ReelGrowth::Ended(reel)) => self.taken(Timeline::new(reel)).map(FollowStep::Ended),
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
        // What is damaged may have lost its end.
        if is_another || (reel.end() < new_from && !reel.has_losses()) {
            return Err(FollowError::Replaced {
                path: self.growing.path().to_owned(),
            });
        }
        self.first = first.or(self.first);
        self.next = reel.end().max(new_from);
        Ok(FollowedReel { timeline, new_from })
    }

    /// Makes the next look give the reel as it is then, though nothing was committed since.
    pub fn forget(&mut self) {
        self.growing.forget();
    }

    /// Returns how long to wait before the next look, so that looks, and what was done after the last one, take a small
    /// share of the time.
    pub fn pause(&self) -> Duration {
        let work = self.looked.elapsed();
        work.saturating_mul(PAUSES_PER_WORK).max(LEAST_PAUSE)
    }
}
