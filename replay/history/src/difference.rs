//! Compares the states at two moments, and the versions of one step of a cursor. Bodies of objects
//! with the same version at both moments are not read.

use crate::changes::{Change, ComparisonScope};
use crate::cursor::CursorStep;
use crate::moment::Cut;
use crate::object::ObjectForm;
use crate::timeline::QueryError;
use crate::timeline::Timeline;
use crate::timeline::{ObjectVersion, ResourceSnapshot};
use crate::writers::{self, Authors};
use kubereel_format::{EventType, Evidence, ResourceInfo, Seq};
use serde_json::Value;
use std::collections::BTreeMap;

/// A name whose object or version differs between two moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectDifference {
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The difference.
    pub fate: ObjectFate,
}

/// The difference of a name between two moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectFate {
    /// The object did not exist at the first moment.
    Created {
        /// Its version at the second.
        new: ObjectVersion,
    },
    /// The object does not exist at the second moment.
    Deleted {
        /// Its version at the first.
        old: ObjectVersion,
    },
    /// Another object has the name at the second moment.
    Recreated {
        /// The version at the first.
        old: ObjectVersion,
        /// The version at the second.
        new: ObjectVersion,
    },
    /// It has another version.
    Changed {
        /// The version at the first moment.
        old: ObjectVersion,
        /// The version at the second.
        new: ObjectVersion,
    },
}

impl ObjectFate {
    /// Returns the word in output.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Created { .. } => "created",
            Self::Deleted { .. } => "deleted",
            Self::Recreated { .. } => "recreated",
            Self::Changed { .. } => "changed",
        }
    }

    /// Returns the version at the first moment.
    pub const fn before(&self) -> Option<&ObjectVersion> {
        match self {
            Self::Created { .. } => None,
            Self::Deleted { old } | Self::Recreated { old, .. } | Self::Changed { old, .. } => {
                Some(old)
            }
        }
    }

    /// Returns the version at the second moment.
    pub const fn after(&self) -> Option<&ObjectVersion> {
        match self {
            Self::Deleted { .. } => None,
            Self::Created { new } | Self::Recreated { new, .. } | Self::Changed { new, .. } => {
                Some(new)
            }
        }
    }
}

/// Returns the names that differ between two states, in the order of the server's keys. Reads no
/// body.
pub fn differing(before: &ResourceSnapshot, after: &ResourceSnapshot) -> Vec<ObjectDifference> {
    let place = |held: &ObjectVersion| format!("{}/{}", held.namespace, held.name);
    let mut both: BTreeMap<String, (Option<&ObjectVersion>, Option<&ObjectVersion>)> =
        BTreeMap::new();
    for held in &before.objects {
        both.entry(place(held)).or_default().0 = Some(held);
    }
    for held in &after.objects {
        both.entry(place(held)).or_default().1 = Some(held);
    }
    both.into_values()
        .filter_map(|(old, new)| {
            let held = new.or(old)?;
            let fate = fate(
                old.cloned(),
                new.cloned(),
                before.resource == after.resource,
            )?;
            Some(ObjectDifference {
                namespace: held.namespace.clone(),
                name: held.name.clone(),
                fate,
            })
        })
        .collect()
}

/// An object that is recorded in two versions of its resource has two object numbers.
fn fate(
    old: Option<ObjectVersion>,
    new: Option<ObjectVersion>,
    is_one_resource: bool,
) -> Option<ObjectFate> {
    match (old, new) {
        (Some(old), Some(new)) if old.seq == new.seq => None,
        (Some(old), Some(new)) if old.object == new.object || !is_one_resource => {
            Some(ObjectFate::Changed { old, new })
        }
        (Some(old), Some(new)) => Some(ObjectFate::Recreated { old, new }),
        (Some(old), None) => Some(ObjectFate::Deleted { old }),
        (None, Some(new)) => Some(ObjectFate::Created { new }),
        (None, None) => None,
    }
}

/// A resource, and the moment of its state.
#[derive(Clone, Copy, Debug)]
pub struct ResourceMoment<'a> {
    /// The resource.
    pub resource: &'a ResourceInfo,
    /// The moment.
    pub cut: Cut,
}

impl ObjectFate {
    /// Returns the changed fields of an object between two moments.
    ///
    /// For an object that exists at one moment only, the requested fields are returned, and none if
    /// no field is requested.
    ///
    /// # Errors
    /// When the reel is damaged there, or a body is not an object.
    pub fn changes(
        &self,
        timeline: &Timeline,
        before: ResourceMoment<'_>,
        after: ResourceMoment<'_>,
        scope: &ComparisonScope,
    ) -> Result<Vec<Change>, QueryError> {
        let is_narrowed = !scope.fields.is_empty();
        let read = |held: Option<&ObjectVersion>, asked: ResourceMoment<'_>| {
            held.map(|held| value_at(timeline, held.seq, asked))
                .transpose()
        };
        let both =
            || Ok::<_, QueryError>((read(self.before(), before)?, read(self.after(), after)?));
        match self {
            Self::Created { .. } | Self::Deleted { .. } if !is_narrowed => Ok(Vec::new()),
            _ => Ok(match both()? {
                (Some(old), Some(new)) => scope.changes(&old, &new),
                (None, Some(new)) => scope.contents(&new),
                (Some(old), None) => scope.lost(&old),
                (None, None) => Vec::new(),
            }),
        }
    }
}

/// Reads a version as one of the state at a moment, which takes fewer frames than reading it alone.
fn value_at(timeline: &Timeline, seq: Seq, asked: ResourceMoment<'_>) -> Result<Value, QueryError> {
    let body = match asked.cut {
        Cut::Arrival { below, .. } => timeline.reel().body_at(seq, below),
        Cut::Revision(_) => timeline.reel().body(seq),
    };
    ObjectForm::WHOLE
        .of(&body?, asked.resource)
        .map_err(|source| QueryError::Body { seq, source })
}

/// The changes of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct SteppedOver {
    /// The differences to the version before; `None` if there is none that can be read.
    pub changes: Option<Vec<Change>>,
    /// The writer.
    pub authors: Authors,
    /// The object in the event.
    pub now: Value,
}

impl SteppedOver {
    /// Returns the changed fields of a step, and the writer.
    ///
    /// # Errors
    /// When the event's own body cannot be read.
    pub fn of(
        timeline: &Timeline,
        step: &CursorStep,
        resource: &ResourceInfo,
    ) -> Result<Self, QueryError> {
        let read = |seq: Seq| timeline.object(seq, resource, ObjectForm::WHOLE);
        // Read first: the version before is the base of most versions.
        let old = step.before.and_then(|before| read(before).ok());
        let now = read(step.seq)?;
        let changes = old
            .as_ref()
            .map(|old| ComparisonScope::default().changes(old, &now));
        let evidence = timeline.reel().head(step.seq).map(|head| head.evidence);
        let is_seen = matches!(evidence, Some(Evidence::Live | Evidence::Reconstructed));
        let authors = match (step.kind, &old, &changes) {
            (EventType::Deleted, ..) => Authors::Deletion,
            (_, Some(old), Some(changes)) => {
                let before = step
                    .before
                    .map_or(step.at, |before| timeline.wall_of(before));
                writers::between(old, &now, changes, step.at.micros_since(before))
            }
            (EventType::Added, None, _) if is_seen && step.before.is_none() => {
                Authors::of(writers::at_creation(&now))
            }
            _ => Authors::Unknown,
        };
        Ok(Self {
            changes,
            authors,
            now,
        })
    }
}
