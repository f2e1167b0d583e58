//! Owns a place between two records, and the steps from it to the events before and behind. Refuses
//! bodies on the way: whoever wants those of a step asks for them.

use crate::ahead::{Ahead, Direction};
use crate::moment::Cut;
use crate::tables::before;
use crate::timeline::Timeline;
use kubereel_format::{EventType, ObjectId, ReadAllowance, ReadError, RecordedAt, ResourceId, Seq};
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
    ahead: Ahead,
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
                let within = |seq: &Seq| cut.includes(reel, *seq);
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
            ahead: Ahead::default(),
        }
    }
}

impl Timeline {
    /// Reads the bodies of a step.
    ///
    /// Checkpoints lead to them: it takes few frames even where an object changes rarely. Whoever walks
    /// on asks the cursor instead, which reads ahead: see [`Cursor::bodies`].
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
        self.go(Direction::Forward)
    }

    /// Steps back over the event before; `None` at the start.
    pub fn back(&mut self) -> Option<CursorStep> {
        self.go(Direction::Back)
    }

    fn go(&mut self, direction: Direction) -> Option<CursorStep> {
        let (step, below) = self.step_from(self.below, direction)?;
        self.below = below;
        self.ahead.follow(direction, below);
        Some(step)
    }

    /// Reads the bodies of the step that was just taken, and some of what the next ones in the same
    /// direction will need: so each of these finds most of it in memory.
    ///
    /// The first step from a place, or in the other direction, takes longer than the others.
    ///
    /// # Errors
    /// When the reel is damaged there; not when it is farther on.
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

    /// Prepares the bodies of a step, and tells whether both are. What is damaged is as good as done:
    /// whoever steps there is told.
    fn prepare(&self, step: &CursorStep, allowance: &mut ReadAllowance) -> bool {
        let reel = self.timeline.reel();
        let now = (step.seq, Seq(step.seq.0.saturating_add(1)));
        let before = step.before.map(|before| (before, step.seq));
        before
            .into_iter()
            .chain([now])
            .all(|(seq, at)| reel.read_ahead(seq, at, allowance).unwrap_or(true))
    }

    /// Gives the step from a place, and the place behind it.
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
