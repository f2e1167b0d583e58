//! A cursor between two records, and the steps to the events after and before it, without bodies;
//! and the steps over many events in their order, with the bodies.

use crate::moment::Cut;
use crate::tables::before;
use crate::timeline::Timeline;
use kubereel_format::{
    Event, EventType, ObjectId, ObjectKeyRef, ReadError, RecordedAt, ResourceId, Scan, Seq,
};
use std::collections::HashSet;
use std::ops::Range;
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
        }
    }
}

impl Timeline {
    /// Reads the bodies of a step.
    ///
    /// Checkpoints are used, so this takes few frames even for an object that rarely changes. For
    /// many steps in their order, use [`Self::versions`].
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
        Some(step)
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
        Some((self.timeline.step(seq)?, behind))
    }
}

impl Timeline {
    /// Returns the step over an event.
    fn step(&self, seq: Seq) -> Option<CursorStep> {
        let reel = self.reel();
        let object = reel.object_of(seq)?;
        let versions = reel.versions(object);
        let place = versions.partition_point(|known| *known < seq);
        Some(CursorStep {
            seq,
            at: self.wall_of(seq),
            object,
            kind: reel.kind_of(seq)?,
            before: place
                .checked_sub(1)
                .and_then(|at| versions.get(at))
                .copied(),
        })
    }
}

/// The direction of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Forward,
    Back,
}

/// The steps over the events of some objects in their order, with their bodies. See
/// [`Timeline::versions`].
pub struct VersionScan<'a> {
    timeline: &'a Timeline,
    next: Seq,
    end: Seq,
    objects: HashSet<ObjectId>,
    scan: Scan<'a>,
    /// An event that was read behind damaged ones.
    read: Option<Event>,
}

impl Timeline {
    /// Reads the events between two records of the objects that are wanted, in their order: each
    /// block once, and only blocks with such an event.
    ///
    /// The error of a step means that the reel is damaged there; the steps behind it go on.
    pub fn versions(
        &self,
        records: Range<Seq>,
        is_wanted: impl Fn(ObjectKeyRef<'_>) -> bool,
    ) -> VersionScan<'_> {
        let reel = self.reel();
        let objects = reel.objects().filter(|object| is_wanted(object.key));
        let objects: HashSet<ObjectId> = objects.map(|object| object.id).collect();
        VersionScan {
            timeline: self,
            next: records.start,
            end: records.end.min(reel.end()),
            scan: reel.scan_objects(records, objects.clone()),
            objects,
            read: None,
        }
    }
}

impl VersionScan<'_> {
    /// Reads the bodies of a step. What the scan does not give is read alone: a checkpoint may have it, and the
    /// error is that of this version.
    fn bodies(&mut self, step: &CursorStep) -> Result<StepBodies, ReadError> {
        while self
            .read
            .as_ref()
            .is_none_or(|read| read.head.seq < step.seq)
            && let Some(read) = self.scan.next()
        {
            self.read = read.ok();
        }
        let read = self.read.take_if(|read| read.head.seq == step.seq);
        match read {
            Some(read) if read.before.is_some() || step.before.is_none() => Ok(StepBodies {
                now: read.body,
                before: read.before,
            }),
            _ => self.timeline.step_bodies(step),
        }
    }
}

impl Iterator for VersionScan<'_> {
    type Item = (CursorStep, Result<StepBodies, ReadError>);

    fn next(&mut self) -> Option<Self::Item> {
        let reel = self.timeline.reel();
        let is_wanted = |seq: &Seq| {
            let object = reel.object_of(*seq);
            object.is_some_and(|object| self.objects.contains(&object))
        };
        let seq = (self.next.0..self.end.0).map(Seq).find(is_wanted)?;
        self.next = Seq(seq.0.saturating_add(1));
        let step = self.timeline.step(seq)?;
        let bodies = self.bodies(&step);
        Some((step, bodies))
    }
}
