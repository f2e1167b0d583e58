//! Determines who set each field of an object last, and when: from the recorded versions, and for
//! older values from the managedFields. Each version is read once, in order; the origins of
//! unchanged values are carried along.

use crate::body_reader::QueryError;
use crate::changes::{ChangeKind, ComparisonScope, FieldPath, FieldStep, count, matched};
use crate::object::ObjectForm;
use crate::object_version::ObjectVersion;
use crate::origin::{OriginSource, OriginTree, OriginUpdate, OriginWalk, VersionOrigin};
use crate::redaction_key::without_hashes;
use crate::timeline::Timeline;
use crate::writers::{FieldWriter, ManagedEntry};
use kubereel_format::{Evidence, RecordedAt, ResourceInfo, Seq};
use serde_json::Value;
use std::borrow::Cow;

/// The largest number of fields of an object: no server stores more.
const MOST_FIELDS: usize = 1_000_000;

/// An object, with the origin of each field.
#[derive(Clone, Debug, PartialEq)]
pub struct BlamedObject {
    /// The object as kubectl shows it, without managedFields.
    pub object: Value,
    /// Each field without members, in the object's order.
    pub fields: Vec<Blame>,
    /// Versions that could not be read; their changes are attributed to a later version.
    pub unreadable: Vec<Seq>,
}

impl Timeline {
    /// Determines who set each field of a version last, and when.
    ///
    /// All versions of the object up to that one are read, each once.
    ///
    /// # Errors
    /// When the version itself cannot be read, or a version has too many fields.
    pub fn blame(
        &self,
        resource: &ResourceInfo,
        held: &ObjectVersion,
    ) -> Result<BlamedObject, QueryError> {
        let versions = self.reel().versions(held.object);
        let count = versions.partition_point(|seq| *seq <= held.seq);
        let mut walk = self.origin_marks().nearest(held.object, count);
        let mut last = walk
            .versions
            .checked_sub(1)
            .and_then(|at| versions.get(at).copied());
        for &seq in versions.get(walk.versions..count).unwrap_or_default() {
            walk = self.blame_next(walk, resource, (last, seq), held.seq)?;
            last = Some(seq);
            self.origin_marks().pass(held.object, &walk);
        }
        self.origin_marks().reach(held.object, &walk);
        let OriginWalk {
            last, unreadable, ..
        } = walk;
        let (mut object, mut tree) = match last {
            Some((object, tree, _)) => (object, tree),
            None => (Value::Null, OriginTree::Items(Vec::new())),
        };
        hide_managers(&mut object, &mut tree);
        let mut fields = Vec::new();
        let mut path = FieldPath::default();
        flatten(&object, &tree, None, &mut path, &mut fields);
        Ok(BlamedObject {
            object,
            fields,
            unreadable,
        })
    }

    /// Reads the next version of an object. One before `held` may be unreadable.
    fn blame_next(
        &self,
        mut walk: OriginWalk,
        resource: &ResourceInfo,
        (before, seq): (Option<Seq>, Seq),
        held: Seq,
    ) -> Result<OriginWalk, QueryError> {
        walk.versions += 1;
        let new = match self.object(seq, resource, ObjectForm::WHOLE) {
            Ok(new) => told_apart(seq, new)?,
            Err(error) if seq == held => return Err(error),
            Err(_) => {
                walk.unreadable.push(seq);
                walk.is_torn = true;
                return Ok(walk);
            }
        };
        if self.is_creation(seq) {
            // Without a uid, the versions before are those of a deleted object of the name.
            walk.last = None;
        }
        // Redacted values of two sessions have other hashes, also if nothing changed.
        let other_session = before.filter(|before| !self.is_one_session(*before, seq));
        let mut now = Cow::Borrowed(&new);
        if let (Some(before), Some((value, _, _))) = (other_session, &mut walk.last) {
            if self.is_one_version(before, seq) {
                *value = without_hashes(value);
                now = Cow::Owned(without_hashes(&new));
            } else {
                let scope = ComparisonScope::default();
                let changes = self.field_changes(&scope, (before, value), (seq, &new));
                let mut kinds = changes.iter().map(|change| change.kind);
                walk.is_torn |= kinds.any(|kind| kind == ChangeKind::Unknown);
            }
        }
        let before = walk.last.as_ref().map(|(value, _, at)| (value, *at));
        let mut brought = self.brought(seq, before, &now);
        brought.is_after_gap |= walk.is_torn;
        let entries = ManagedEntry::of(&now);
        let mut growth = OriginUpdate::new(&brought, &entries);
        let old = walk.last.take().map(|(value, tree, _)| (value, tree));
        let (old, origins) = old.unzip();
        let tree = growth.grow(old.as_ref().zip(origins), &now);
        walk.last = Some((new, tree, brought.at));
        walk.is_torn = false;
        Ok(walk)
    }

    fn brought(
        &self,
        seq: Seq,
        before: Option<(&Value, RecordedAt)>,
        new: &Value,
    ) -> VersionOrigin {
        let at = self.wall_of(seq);
        let head = self.reel().head(seq);
        let evidence = head.as_ref().map_or(Evidence::Live, |head| head.evidence);
        let is_creation = self.is_creation(seq);
        let changes = before.map(|(old, _)| ComparisonScope::default().changes(old, new));
        let authors = self.authors(seq, before, new, &changes.unwrap_or_default());
        let is_gap_between =
            before.is_some_and(|(_, old_at)| self.may_miss_changes(seq, old_at, at));
        let is_late = self.late_since(seq).is_some();
        VersionOrigin {
            seq,
            at,
            authors,
            is_old: before.is_none() && !is_creation,
            is_after_gap: is_gap_between || is_late || evidence == Evidence::Listed,
        }
    }
}

/// It does not handle an object with too many fields: the origin of each would take too much
/// memory.
fn told_apart(seq: Seq, object: Value) -> Result<Value, QueryError> {
    let (fields, most) = (count(&object), MOST_FIELDS);
    if fields > most {
        return Err(QueryError::TooManyFields { seq, fields, most });
    }
    Ok(object)
}

/// Removes the managedFields, as kubectl does.
fn hide_managers(object: &mut Value, tree: &mut OriginTree) {
    const HIDDEN: &str = "managedFields";
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove(HIDDEN);
    }
    if let OriginTree::Members(members) = tree
        && let Some(OriginTree::Members(metadata)) = members.get_mut("metadata")
    {
        metadata.remove(HIDDEN);
    }
}

// The depth is bounded: the parser refuses more than 128 levels.
fn flatten(
    value: &Value,
    tree: &OriginTree,
    name: Option<&str>,
    path: &mut FieldPath,
    fields: &mut Vec<Blame>,
) {
    match (value, tree) {
        (Value::Object(members), OriginTree::Members(origins)) if !members.is_empty() => {
            for (name, member) in members {
                if let Some(tree) = origins.get(name) {
                    path.push(FieldStep::Member(name.clone()));
                    flatten(member, tree, Some(name), path, fields);
                    path.pop();
                }
            }
        }
        (Value::Array(items), OriginTree::Items(origins)) => {
            let steps = matched(name, &[], items).pairs;
            for ((item, tree), pair) in items.iter().zip(origins).zip(steps) {
                path.push(pair.step);
                flatten(item, tree, None, path, fields);
                path.pop();
            }
        }
        (value, OriginTree::Leaf(origin)) => fields.push(Blame {
            path: path.clone(),
            value: value.clone(),
            source: origin.source.into(),
            writers: origin.writers.clone(),
            may_be_older: origin.may_be_older,
        }),
        // It contained only managedFields.
        (value, _) => fields.push(Blame {
            path: path.clone(),
            value: value.clone(),
            source: BlameSource::Unknown,
            writers: Vec::new(),
            may_be_older: true,
        }),
    }
}

/// The origin of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Blame {
    /// The field: a value without members.
    pub path: FieldPath,
    /// Its value.
    pub value: Value,
    /// The origin of the answer.
    pub source: BlameSource,
    /// The managers; several if they manage the field together, none if they are not known.
    pub writers: Vec<FieldWriter>,
    /// Whether versions may be missing before the event: then the change may be older, and have
    /// another writer.
    pub may_be_older: bool,
}

/// The evidence for who set a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlameSource {
    /// The event with the value.
    Recorded {
        /// The event.
        seq: Seq,
        /// When it was received.
        at: RecordedAt,
    },
    /// The value is older than the recording; the field's manager last changed something at this
    /// time, so the value was set then or before.
    ManagedFields {
        /// By the server's clock, in whole seconds.
        at: Option<RecordedAt>,
    },
    /// The value is older than the recording, and the field has no manager.
    Unknown,
}

impl BlameSource {
    /// Returns the word in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recorded { .. } => "recorded",
            Self::ManagedFields { .. } => "managedFields",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the time.
    pub const fn at(self) -> Option<RecordedAt> {
        match self {
            Self::Recorded { at, .. } => Some(at),
            Self::ManagedFields { at } => at,
            Self::Unknown => None,
        }
    }
}

impl From<OriginSource> for BlameSource {
    fn from(source: OriginSource) -> Self {
        match source {
            OriginSource::Recorded(seq, at) => Self::Recorded { seq, at },
            OriginSource::ManagedFields(at) => Self::ManagedFields { at },
            OriginSource::Unknown => Self::Unknown,
        }
    }
}
