//! The origins of an object's fields: which version brought each value, and who wrote it. They are carried from version
//! to version; marks on the way save reading the versions in front of them again.

use crate::changes::{count, is_same_scalar, matched};
use crate::writers::{Authors, FieldWriter, ManagedEntry, OwnedFields};
use kubereel_format::{ObjectId, RecordedAt, Seq};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A version, as far as origins need it.
pub(crate) struct VersionOrigin {
    pub(crate) seq: Seq,
    pub(crate) at: RecordedAt,
    pub(crate) authors: Authors,
    /// Whether the values of this version may be older than it: it is the first known one, and the
    /// creation was not observed.
    pub(crate) is_old: bool,
    /// Whether versions may be missing before it, or it was received late.
    pub(crate) is_after_gap: bool,
}

/// The origin of a value, without the value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FieldOrigin {
    pub(crate) source: OriginSource,
    pub(crate) writers: Vec<FieldWriter>,
    pub(crate) may_be_older: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OriginSource {
    Recorded(Seq, RecordedAt),
    ManagedFields(Option<RecordedAt>),
    Unknown,
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
pub(crate) enum OriginTree {
    /// A value without members.
    Leaf(Arc<FieldOrigin>),
    /// The origins of an object's members.
    Members(BTreeMap<String, Self>),
    /// The origins of a list's items.
    Items(Vec<Self>),
}

/// One step from a version to the next.
pub(crate) struct OriginUpdate<'a> {
    brought: &'a VersionOrigin,
    entries: &'a [ManagedEntry<'a>],
    /// The managedFields: nobody asks for their origins.
    managers: Option<&'a Value>,
    /// Origins of this step, each once.
    known: BTreeMap<FieldOrigin, Arc<FieldOrigin>>,
}

impl<'a> OriginUpdate<'a> {
    pub(crate) fn new(brought: &'a VersionOrigin, entries: &'a [ManagedEntry<'a>]) -> Self {
        Self {
            brought,
            entries,
            managers: None,
            known: BTreeMap::new(),
        }
    }

    /// Returns the origins of a version from the version before and its origins.
    pub(crate) fn grow(&mut self, old: Option<(&Value, OriginTree)>, new: &'a Value) -> OriginTree {
        self.managers = new.pointer("/metadata/managedFields");
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
            hidden if self.managers.is_some_and(|own| std::ptr::eq(own, hidden)) => {
                OriginTree::Items(Vec::new())
            }
            Value::Object(members) if !members.is_empty() => {
                let (old_members, mut origins) = match old {
                    Some((Value::Object(members), OriginTree::Members(origins))) => {
                        (Some(members), origins)
                    }
                    _ => (None, BTreeMap::new()),
                };
                origins.retain(|name, _| members.contains_key(name));
                for (name, new) in members {
                    let before = old_members.and_then(|members| members.get(name));
                    match before.zip(origins.get_mut(name)) {
                        // Most fields stay as they were from version to version.
                        Some((before, _)) if before == new => {}
                        Some((before, tree)) => {
                            let own = std::mem::replace(tree, OriginTree::Items(Vec::new()));
                            let old = Some((before, own));
                            *tree = self.value(Some(name), old, new, &owned.member(name));
                        }
                        None => {
                            let tree = self.value(Some(name), None, new, &owned.member(name));
                            origins.insert(name.clone(), tree);
                        }
                    }
                }
                OriginTree::Members(origins)
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
            match before.and_then(|at| old.get(at)).zip(tree) {
                Some((old, tree)) if old == item => tree,
                old => self.value(None, old, item, &items.item(at, item)),
            }
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
            .or_insert_with(|| Arc::new(origin));
        OriginTree::Leaf(Arc::clone(shared))
    }
}

/// How far the versions of an object were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct OriginWalk {
    /// How many of them, from the first one.
    pub(crate) versions: usize,
    /// The last one that could be read, the origins of its fields, and its time.
    pub(crate) last: Option<(Value, OriginTree, RecordedAt)>,
    /// Those that could not be read.
    pub(crate) unreadable: Vec<Seq>,
    /// Whether that is so of the last one.
    pub(crate) is_torn: bool,
}

/// How many versions lie between marks, unless that takes too much memory.
const MARK_SPACING: usize = 8;

/// How many fields and unreadable versions the marks keep; each takes about 200 bytes.
const MOST_MARKED: usize = 32_768;

/// Marks on the way through the versions of the object that was asked for last, so that a version near one that was
/// asked for before costs a few versions, and not all before it.
///
/// Invariants: no mark is right behind an unreadable version, because asking for that one is an error; a mark holds
/// what reading all versions up to it gave.
#[derive(Debug)]
pub(crate) struct OriginMarks {
    /// The most of them of the marks on the way, and of the last version that was asked for.
    most_fields: usize,
    object: Option<ObjectId>,
    /// Each mark behind a multiple of this many versions.
    spacing: usize,
    marks: BTreeMap<usize, (OriginWalk, usize)>,
    /// The last version that was asked for.
    reached: Option<(OriginWalk, usize)>,
}

impl Default for OriginMarks {
    fn default() -> Self {
        Self::new(MOST_MARKED)
    }
}

impl OriginMarks {
    const fn new(most_fields: usize) -> Self {
        Self {
            most_fields,
            object: None,
            spacing: MARK_SPACING,
            marks: BTreeMap::new(),
            reached: None,
        }
    }

    /// Returns the mark from which the fewest versions lead to the first `versions` ones.
    pub(crate) fn nearest(&mut self, object: ObjectId, versions: usize) -> OriginWalk {
        if self.object != Some(object) {
            *self = Self {
                object: Some(object),
                ..Self::new(self.most_fields)
            };
        }
        let passed = self.marks.range(..=versions).next_back();
        let all = passed.map(|(_, mark)| mark).into_iter();
        let all = all.chain(&self.reached).map(|(walk, _)| walk);
        let before = all.filter(|walk| walk.versions <= versions);
        let nearest = before.max_by_key(|walk| walk.versions);
        nearest.cloned().unwrap_or_default()
    }

    /// Takes note of a version on the way.
    pub(crate) fn pass(&mut self, object: ObjectId, walk: &OriginWalk) {
        if walk.versions.is_multiple_of(self.spacing) {
            if let Some(mark) = self.mark(object, walk) {
                self.marks.insert(walk.versions, mark);
            }
            while self.fields() > self.most_fields {
                self.spacing = self.spacing.saturating_mul(2);
                let spacing = self.spacing;
                self.marks.retain(|at, _| at.is_multiple_of(spacing));
            }
        }
    }

    /// Takes note of the version that was asked for.
    pub(crate) fn reach(&mut self, object: ObjectId, walk: &OriginWalk) {
        self.reached = self.mark(object, walk);
    }

    fn mark(&self, object: ObjectId, walk: &OriginWalk) -> Option<(OriginWalk, usize)> {
        let (value, ..) = walk.last.as_ref()?;
        // Another thread may have asked for another object.
        let is_wanted = self.object == Some(object) && !walk.is_torn;
        let fields = count(value).saturating_add(walk.unreadable.len());
        (is_wanted && fields <= self.most_fields).then(|| (walk.clone(), fields))
    }

    fn fields(&self) -> usize {
        self.marks.values().map(|(_, fields)| fields).sum()
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

    proptest! {
        #[test]
        fn a_mark_leads_to_what_reading_all_versions_gives(
            versions in proptest::collection::vec(version(), 1..60),
            asked in proptest::collection::vec((0u32..2, any::<proptest::sample::Index>()), 1..20),
            most_fields in 0..100_usize,
        ) {
            let step = |mut walk: OriginWalk, value: &Value| {
                walk.versions += 1;
                let at = RecordedAt::from_micros(0);
                walk.last = Some((value.clone(), OriginTree::Items(Vec::new()), at));
                walk.unreadable.push(Seq(walk.versions.try_into().unwrap()));
                walk
            };
            let mut marks = OriginMarks::new(most_fields);
            for (object, wanted) in asked {
                let (object, wanted) = (ObjectId(object), wanted.index(versions.len()) + 1);
                let mut walk = marks.nearest(object, wanted);
                prop_assert!(walk.versions <= wanted);
                for value in &versions[walk.versions..wanted] {
                    walk = step(walk, value);
                    marks.pass(object, &walk);
                }
                marks.reach(object, &walk);
                prop_assert!(marks.fields() <= most_fields);
                let all = versions[..wanted].iter().fold(OriginWalk::default(), step);
                let value = |walk: &OriginWalk| walk.last.as_ref().map(|(value, ..)| value.clone());
                prop_assert_eq!(value(&walk), value(&all));
                prop_assert_eq!(walk.unreadable, all.unreadable);
            }
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
