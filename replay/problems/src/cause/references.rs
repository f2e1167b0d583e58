//! The references in the specification of a custom resource: `fooRef.name`, `fooName`, and members with a `kind` and a
//! `name`. A custom resource that it refers to is read in turn.

use super::named_objects::{NamedObjects, named_by};
use super::onset::OnsetObjects;
use kubereel_format::ResourceInfo;
use kubereel_history::field::text;
use serde_json::Value;
use std::collections::BTreeSet;

/// Fields below this many levels are not searched for references.
const MOST_DEPTH: u8 = 8;
/// Custom resources further away than this are not read.
const MOST_DISTANCE: u8 = 3;
/// The name of a field that is shorter than this names no kind.
const SHORTEST_FIELD: usize = 5;

/// The search for references in one namespace.
pub(super) struct ReferenceSearch<'s, 'a> {
    onset: OnsetObjects<'a>,
    namespace: &'s str,
    named: &'s mut NamedObjects,
}

/// How far a search for references has come.
#[derive(Clone, Copy)]
struct ReferenceDepth {
    /// The steps from the problem to the object that is read.
    distance: u8,
    /// The levels from its specification.
    depth: u8,
}

impl ReferenceDepth {
    const fn of(distance: u8) -> Self {
        Self { distance, depth: 0 }
    }

    const fn deeper(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }
}

impl<'s, 'a> ReferenceSearch<'s, 'a> {
    pub(super) const fn new(
        onset: OnsetObjects<'a>,
        namespace: &'s str,
        named: &'s mut NamedObjects,
    ) -> Self {
        Self {
            onset,
            namespace,
            named,
        }
    }

    /// Takes what the specification of an object of the problem refers to, but for that of its Pods.
    pub(super) fn take_spec(&mut self, body: &Value) {
        let Some(mut spec) = body.get("spec").cloned() else {
            return;
        };
        for template in ["template", "jobTemplate"] {
            let is_of_pods = ["spec/containers", "spec/template/spec/containers"]
                .iter()
                .any(|at| spec.pointer(&format!("/{template}/{at}")).is_some());
            if let Some(members) = spec.as_object_mut().filter(|_| is_of_pods) {
                members.remove(template);
            }
        }
        self.take(&spec, "", ReferenceDepth::of(1));
    }

    fn take(&mut self, value: &Value, field: &str, at: ReferenceDepth) {
        match value {
            Value::Object(members) if at.depth < MOST_DEPTH => {
                self.take_object(value, field, at.distance);
                for (member, value) in members {
                    let is_ref = field.ends_with("Ref") && member == "name";
                    let is_name =
                        member != "name" && (member.ends_with("Name") || member.ends_with("Ref"));
                    if let Some(name) = value.as_str() {
                        if is_ref || is_name {
                            let field = if is_ref { field } else { member };
                            self.named.add_of_any_kind(name, at.distance, field);
                        } else {
                            self.take_plain(member, name, at.distance);
                        }
                    }
                    self.take(value, member, at.deeper());
                }
            }
            Value::Array(list) if at.depth < MOST_DEPTH => {
                let singular = field.strip_suffix('s').unwrap_or(field);
                for item in list {
                    self.take(item, singular, at.deeper());
                }
            }
            _ => {}
        }
    }

    /// Takes what an object of a specification names by its members `kind`, `namespace` and `name`.
    fn take_object(&mut self, value: &Value, field: &str, distance: u8) {
        let name = text(value, "/name");
        let kind = match text(value, "/kind") {
            "" => self.kind_of_field(field),
            kind => Some(kind.to_owned()),
        };
        let Some(kind) = kind else {
            // One key of a Secret or `ConfigMap`.
            if !name.is_empty() && !text(value, "/key").is_empty() {
                self.named.add_of_any_kind(name, distance, field);
            }
            return;
        };
        if name.is_empty() || field.is_empty() {
            return;
        }
        let at = match text(value, "/namespace") {
            "" => self.namespace,
            other => other,
        };
        let via = named_by(field);
        self.named.add(&kind, at, name, distance, &via);
        self.named.add(&kind, "", name, distance, &via);
        self.follow(&kind, at, name, distance);
    }

    /// Takes a field that names a custom resource by the end of its kind, as `storageLocation` names a
    /// `BackupStorageLocation`.
    fn take_plain(&mut self, field: &str, name: &str, distance: u8) {
        if field.len() < SHORTEST_FIELD {
            return;
        }
        let wanted = field.to_lowercase();
        let infos = self.onset.infos();
        let meant = infos.filter(|info| {
            is_custom(info)
                && info.kind.to_lowercase().ends_with(&wanted)
                && self.onset.has(info.id, self.namespace, name)
        });
        let kinds: BTreeSet<&str> = meant.map(|info| info.kind.as_str()).collect();
        for kind in kinds {
            self.named
                .add(kind, self.namespace, name, distance, &named_by(field));
            self.follow(kind, self.namespace, name, distance);
        }
    }

    /// Returns the recorded kind that a field means by its name: `secretRef`, `providerConfigRef`, `service`.
    fn kind_of_field(&self, field: &str) -> Option<String> {
        let stem = field.strip_suffix("Ref");
        let wanted = stem.unwrap_or(field).to_lowercase();
        let kinds = self.onset.infos().map(|info| &info.kind);
        let meant = kinds.filter(|kind| {
            let kind = kind.to_lowercase();
            wanted == kind || stem.is_some() && wanted.ends_with(&kind)
        });
        meant.max_by_key(|kind| kind.len()).cloned()
    }

    /// Takes what a custom resource refers to that another one names.
    fn follow(&mut self, kind: &str, at: &str, name: &str, distance: u8) {
        let mut infos = self.onset.infos();
        let is_custom = infos.any(|info| info.kind == kind && is_custom(info));
        if distance >= MOST_DISTANCE || !is_custom {
            return;
        }
        let body = self.onset.body(kind, at, name);
        let body = body.or_else(|| self.onset.body(kind, "", name));
        if let Some(spec) = body.as_ref().and_then(|body| body.get("spec")) {
            let mut search = ReferenceSearch::new(self.onset, at, self.named);
            search.take(spec, "", ReferenceDepth::of(distance + 1));
        }
    }
}

/// Returns whether a resource is one that a definition adds.
fn is_custom(info: &ResourceInfo) -> bool {
    info.group.contains('.') && !info.group.ends_with(".k8s.io")
}
