//! Compares the states at two moments, and the versions of one step of a cursor. Bodies of objects
//! with the same version at both moments are not read.

use crate::body_reader::QueryError;
use crate::changes::{Change, ComparisonScope};
use crate::cursor::CursorStep;
use crate::moment::Cut;
use crate::object::ObjectForm;
use crate::object_version::{ObjectVersion, ResourceSnapshot};
use crate::timeline::Timeline;
use crate::writers::Authors;
use kubereel_format::{BodyBuffer, GatheredBodies, ResourceInfo, Seq};
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
/// body. An object that cannot be read exists: reading its changes fails.
pub fn differing(before: &ResourceSnapshot, after: &ResourceSnapshot) -> Vec<ObjectDifference> {
    let place = |held: &ObjectVersion| format!("{}/{}", held.namespace, held.name);
    let mut both: BTreeMap<String, (Option<&ObjectVersion>, Option<&ObjectVersion>)> =
        BTreeMap::new();
    for held in before.objects.iter().chain(&before.unreadable) {
        both.entry(place(held)).or_default().0 = Some(held);
    }
    for held in after.objects.iter().chain(&after.unreadable) {
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
        let bodies = ComparedBodies::of(timeline, [self], (before.cut, after.cut), scope);
        bodies.changes(self, (before.resource, after.resource), scope)
    }

    /// Returns whether its bodies must be read for its changed fields.
    fn is_read(&self, scope: &ComparisonScope) -> bool {
        !scope.fields.is_empty() || !matches!(self, Self::Created { .. } | Self::Deleted { .. })
    }
}

/// The bodies of objects that differ between two moments, prepared: cheaper than one after another.
pub struct ComparedBodies<'a> {
    timeline: &'a Timeline,
    before: GatheredBodies<'a>,
    after: GatheredBodies<'a>,
}

impl<'a> ComparedBodies<'a> {
    /// Prepares those of the objects whose fields are compared.
    pub fn of<'b>(
        timeline: &'a Timeline,
        fates: impl IntoIterator<Item = &'b ObjectFate>,
        (before, after): (Cut, Cut),
        scope: &ComparisonScope,
    ) -> Self {
        let read = fates.into_iter().filter(|fate| fate.is_read(scope));
        let (old, new): (Vec<_>, Vec<_>) = read.map(|fate| (fate.before(), fate.after())).unzip();
        Self {
            timeline,
            before: timeline.gather(old.into_iter().flatten(), before, &mut |_| {}),
            after: timeline.gather(new.into_iter().flatten(), after, &mut |_| {}),
        }
    }

    /// Returns the changed fields of an object, which is of these resources at the two moments. See
    /// [`ObjectFate::changes`].
    ///
    /// # Errors
    /// When the reel is damaged there, or a body is not an object.
    pub fn changes(
        &self,
        fate: &ObjectFate,
        (old, new): (&ResourceInfo, &ResourceInfo),
        scope: &ComparisonScope,
    ) -> Result<Vec<Change>, QueryError> {
        if !fate.is_read(scope) {
            return Ok(Vec::new());
        }
        let read = |held: Option<&ObjectVersion>, bodies, resource| {
            held.map(|held| value(bodies, held.seq, resource).map(|value| (held.seq, value)))
                .transpose()
        };
        let old = read(fate.before(), &self.before, old)?;
        let new = read(fate.after(), &self.after, new)?;
        Ok(match (old, new) {
            (Some((before, old)), Some((after, new))) => {
                (self.timeline).field_changes(scope, (before, &old), (after, &new))
            }
            (None, Some((_, new))) => scope.contents(&new),
            (Some((_, old)), None) => scope.lost(&old),
            (None, None) => Vec::new(),
        })
    }
}

fn value(
    bodies: &GatheredBodies<'_>,
    seq: Seq,
    resource: &ResourceInfo,
) -> Result<Value, QueryError> {
    ObjectForm::WHOLE
        .of(bodies.body(seq, &mut BodyBuffer::default())?, resource)
        .map_err(|source| QueryError::Body { seq, source })
}

/// The changes of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct SteppedOver {
    /// The differences to the version before; `None` if there is none that can be read, or if the step is the creation
    /// of the object.
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
        // Without a uid, an object that was created again has a version before: its deletion.
        let before = step.before.filter(|_| !timeline.is_creation(step.seq));
        let old = before.and_then(|before| Some((read(before).ok()?, timeline.wall_of(before))));
        let now = read(step.seq)?;
        let changes = old.as_ref().zip(before).map(|((old, _), before)| {
            timeline.field_changes(&ComparisonScope::default(), (before, old), (step.seq, &now))
        });
        let before = old.as_ref().map(|(old, at)| (old, *at));
        let all = changes.as_deref().unwrap_or_default();
        let authors = timeline.authors(step.seq, before, &now, all);
        Ok(Self {
            changes,
            authors,
            now,
        })
    }
}
