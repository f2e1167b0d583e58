//! A cursor between two records, and the steps to the events after and before it. Bodies are read
//! only for the steps that request them. The data of the next steps is prepared ahead, so that no
//! step decodes everything that its bodies depend on at once.

use crate::moment::Cut;
use crate::tables::before;
use crate::timeline::Timeline;
use kubereel_format::{
    EventType, ObjectId, ReadAllowance, ReadCounts, ReadError, RecordedAt, ResourceId, Seq,
};
use std::sync::Arc;

/// The events that a cursor visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Track {
    /// Every event.
    #[default]
    Everything,
    /// The events of one resource.
    Resource(ResourceId),
    /// The versions of one object.
    Object(ObjectId),
}

/// One step: the event that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorStep {
    /// The event.
    pub seq: Seq,
    /// When it was received.
    pub at: RecordedAt,
    /// Its object.
    pub object: ObjectId,
    /// Its type.
    pub kind: EventType,
    /// The version of the object before it, if there was one.
    pub before: Option<Seq>,
}

/// The bodies of a step, as the server sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepBodies {
    /// The body of the event.
    pub now: Arc<[u8]>,
    /// The body of the version before, if there was one.
    pub before: Option<Arc<[u8]>>,
}

/// A place between two records.
#[derive(Clone)]
pub struct Cursor<'a> {
    timeline: &'a Timeline,
    below: Seq,
    /// The events of the track; `None` for all.
    seqs: Option<Vec<Seq>>,
    ahead: ReadAhead,
}

impl Timeline {
    /// Creates a cursor at a moment.
    ///
    /// For a resourceVersion, the cursor is behind the last event that was received up to that
    /// version.
    pub fn cursor(&self, track: Track, cut: Cut) -> Cursor<'_> {
        let reel = self.reel();
        let seqs = match track {
            Track::Everything => None,
            Track::Object(object) => Some(reel.versions(object).to_vec()),
            Track::Resource(resource) => {
                let objects = self.objects_of(resource).iter();
                let mut seqs: Vec<Seq> = objects
                    .flat_map(|object| reel.versions(*object))
                    .copied()
                    .collect();
                seqs.sort_unstable();
                Some(seqs)
            }
        };
        let below = match cut {
            Cut::Arrival { below, .. } => below,
            Cut::Revision(_) => {
                let within = |seq: &Seq| self.is_within(*seq, cut);
                let last = match &seqs {
                    Some(seqs) => seqs.iter().copied().rfind(within),
                    None => (0..reel.end().0).rev().map(Seq).find(within),
                };
                last.map_or(Seq(0), |last| Seq(last.0 + 1))
            }
        };
        Cursor {
            timeline: self,
            below,
            seqs,
            ahead: ReadAhead::default(),
        }
    }
}

impl Timeline {
    /// Reads the bodies of a step.
    ///
    /// Checkpoints are used, so this takes few frames even for an object that rarely changes. To
    /// walk on, use [`Cursor::bodies`], which reads ahead.
    ///
    /// # Errors
    /// When the reel is damaged there.
    pub fn step_bodies(&self, step: &CursorStep) -> Result<StepBodies, ReadError> {
        let before = step
            .before
            .map(|before| self.reel().body_at(before, step.seq));
        // The version before was just decoded, and is the base of most versions.
        let before = before.transpose()?;
        let now = self
            .reel()
            .body_at(step.seq, Seq(step.seq.0.saturating_add(1)))?;
        Ok(StepBodies { now, before })
    }
}

impl Cursor<'_> {
    /// Returns the place: the first record behind it.
    pub const fn below(&self) -> Seq {
        self.below
    }

    /// Returns the place as a moment, for the state there.
    pub fn cut(&self) -> Cut {
        let wall =
            before(self.below).map_or(self.timeline.start(), |seq| self.timeline.wall_of(seq));
        Cut::Arrival {
            below: self.below,
            wall,
        }
    }

    /// Steps over the next event; `None` at the end.
    pub fn forward(&mut self) -> Option<CursorStep> {
        self.go(Direction::Forward)
    }

    /// Steps back over the previous event; `None` at the start.
    pub fn back(&mut self) -> Option<CursorStep> {
        self.go(Direction::Back)
    }

    fn go(&mut self, direction: Direction) -> Option<CursorStep> {
        let (step, below) = self.step_from(self.below, direction)?;
        self.below = below;
        self.ahead.follow(direction, below);
        Some(step)
    }

    /// Reads the bodies of the last step, and a part of the data of the next steps in the same
    /// direction, so that each of these finds most of its data in memory.
    ///
    /// The first step from a place, or in the other direction, takes longer than the others.
    ///
    /// # Errors
    /// When the reel is damaged there; damage farther on is not an error.
    pub fn bodies(&mut self, step: &CursorStep) -> Result<StepBodies, ReadError> {
        let reel = self.timeline.reel();
        let counts = reel.counts();
        let bodies = self.timeline.step_bodies(step)?;
        let allowance = self.ahead.allowance(counts, reel.counts());
        self.read_ahead(allowance);
        Ok(bodies)
    }

    fn read_ahead(&mut self, mut allowance: ReadAllowance) {
        if allowance.frames == 0 {
            return;
        }
        while let Some((direction, below)) = self.ahead.next()
            && let Some((step, below)) = self.step_from(below, direction)
        {
            let is_whole = self.prepare(&step, &mut allowance);
            if !self.ahead.prepared(below, is_whole) {
                return;
            }
        }
    }

    /// Prepares the bodies of a step, and returns whether both are ready. Damaged bodies count as
    /// ready: the step itself returns the error.
    fn prepare(&self, step: &CursorStep, allowance: &mut ReadAllowance) -> bool {
        let reel = self.timeline.reel();
        let now = (step.seq, Seq(step.seq.0.saturating_add(1)));
        let before = step.before.map(|before| (before, step.seq));
        before
            .into_iter()
            .chain([now])
            .all(|(seq, at)| reel.read_ahead(seq, at, allowance).unwrap_or(true))
    }

    /// Returns the step from a place, and the place behind it.
    fn step_from(&self, below: Seq, direction: Direction) -> Option<(CursorStep, Seq)> {
        let reel = self.timeline.reel();
        let is_event = |seq: &Seq| reel.object_of(*seq).is_some();
        let place = |seqs: &[Seq]| seqs.partition_point(|seq| *seq < below);
        let seq = match (&self.seqs, direction) {
            (Some(seqs), Direction::Forward) => seqs.get(place(seqs)).copied()?,
            (Some(seqs), Direction::Back) => seqs.get(place(seqs).checked_sub(1)?).copied()?,
            (None, Direction::Forward) => (below.0..reel.end().0).map(Seq).find(is_event)?,
            (None, Direction::Back) => (0..below.0).rev().map(Seq).find(is_event)?,
        };
        let behind = match direction {
            Direction::Forward => Seq(seq.0.saturating_add(1)),
            Direction::Back => seq,
        };
        Some((self.step(seq)?, behind))
    }

    fn step(&self, seq: Seq) -> Option<CursorStep> {
        let reel = self.timeline.reel();
        let object = reel.object_of(seq)?;
        let versions = reel.versions(object);
        let place = versions.partition_point(|known| *known < seq);
        Some(CursorStep {
            seq,
            at: self.timeline.wall_of(seq),
            object,
            kind: reel.kind_of(seq)?,
            before: place
                .checked_sub(1)
                .and_then(|at| versions.get(at))
                .copied(),
        })
    }
}

/// The largest number of prepared steps in front of a cursor.
///
/// A body can need nine frames, and each step prepares one: this is about three times as many.
const STEPS: u32 = 32;

/// The work of a step, with its own bodies: one frame, which takes some tenths of a millisecond.
const EACH: ReadAllowance = ReadAllowance {
    frames: 1,
    body_bytes: 128 * 1024,
};

/// The work of the first step from a place, or of the first in the other direction: nothing around
/// it was read before, so it prepares the next ones.
const FIRST: ReadAllowance = ReadAllowance {
    frames: 12,
    body_bytes: 2 * 1024 * 1024,
};

/// How often the preparation of a step is continued before it is given up: a step that needs more
/// than the cache must not be started forever.
const TRIES: u32 = 24;

/// The direction of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Back,
}

/// The prepared steps in front of a cursor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadAhead {
    direction: Option<Direction>,
    /// The place behind the last prepared step.
    below: Seq,
    /// The number of steps between the cursor and that place.
    steps: u32,
    tries: u32,
    /// Whether a step was prepared since the cursor was placed or turned.
    is_begun: bool,
}

impl ReadAhead {
    /// Follows a step of the cursor to a place.
    pub(crate) fn follow(&mut self, direction: Direction, below: Seq) {
        if self.direction != Some(direction) {
            *self = Self {
                direction: Some(direction),
                below,
                ..Self::default()
            };
        } else if let Some(left) = self.steps.checked_sub(1) {
            self.steps = left;
        } else {
            self.below = below;
            self.tries = 0;
        }
    }

    /// Returns the allowance after a step that needed this much itself.
    pub(crate) fn allowance(&mut self, before: ReadCounts, after: ReadCounts) -> ReadAllowance {
        let whole = if self.is_begun { EACH } else { FIRST };
        self.is_begun = true;
        let spent = after.frames.saturating_sub(before.frames);
        // More than 32 bits is more than any allowance.
        let spent = u32::try_from(spent).unwrap_or(u32::MAX);
        ReadAllowance {
            frames: whole.frames.saturating_sub(spent),
            ..whole
        }
    }

    /// Returns the place of the next step to prepare, if there is one.
    pub(crate) fn next(&self) -> Option<(Direction, Seq)> {
        let direction = self.direction.filter(|_| self.steps < STEPS)?;
        Some((direction, self.below))
    }

    /// Notes how far the step to a place was prepared, and returns whether to continue.
    pub(crate) fn prepared(&mut self, below: Seq, is_whole: bool) -> bool {
        self.tries = self.tries.saturating_add(1);
        let is_left = is_whole || self.tries >= TRIES;
        if is_left {
            self.below = below;
            self.steps = self.steps.saturating_add(1);
            self.tries = 0;
        }
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(ahead: &mut ReadAhead, count: u64) -> u64 {
        let mut done = 0;
        while done < count
            && let Some((_, Seq(below))) = ahead.next()
        {
            assert!(ahead.prepared(Seq(below + 1), true));
            done += 1;
        }
        done
    }

    #[test]
    fn only_so_many_steps_are_prepared() {
        let mut ahead = ReadAhead::default();
        assert_eq!(ahead.next(), None);
        ahead.follow(Direction::Forward, Seq(10));
        assert_eq!(prepare(&mut ahead, 1000), u64::from(STEPS));
        ahead.follow(Direction::Forward, Seq(11));
        assert_eq!(prepare(&mut ahead, 1000), 1);
        for below in 12..=100 {
            ahead.follow(Direction::Forward, Seq(below));
        }
        assert_eq!(ahead.next(), Some((Direction::Forward, Seq(100))));
    }

    #[test]
    fn who_turns_begins_anew() {
        let counts = ReadCounts::default();
        let mut ahead = ReadAhead::default();
        ahead.follow(Direction::Forward, Seq(10));
        assert_eq!(ahead.allowance(counts, counts), FIRST);
        prepare(&mut ahead, 5);
        ahead.follow(Direction::Forward, Seq(11));
        assert_eq!(ahead.allowance(counts, counts), EACH);
        ahead.follow(Direction::Back, Seq(10));
        assert_eq!(ahead.next(), Some((Direction::Back, Seq(10))));
        let spent = ReadCounts {
            frames: 5,
            ..counts
        };
        assert_eq!(ahead.allowance(counts, spent).frames, FIRST.frames - 5);
        assert_eq!(ahead.allowance(counts, spent).frames, 0);
    }

    #[test]
    fn a_step_that_never_gets_done_is_left() {
        let mut ahead = ReadAhead::default();
        ahead.follow(Direction::Forward, Seq(10));
        for _ in 1..TRIES {
            assert!(!ahead.prepared(Seq(11), false));
            assert_eq!(ahead.next(), Some((Direction::Forward, Seq(10))));
        }
        assert!(!ahead.prepared(Seq(11), false));
        assert_eq!(ahead.next(), Some((Direction::Forward, Seq(11))));
    }
}
