//! Owns a place between two records, and the steps from it to the events before and behind. Refuses
//! bodies on the way: whoever wants those of a step asks for them.

use crate::resolve::Cut;
use crate::timeline::{Timeline, before};
use kubereel_format::{EventType, ObjectId, ReadError, RecordedAt, ResourceId, Seq};
use std::sync::Arc;

/// What a cursor walks over.
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
    /// What it said.
    pub kind: EventType,
    /// The version of the object before it, if there was one.
    pub before: Option<Seq>,
}

/// The object's bytes of a step, as the server sent them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepBodies {
    /// What the event brought.
    pub now: Arc<[u8]>,
    /// The version before it, if there was one.
    pub before: Option<Arc<[u8]>>,
}

/// A place between two records.
#[derive(Clone)]
pub struct Cursor<'a> {
    timeline: &'a Timeline,
    below: Seq,
    /// The events of the track; `None` stands for all.
    seqs: Option<Vec<Seq>>,
}

impl Timeline {
    /// Puts a cursor at a moment.
    ///
    /// At a resourceVersion it stands behind the last event that was received up to that version.
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
        }
    }
}

impl Timeline {
    /// Reads the bodies of a step.
    ///
    /// Checkpoints lead to them: it takes few frames even where an object changes rarely.
    ///
    /// # Errors
    /// When the reel is damaged there.
    pub fn step_bodies(&self, step: &CursorStep) -> Result<StepBodies, ReadError> {
        let before = step
            .before
            .map(|before| self.reel().body_at(before, step.seq));
        // The version before was put together just now, and is what most are told against.
        let before = before.transpose()?;
        let now = self
            .reel()
            .body_at(step.seq, Seq(step.seq.0.saturating_add(1)))?;
        Ok(StepBodies { now, before })
    }
}

impl Cursor<'_> {
    /// Gives the place: the first record that lies behind it.
    pub const fn below(&self) -> Seq {
        self.below
    }

    /// Gives the place as a moment, to ask for the state there.
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
        let seq = match &self.seqs {
            Some(seqs) => {
                let place = seqs.partition_point(|seq| *seq < self.below);
                seqs.get(place).copied()?
            }
            None => (self.below.0..self.timeline.reel().end().0)
                .map(Seq)
                .find(|seq| self.timeline.reel().object_of(*seq).is_some())?,
        };
        self.below = Seq(seq.0 + 1);
        self.step(seq)
    }

    /// Steps back over the event before; `None` at the start.
    pub fn back(&mut self) -> Option<CursorStep> {
        let seq = match &self.seqs {
            Some(seqs) => {
                let place = seqs.partition_point(|seq| *seq < self.below);
                seqs.get(place.checked_sub(1)?).copied()?
            }
            None => (0..self.below.0)
                .rev()
                .map(Seq)
                .find(|seq| self.timeline.reel().object_of(*seq).is_some())?,
        };
        self.below = seq;
        self.step(seq)
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
