//! Determines who set each field of an object last, and when: from the recorded versions, and for
//! older values from the managedFields. Each version is read once, in order; the origins of
//! unchanged values are carried along.

use crate::changes::{ComparisonScope, FieldPath, FieldStep, count, is_same_scalar, matched};
use crate::object::ObjectForm;
use crate::timeline::ObjectVersion;
use crate::timeline::QueryError;
use crate::timeline::Timeline;
use crate::writers::{self, Authors, FieldWriter, ManagedEntry, OwnedFields};
use kubereel_format::{EventType, Evidence, RecordedAt, ResourceInfo, Seq};
use serde_json::Value;
use std::collections::BTreeMap;
use std::rc::Rc;

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
        let mut unreadable = Vec::new();
        let mut last: Option<(Value, OriginTree, RecordedAt)> = None;
        let mut is_torn = false;
        let versions = self.reel().versions(held.object);
        for &seq in versions.iter().filter(|seq| **seq <= held.seq) {
            let new = match self.object(seq, resource, ObjectForm::WHOLE) {
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
            let entries = ManagedEntry::of(&new);
            let mut growth = OriginUpdate::new(&brought, &entries);
            let (old, origins) = last.take().map(|(value, tree, _)| (value, tree)).unzip();
            let tree = growth.grow(old.as_ref().zip(origins), &new);
            let at = brought.at;
            last = Some((new, tree, at));
        }
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

    fn brought(
        &self,
        resource: &ResourceInfo,
        seq: Seq,
        before: Option<(&Value, RecordedAt)>,
        new: &Value,
    ) -> VersionOrigin {
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
                let changes = ComparisonScope::default().changes(old, new);
                writers::between(old, new, &changes, at.micros_since(old_at))
            }
        };
        let is_gap_between =
            before.is_some_and(|(_, old_at)| self.may_miss_changes(resource.id, old_at, at));
        VersionOrigin {
            seq,
            at,
            authors,
            is_old: before.is_none() && !is_creation,
            is_after_gap: is_gap_between || evidence == Evidence::Listed,
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

/// A version, as far as origins need it.
struct VersionOrigin {
    seq: Seq,
    at: RecordedAt,
    authors: Authors,
    /// Whether the values of this version may be older than it: it is the first known one, and the
    /// creation was not observed.
    is_old: bool,
    /// Whether versions may be missing before it.
    is_after_gap: bool,
}

/// The origin of a value, without the value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FieldOrigin {
    source: OriginSource,
    writers: Vec<FieldWriter>,
    may_be_older: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OriginSource {
    Recorded(Seq, RecordedAt),
    ManagedFields(Option<RecordedAt>),
    Unknown,
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

/// Concludes the origin of a value that a version brought; `managers` are those of the value in
/// that version.
fn origin_of(brought: &VersionOrigin, mut managers: Vec<FieldWriter>) -> FieldOrigin {
    managers.sort();
    managers.dedup();
    if brought.is_old {
        let at = managers.iter().map(|writer| writer.at).max().flatten();
        let source = if managers.is_empty() {
            OriginSource::Unknown
        } else {
            OriginSource::ManagedFields(at)
        };
        return FieldOrigin {
            source,
            writers: managers,
            may_be_older: true,
        };
    }
    FieldOrigin {
        source: OriginSource::Recorded(brought.seq, brought.at),
        writers: narrowed(brought.authors.writers(), managers),
        may_be_older: brought.is_after_gap,
    }
}

/// Returns those writers of a version that manage the field.
fn narrowed(authors: &[FieldWriter], managers: Vec<FieldWriter>) -> Vec<FieldWriter> {
    let is_nobodys = managers.is_empty();
    let both: Vec<FieldWriter> = managers
        .into_iter()
        .filter(|manager| authors.contains(manager))
        .collect();
    match authors {
        // An unmanaged field changes with the write that made the version.
        [only] if is_nobodys => vec![only.clone()],
        _ => both,
    }
}

/// The origins of a value and of its members.
#[derive(Clone, Debug)]
enum OriginTree {
    /// A value without members.
    Leaf(Rc<FieldOrigin>),
    /// The origins of an object's members.
    Members(BTreeMap<String, Self>),
    /// The origins of a list's items.
    Items(Vec<Self>),
}

/// One step from a version to the next.
struct OriginUpdate<'a> {
    brought: &'a VersionOrigin,
    entries: &'a [ManagedEntry<'a>],
    /// Origins of this step, each once.
    known: BTreeMap<FieldOrigin, Rc<FieldOrigin>>,
}

impl<'a> OriginUpdate<'a> {
    fn new(brought: &'a VersionOrigin, entries: &'a [ManagedEntry<'a>]) -> Self {
        Self {
            brought,
            entries,
            known: BTreeMap::new(),
        }
    }

    /// Returns the origins of a version from the version before and its origins.
    fn grow(&mut self, old: Option<(&Value, OriginTree)>, new: &Value) -> OriginTree {
        let owned = OwnedFields::root(self.entries);
        self.value(None, old, new, &owned)
    }

    // The depth is bounded: the parser refuses more than 128 levels.
    fn value(
        &mut self,
        name: Option<&str>,
        old: Option<(&Value, OriginTree)>,
        new: &Value,
        owned: &OwnedFields<'_>,
    ) -> OriginTree {
        match new {
            Value::Object(members) if !members.is_empty() => {
                let (old_members, mut origins) = match old {
                    Some((Value::Object(members), OriginTree::Members(origins))) => {
                        (Some(members), origins)
                    }
                    _ => (None, BTreeMap::new()),
                };
                let members = members.iter().map(|(name, new)| {
                    let old = old_members.and_then(|members| members.get(name));
                    let old = old.zip(origins.remove(name));
                    let tree = self.value(Some(name), old, new, &owned.member(name));
                    (name.clone(), tree)
                });
                OriginTree::Members(members.collect())
            }
            Value::Array(items) if !items.is_empty() => {
                let (old_items, origins) = match old {
                    Some((Value::Array(items), OriginTree::Items(origins))) => {
                        (items.as_slice(), origins)
                    }
                    _ => (&[][..], Vec::new()),
                };
                self.items(name, old_items, origins, items, owned)
            }
            leaf => match old {
                Some((old, tree @ OriginTree::Leaf(_))) if is_same_scalar(old, leaf) => tree,
                _ => self.leaf(owned),
            },
        }
    }

    fn items(
        &mut self,
        name: Option<&str>,
        old: &[Value],
        origins: Vec<OriginTree>,
        new: &[Value],
        owned: &OwnedFields<'_>,
    ) -> OriginTree {
        let mut origins: Vec<Option<OriginTree>> = origins.into_iter().map(Some).collect();
        let mut before: Vec<Option<usize>> = vec![None; new.len()];
        for pair in matched(name, old, new).pairs {
            if let Some(slot) = pair.new.and_then(|at| before.get_mut(at)) {
                *slot = pair.old;
            }
        }
        let items = owned.items();
        let grown = new.iter().zip(before).enumerate();
        let grown = grown.map(|(at, (item, before))| {
            let tree = before
                .and_then(|at| origins.get_mut(at))
                .and_then(Option::take);
            let old = before.and_then(|at| old.get(at)).zip(tree);
            self.value(None, old, item, &items.item(at, item))
        });
        OriginTree::Items(grown.collect())
    }

    fn leaf(&mut self, owned: &OwnedFields<'_>) -> OriginTree {
        let managers = owned
            .managers()
            .filter_map(|at| self.entries.get(at))
            .map(|entry| entry.writer.clone());
        let origin = origin_of(self.brought, managers.collect());
        let shared = self
            .known
            .entry(origin.clone())
            .or_insert_with(|| Rc::new(origin));
        OriginTree::Leaf(Rc::clone(shared))
    }
}

#[cfg(test)]
mod tests {
    //! Property test: origins carried from version to version, compared with a slow oracle on flat
    //! lists of fields.

    use super::*;
    use crate::writers::{Authors, ManagedEntry};
    use kubereel_format::{RecordedAt, Seq};
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn brought(seq: u64) -> VersionOrigin {
        VersionOrigin {
            seq: Seq(seq),
            at: RecordedAt::from_micros(0),
            authors: Authors::Unknown,
            is_old: false,
            is_after_gap: false,
        }
    }

    /// Lists every field without members with its path, items by their names.
    fn flat(place: &str, value: &Value, found: &mut BTreeMap<String, Value>) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, member) in members {
                    flat(&format!("{place}.{name}"), member, found);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for item in items {
                    flat(&format!("{place}[{}]", item["name"]), item, found);
                }
            }
            leaf => drop(found.insert(place.to_owned(), leaf.clone())),
        }
    }

    fn origins(place: &str, value: &Value, tree: &OriginTree, found: &mut BTreeMap<String, u64>) {
        match (value, tree) {
            (Value::Object(members), OriginTree::Members(trees)) => {
                assert_eq!(members.len(), trees.len());
                for (name, member) in members {
                    origins(&format!("{place}.{name}"), member, &trees[name], found);
                }
            }
            (Value::Array(items), OriginTree::Items(trees)) => {
                assert_eq!(items.len(), trees.len());
                for (item, tree) in items.iter().zip(trees) {
                    origins(&format!("{place}[{}]", item["name"]), item, tree, found);
                }
            }
            (_, OriginTree::Leaf(origin)) => {
                let OriginSource::Recorded(seq, _) = origin.source else {
                    panic!("{origin:?}");
                };
                found.insert(place.to_owned(), seq.0);
            }
            other => panic!("{other:?}"),
        }
    }

    fn version() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            (0i64..3).prop_map(Value::from),
            Just(json!({})),
            Just(json!([]))
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            let items = proptest::collection::btree_map("[xyz]", inner.clone(), 1..4);
            let items = items.prop_map(|items| {
                let items = items.into_iter();
                let items: Vec<Value> = items
                    .map(|(name, more)| json!({"name": name, "more": more}))
                    .collect();
                Value::from(items)
            });
            let object = proptest::collection::btree_map("[abc]", inner, 1..4)
                .prop_map(|members| Value::Object(members.into_iter().collect()));
            prop_oneof![items, object]
        })
    }

    proptest! {
        #[test]
        fn each_field_is_put_down_to_the_version_that_changed_it_last(
            versions in proptest::collection::vec(version(), 1..8)
        ) {
            let mut last: Option<(Value, OriginTree)> = None;
            let mut expected: BTreeMap<String, (Value, u64)> = BTreeMap::new();
            for (seq, version) in (0u64..).zip(&versions) {
                let step = brought(seq);
                let tree = {
                    let (old, tree) = last.take().unzip();
                    OriginUpdate::new(&step, &[]).grow(old.as_ref().zip(tree), version)
                };
                last = Some((version.clone(), tree));
                let mut now = BTreeMap::new();
                flat("", version, &mut now);
                expected = now
                    .into_iter()
                    .map(|(place, value)| {
                        let since = match expected.get(&place) {
                            Some((old, since)) if *old == value => *since,
                            _ => seq,
                        };
                        (place, (value, since))
                    })
                    .collect();
            }
            let (value, tree) = last.expect("a version");
            let mut found = BTreeMap::new();
            origins("", &value, &tree, &mut found);
            let expected: BTreeMap<String, u64> =
                expected.into_iter().map(|(place, (_, since))| (place, since)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_manager_of_the_field_is_named_among_those_who_wrote() {
        let entry = |manager: &str, fields: Value| json!({"manager": manager, "operation": "Update", "time": "2026-11-21T14:00:00Z", "fieldsV1": fields});
        let version = |a: u32| {
            json!({"metadata": {"managedFields": [
            entry("m", json!({"f:spec": {"f:a": {}}})),
            entry("n", json!({"f:spec": {"f:b": {}}})),
        ]}, "spec": {"a": a, "b": 1, "c": a}})
        };
        let (first, second) = (version(1), version(2));
        let writers = |object: &Value| {
            let entries = ManagedEntry::of(object);
            Authors::of(entries.iter().map(|entry| entry.writer.clone()).collect())
        };
        let name = |tree: &OriginTree, field: &str| -> (OriginSource, Vec<String>) {
            let OriginTree::Members(members) = tree else {
                panic!("{tree:?}")
            };
            let OriginTree::Members(spec) = &members["spec"] else {
                panic!("{members:?}")
            };
            let OriginTree::Leaf(origin) = &spec[field] else {
                panic!("{spec:?}")
            };
            let names = origin.writers.iter().map(|writer| writer.manager.clone());
            (origin.source, names.collect())
        };
        let old = VersionOrigin {
            is_old: true,
            ..brought(1)
        };
        let entries = ManagedEntry::of(&first);
        let tree = OriginUpdate::new(&old, &entries).grow(None, &first);
        let at = RecordedAt::from_micros(1_795_269_600_000_000);
        assert_eq!(
            name(&tree, "a"),
            (OriginSource::ManagedFields(Some(at)), vec!["m".to_owned()])
        );
        assert_eq!(name(&tree, "c"), (OriginSource::Unknown, Vec::new()));
        let new = VersionOrigin {
            authors: writers(&second),
            ..brought(2)
        };
        let entries = ManagedEntry::of(&second);
        let tree = OriginUpdate::new(&new, &entries).grow(Some((&first, tree)), &second);
        let recorded = OriginSource::Recorded(Seq(2), RecordedAt::from_micros(0));
        assert_eq!(name(&tree, "a"), (recorded, vec!["m".to_owned()]));
        assert_eq!(name(&tree, "b").1, ["n"]);
        // Two managers wrote, and the field is not managed: the writer is not known.
        assert_eq!(name(&tree, "c"), (recorded, Vec::new()));
    }
}
