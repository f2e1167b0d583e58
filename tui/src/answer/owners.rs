//! Owns the tree of an object: who owns it, and what it owns all the way down, each with its state and
//! age. Refuses to follow names: an owner is known by its uid.

use super::here::{Here, here, unread};
use super::line::{Ink, Line, Target};
use crate::model::{Place, Subject};
use kubereel_format::{ResourceId, ResourceInfo, Seq};
use kubereel_history::{
    ColumnRoom, ObjectFilter, ObjectForm, OwnedObject, OwnedObjects, OwnerRef, Relatives,
    ResourceColumns, Timeline, harmless,
};
use std::collections::{BTreeMap, BTreeSet};

/// How deep the tree is followed.
const DEEPEST: usize = 8;

/// How many objects show below.
const MOST_BELOW: usize = 500;

/// The columns that say what state an object is in, besides its age.
const TOLD: [&str; 9] = [
    "READY",
    "STATUS",
    "PHASE",
    "AVAILABLE",
    "UP-TO-DATE",
    "COMPLETIONS",
    "PROGRESSING",
    "DEGRADED",
    "CAPACITY",
];

/// What the tree is made with.
struct Tree<'a> {
    timeline: &'a Timeline,
    place: Place,
    columns: BTreeMap<ResourceId, Option<ResourceColumns>>,
    below: BTreeMap<&'a str, Vec<&'a OwnedObject>>,
    shown: BTreeSet<Seq>,
    lines: Vec<Line>,
    left_out: usize,
}

/// Reads the lines; the object itself is to be seen first.
pub(super) fn read(timeline: &Timeline, subject: &Subject, place: Place) -> (Vec<Line>, usize) {
    let (info, held, lines) = match here(timeline, subject, place) {
        Ok(Here { info, held, lines }) => (info, held, lines),
        Err(lines) => return (lines, 0),
    };
    let both =
        Relatives::owners_of(timeline, held.seq, &held.namespace, place.cut()).and_then(|owners| {
            Ok((
                owners,
                OwnedObjects::of(timeline, &held.namespace, place.cut())?,
            ))
        });
    let (owners, owned) = match both {
        Ok(both) => both,
        Err(error) => {
            let mut lines = lines;
            lines.push(unread(&error));
            return (lines, 0);
        }
    };
    let mut below: BTreeMap<&str, Vec<&OwnedObject>> = BTreeMap::new();
    for object in &owned.objects {
        for uid in &object.owner_uids {
            below.entry(uid.as_str()).or_default().push(object);
        }
    }
    let mut tree = Tree {
        timeline,
        place,
        columns: BTreeMap::new(),
        below,
        shown: BTreeSet::new(),
        lines,
        left_out: 0,
    };
    if owners.is_empty() {
        tree.lines.push(Line::of(Ink::Faint, "nobody owns it"));
    }
    for owner in owners.iter().rev() {
        tree.owner(owner, &held.namespace);
    }
    let own = tree.lines.len();
    let state = tree.state(info, held.seq);
    let name = subject.written(timeline);
    let line = Line::of(Ink::Strong, format!("▶ {name}")).and(Ink::Faint, state);
    tree.lines.push(line);
    tree.shown.insert(held.seq);
    let uid = timeline.key_of(held.object).map(|key| key.uid.clone());
    let count = tree.lines.len();
    tree.children(&uid.unwrap_or_default(), 1);
    if tree.lines.len() == count {
        tree.lines.push(Line::of(Ink::Faint, "  it owns nothing"));
    }
    if tree.left_out > 0 {
        let words = format!("  and {} more", tree.left_out);
        tree.lines.push(Line::of(Ink::Faint, words));
    }
    if owned.unsearched > 0 {
        let words = format!(
            "░ {} resources are not known then: it may own some of theirs",
            owned.unsearched
        );
        tree.lines.push(Line::prose(Ink::Wary, words));
    }
    (tree.lines, own.saturating_sub(3))
}

impl<'a> Tree<'a> {
    fn owner(&mut self, owner: &OwnerRef, namespace: &str) {
        let kind = owner.kind.to_lowercase();
        let name = harmless(&format!("{kind} {}", owner.name)).into_owned();
        let controls = if owner.controller == Some(true) {
            ""
        } else {
            "  (does not control it)"
        };
        let line = Line::of(Ink::Faint, "↑ ").and(Ink::Plain, name);
        let line = match (owner.exists, self.found(owner, namespace)) {
            (Some(true), Some((subject, info, seq))) => {
                let state = self.state(info, seq);
                line.and(Ink::Faint, state).to(Target::Object(subject))
            }
            (Some(false), _) => line.and(Ink::Gone, "  was gone"),
            _ => line.and(Ink::Wary, "  ░ not recorded: not known"),
        };
        self.lines.push(line.and(Ink::Faint, controls));
    }

    /// Finds an owner that is known to exist.
    fn found(&self, owner: &OwnerRef, namespace: &str) -> Option<(Subject, &'a ResourceInfo, Seq)> {
        let api = owner.api_version.as_str();
        let (group, _) = api.split_once('/').unwrap_or(("", api));
        let timeline = self.timeline;
        let mut named = timeline.resources().iter();
        let named = named.find(|info| info.group == group && info.kind == owner.kind)?;
        let info = timeline.resource_at(named, self.place.cut());
        let only = [owner.name.clone()];
        let namespace = if info.namespaced { namespace } else { "" };
        let filter = ObjectFilter {
            namespace: info.namespaced.then_some(namespace),
            names: &only,
        };
        let state = timeline.as_of(info.id, self.place.cut(), &filter);
        let seq = state.objects.first()?.seq;
        let subject = Subject {
            resource: info.id,
            namespace: namespace.to_owned(),
            name: owner.name.clone(),
        };
        Some((subject, info, seq))
    }

    // The depth is bounded.
    fn children(&mut self, uid: &str, depth: usize) {
        if uid.is_empty() || depth > DEEPEST {
            return;
        }
        for child in self.below.get(uid).cloned().unwrap_or_default() {
            if !self.shown.insert(child.held.seq) {
                continue;
            }
            if self.shown.len() > MOST_BELOW {
                self.left_out += 1;
                continue;
            }
            let Some(info) = self.timeline.resources().get(child.resource) else {
                continue;
            };
            let subject = Subject {
                resource: child.resource,
                namespace: child.held.namespace.clone(),
                name: child.held.name.clone(),
            };
            let state = self.state(info, child.held.seq);
            let indent = "  ".repeat(depth);
            let own = subject.kind(self.timeline);
            let name = harmless(&format!("{own} {}", subject.name)).into_owned();
            let line = Line::of(Ink::Faint, format!("{indent}↓ "))
                .and(Ink::Plain, name)
                .and(Ink::Faint, state)
                .to(Target::Object(subject));
            self.lines.push(line);
            let key = self.timeline.key_of(child.held.object);
            let uid = key.map(|key| key.uid.clone()).unwrap_or_default();
            self.children(&uid, depth + 1);
        }
    }

    /// Says what state an object is in, and how old it is.
    fn state(&mut self, info: &ResourceInfo, seq: Seq) -> String {
        let (timeline, place) = (self.timeline, self.place);
        let columns = self.columns.entry(info.id).or_insert_with(|| {
            ResourceColumns::of(timeline, info, place.cut(), ColumnRoom::Narrow).ok()
        });
        let Some(columns) = columns else {
            return "  its columns cannot be read".to_owned();
        };
        let Ok(object) = timeline.object(seq, info, ObjectForm::default()) else {
            return "  it cannot be read".to_owned();
        };
        let mut told = String::new();
        let cells = columns.row(&object, place.at).into_iter();
        for (name, cell) in columns.names().into_iter().zip(cells) {
            if name == "AGE" {
                told.extend(["  ", &harmless(&cell), " old"]);
            } else if TOLD.contains(&name.as_str()) && !cell.is_empty() {
                told.extend(["  ", &name.to_lowercase(), " ", &harmless(&cell)]);
            }
        }
        told
    }
}
