//! Owns the answer to who set each field of an object: its versions are read one by one, from its
//! first to the one that held. Refuses to choose the version: `as_of` does.

use super::origin::{Blame, BlameSource, Brought};
use super::tree::{Growth, Tree};
use crate::changes::{Path, Scope, Step, count, matched};
use crate::object::Form;
use crate::query_error::QueryError;
use crate::snapshot::ObjectVersion;
use crate::timeline::Timeline;
use crate::writers::{self, Authors, Managed};
use kubereel_format::{EventType, Evidence, RecordedAt, ResourceInfo, Seq};
use serde_json::Value;

/// An object of more fields than this is not told apart: no server stores one.
const MOST_FIELDS: usize = 1_000_000;

/// An object and who set each of its fields last.
#[derive(Clone, Debug, PartialEq)]
pub struct Blamed {
    /// The object as kubectl shows it, without managedFields.
    pub object: Value,
    /// A field each that holds no others, in the object's order.
    pub fields: Vec<Blame>,
    /// Versions that could not be read; what they changed is put down to a later one.
    pub unreadable: Vec<Seq>,
}

impl Timeline {
    /// Tells who set each field of a version last, and when.
    ///
    /// All versions of the object up to that one are read, each once.
    ///
    /// # Errors
    /// When the version itself cannot be read, or a version has too many fields.
    pub fn blame(
        &self,
        resource: &ResourceInfo,
        held: &ObjectVersion,
    ) -> Result<Blamed, QueryError> {
        let mut unreadable = Vec::new();
        let mut last: Option<(Value, Tree, RecordedAt)> = None;
        let mut is_torn = false;
        let versions = self.reel().versions(held.object);
        for &seq in versions.iter().filter(|seq| **seq <= held.seq) {
            let form = Form {
                shows_managed_fields: true,
            };
            let new = match self.object(seq, resource, form) {
                Ok(new) => told_apart(seq, new)?,
                Err(error) if seq == held.seq => return Err(error),
                Err(_) => {
                    unreadable.push(seq);
                    is_torn = true;
                    continue;
                }
            };
            let before = last.as_ref().map(|(value, _, at)| (value, *at));
            let mut brought = self.brought(resource, seq, before, &new);
            brought.is_after_gap |= is_torn;
            is_torn = false;
            let entries = Managed::of(&new);
            let mut growth = Growth::new(&brought, &entries);
            let (old, origins) = last.take().map(|(value, tree, _)| (value, tree)).unzip();
            let tree = growth.grow(old.as_ref().zip(origins), &new);
            let at = brought.at;
            last = Some((new, tree, at));
        }
        let (mut object, mut tree) = match last {
            Some((object, tree, _)) => (object, tree),
            None => (Value::Null, Tree::Items(Vec::new())),
        };
        hide_managers(&mut object, &mut tree);
        let mut fields = Vec::new();
        let mut path = Path::default();
        flatten(&object, &tree, None, &mut path, &mut fields);
        Ok(Blamed {
            object,
            fields,
            unreadable,
        })
    }

    fn brought(
        &self,
        resource: &ResourceInfo,
        seq: Seq,
        before: Option<(&Value, RecordedAt)>,
        new: &Value,
    ) -> Brought {
        let at = self.wall_of(seq);
        let head = self.reel().head(seq);
        let evidence = head.as_ref().map_or(Evidence::Live, |head| head.evidence);
        let is_seen = matches!(evidence, Evidence::Live | Evidence::Reconstructed);
        let is_creation =
            is_seen && head.is_some_and(|head| head.kind == EventType::Added) && before.is_none();
        let authors = match before {
            None if is_creation => Authors::of(writers::at_creation(new)),
            None => Authors::Unknown,
            Some((old, old_at)) => {
                let changes = Scope::default().changes(old, new);
                writers::between(old, new, &changes, at.micros_since(old_at))
            }
        };
        let is_gap_between =
            before.is_some_and(|(_, old_at)| self.may_miss_changes(resource.id, old_at, at));
        Brought {
            seq,
            at,
            authors,
            is_old: before.is_none() && !is_creation,
            is_after_gap: is_gap_between || evidence == Evidence::Listed,
        }
    }
}

/// Refuses an object with so many fields that the origin of each would take too much memory.
fn told_apart(seq: Seq, object: Value) -> Result<Value, QueryError> {
    let (fields, most) = (count(&object), MOST_FIELDS);
    if fields > most {
        return Err(QueryError::TooManyFields { seq, fields, most });
    }
    Ok(object)
}

/// Takes the managedFields out, as kubectl does.
fn hide_managers(object: &mut Value, tree: &mut Tree) {
    const HIDDEN: &str = "managedFields";
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove(HIDDEN);
    }
    if let Tree::Members(members) = tree
        && let Some(Tree::Members(metadata)) = members.get_mut("metadata")
    {
        metadata.remove(HIDDEN);
    }
}

// The depth is bounded: the parser refuses more than 128 levels.
fn flatten(
    value: &Value,
    tree: &Tree,
    name: Option<&str>,
    path: &mut Path,
    fields: &mut Vec<Blame>,
) {
    match (value, tree) {
        (Value::Object(members), Tree::Members(origins)) if !members.is_empty() => {
            for (name, member) in members {
                if let Some(tree) = origins.get(name) {
                    path.push(Step::Member(name.clone()));
                    flatten(member, tree, Some(name), path, fields);
                    path.pop();
                }
            }
        }
        (Value::Array(items), Tree::Items(origins)) => {
            let steps = matched(name, &[], items).pairs;
            for ((item, tree), pair) in items.iter().zip(origins).zip(steps) {
                path.push(pair.step);
                flatten(item, tree, None, path, fields);
                path.pop();
            }
        }
        (value, Tree::Leaf(origin)) => fields.push(Blame {
            path: path.clone(),
            value: value.clone(),
            source: origin.source.into(),
            writers: origin.writers.clone(),
            may_be_older: origin.may_be_older,
        }),
        // What held nothing but managedFields.
        (value, _) => fields.push(Blame {
            path: path.clone(),
            value: value.clone(),
            source: BlameSource::Unknown,
            writers: Vec::new(),
            may_be_older: true,
        }),
    }
}
