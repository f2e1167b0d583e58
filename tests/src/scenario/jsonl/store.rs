//! The objects there are, as the API server keeps them: it gives uids, versions and generations,
//! notes who set which fields, and says every change as a line.
//!
//! Objects are kept as the text that was said last: the memory of a run is that of its live objects.
//! Refuses to know what the changes mean.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::clock::Instant;
use super::kinds::Served;
use super::lines::{Lines, What};
use super::owned::{self, Fields};
use super::random::Random;
use super::shape::shape_of;
use super::{defaults, order};
use crate::rest::Target;

/// A change, for those who react to it.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) target: Target,
    pub(super) what: What,
    pub(super) object: Value,
}

pub(super) struct Store<'w> {
    pub(super) lines: Lines<'w>,
    pub(super) now: Instant,
    pub(super) random: Random,
    objects: BTreeMap<Target, Box<str>>,
    version: u64,
    pub(super) seen: VecDeque<Seen>,
    pub(super) live_most: usize,
    /// The Services' addresses given so far.
    addresses: u64,
}

/// In which way something is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    Update,
    /// By the subresource of the status.
    Status,
    /// By server-side apply.
    Apply,
}

impl As {
    fn operation(self) -> &'static str {
        if self == Self::Apply {
            "Apply"
        } else {
            "Update"
        }
    }

    fn subresource(self) -> Option<&'static str> {
        (self == Self::Status).then_some("status")
    }
}

/// The resourceVersion that the first object gets.
const FIRST_VERSION: u64 = 5;

impl<'w> Store<'w> {
    pub(super) fn new(lines: Lines<'w>, now: Instant, seed: u64) -> Self {
        Self {
            lines,
            now,
            random: Random::new(seed),
            objects: BTreeMap::new(),
            version: FIRST_VERSION,
            seen: VecDeque::new(),
            live_most: 0,
            addresses: 0,
        }
    }

    pub(super) fn live(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn has(&self, target: &Target) -> bool {
        self.objects.contains_key(target)
    }

    /// An object as it is now.
    pub(super) fn get(&self, target: &Target) -> Option<Value> {
        // What was written here can be read.
        serde_json::from_str(self.objects.get(target)?).ok()
    }

    /// The names of a kind's objects in a namespace.
    pub(super) fn in_namespace(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
    ) -> Vec<Target> {
        let from = Target::namespaced(api_version, kind, namespace, "");
        self.objects
            .range(from..)
            .map(|(target, _)| target)
            .take_while(|target| {
                target.kind == kind
                    && target.api_version == api_version
                    && target.namespace.as_deref() == Some(namespace)
            })
            .cloned()
            .collect()
    }

    /// All objects of a kind.
    pub(super) fn all(&self, api_version: &str, kind: &str) -> Vec<Target> {
        let from = Target::cluster_wide(api_version, kind, "");
        self.objects
            .range(from..)
            .map(|(target, _)| target)
            .take_while(|target| target.kind == kind && target.api_version == api_version)
            .cloned()
            .collect()
    }

    /// Every write takes the server a moment.
    fn next_version(&mut self) -> String {
        let micros = self.random.between(180, 1_400);
        self.now.0 += i64::try_from(micros).unwrap_or_default();
        self.version += 1;
        self.version.to_string()
    }

    /// Creates an object; gives its uid, `None` if there is one already or nobody serves the kind.
    pub(super) fn create(&mut self, by: &str, object: Value) -> Option<String> {
        self.create_as(by, As::Update, object)
    }

    /// Creates an object by an update or by server-side apply.
    pub(super) fn create_as(&mut self, by: &str, way: As, mut object: Value) -> Option<String> {
        if object["metadata"]["name"].is_null() {
            let start = object["metadata"]["generateName"].as_str()?;
            object["metadata"]["name"] = json!(format!("{start}{}", self.random.suffix(5)));
        }
        let target = Target::of(&object)?;
        let served = Served::of(&target.api_version, &target.kind)?;
        if self.has(&target) {
            return None;
        }
        if target.kind == "Service" {
            self.addresses += 1;
            let address = format!(
                "10.96.{}.{}",
                self.addresses / 250,
                4 + self.addresses % 250
            );
            object["spec"]["clusterIP"] = json!(address);
        }
        defaults::fill(&mut object);
        let uid = self.random.uuid();
        let fields = owned::changed(shape_of(&target.kind), &Value::Null, &object);
        if target.kind == "Pod" {
            let suffix = self.random.suffix(5);
            defaults::admit(&mut object, &suffix);
        }
        let status_of_its_own = !matches!(target.kind.as_str(), "Event" | "Lease" | "Endpoints");
        object["metadata"]["uid"] = json!(uid);
        object["metadata"]["creationTimestamp"] = json!(self.now.seconds());
        if served.has_generation {
            object["metadata"]["generation"] = json!(1);
        }
        let mut fields = fields;
        if status_of_its_own {
            fields.remove("f:status");
        }
        // Nobody applied the account that every namespace has.
        if target.kind != "ServiceAccount" {
            own(&mut object, by, way, &fields, &self.now.seconds());
        }
        self.say(target, What::Added, object);
        Some(uid)
    }

    /// Changes an object, or nothing if nothing is other than before; true when there was a change.
    pub(super) fn update(
        &mut self,
        by: &str,
        target: &Target,
        way: As,
        edit: impl FnOnce(&mut Value),
    ) -> bool {
        let (Some(before), Some(served)) = (
            self.get(target),
            Served::of(&target.api_version, &target.kind),
        ) else {
            return false;
        };
        let mut after = before.clone();
        edit(&mut after);
        if before == after {
            return false;
        }
        let is_new_generation = ["spec", "endpoints"]
            .iter()
            .any(|part| before.get(part) != after.get(part));
        let is_dying =
            before["metadata"]["deletionTimestamp"] != after["metadata"]["deletionTimestamp"];
        if served.has_generation
            && (is_dying || is_new_generation && !(target.kind == "Pod" && by == "kube-scheduler"))
        {
            let generation = before["metadata"]["generation"].as_i64().unwrap_or(0);
            after["metadata"]["generation"] = json!(generation + 1);
        }
        // Binding a Pod leaves no manager behind, as on a real server.
        if by != "kube-scheduler" && !is_dying {
            let fields = owned::changed(shape_of(&target.kind), &before, &after);
            own(&mut after, by, way, &fields, &self.now.seconds());
        }
        self.say(target.clone(), What::Modified, after);
        true
    }

    /// Takes an object away.
    pub(super) fn remove(&mut self, target: &Target) -> bool {
        let Some(object) = self.get(target) else {
            return false;
        };
        self.say(target.clone(), What::Deleted, object);
        true
    }

    fn say(&mut self, target: Target, what: What, mut object: Value) {
        let Some(served) = Served::of(&target.api_version, &target.kind) else {
            return;
        };
        object["metadata"]["resourceVersion"] = json!(self.next_version());
        let mut text = String::new();
        order::write(&object, shape_of(&target.kind), &mut text);
        self.lines.put(self.now, what, &served, &text);
        if what == What::Deleted {
            self.objects.remove(&target);
        } else {
            self.objects.insert(target.clone(), text.into_boxed_str());
            self.live_most = self.live_most.max(self.objects.len());
        }
        self.seen.push_back(Seen {
            target,
            what,
            object,
        });
    }
}

/// Notes that a manager set fields: others lose them.
fn own(object: &mut Value, by: &str, way: As, fields: &Fields, at: &str) {
    if fields.is_empty() {
        return;
    }
    let api_version = object["apiVersion"].clone();
    let mut entries = match object["metadata"]["managedFields"].take() {
        Value::Array(entries) => entries,
        _ => Vec::new(),
    };
    let is_own = |entry: &Value| {
        entry["manager"] == by
            && entry["operation"] == way.operation()
            && entry["subresource"].as_str() == way.subresource()
    };
    let mut own = Fields::new();
    for entry in &mut entries {
        let is_own = is_own(entry);
        if let Value::Object(set) = &mut entry["fieldsV1"] {
            if is_own {
                own = std::mem::take(set);
            } else {
                owned::take(set, fields);
            }
        }
    }
    entries.retain(|entry| {
        !is_own(entry)
            && entry["fieldsV1"]
                .as_object()
                .is_some_and(|set| !set.is_empty())
    });
    owned::add(&mut own, fields);
    let mut entry = json!({
        "manager": by,
        "operation": way.operation(),
        "apiVersion": api_version,
        "time": at,
        "fieldsType": "FieldsV1",
        "fieldsV1": own,
    });
    if let Some(subresource) = way.subresource() {
        entry["subresource"] = json!(subresource);
    }
    entries.push(entry);
    object["metadata"]["managedFields"] = Value::Array(entries);
}
