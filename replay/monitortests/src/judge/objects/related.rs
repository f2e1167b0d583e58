//! The other objects that a rule reads, as they are at the moment, and how those of one object are found.

use crate::cel::{EvalError, Slots, Val, matches_selector};
use crate::feed::{Action, Fields, WatchedEvent};
use crate::reading;
use crate::rule::{RelatedBy, RelatedObjects, place};
use kubereel_format::ObjectId;
use serde_json::Value;
use std::collections::BTreeMap;

/// The objects of one `related`.
#[derive(Debug, Default)]
pub(super) struct RelatedIndex {
    /// By namespace.
    by_namespace: BTreeMap<String, BTreeMap<ObjectId, Value>>,
    /// By name and namespace.
    by_name: BTreeMap<(String, String), ObjectId>,
}

impl RelatedIndex {
    /// Takes what happened to an object.
    pub(super) fn take(&mut self, seen: &WatchedEvent<'_>, fields: &Fields) {
        let namespace = seen.key.namespace.to_owned();
        let name = (seen.key.name.to_owned(), namespace.clone());
        let objects = self.by_namespace.entry(namespace).or_default();
        if seen.action == Action::Gone {
            objects.remove(&seen.object);
            // An object of the same name may have come already.
            if self.by_name.get(&name) == Some(&seen.object) {
                self.by_name.remove(&name);
            }
        } else {
            objects.insert(seen.object, fields.cut(seen.now));
            self.by_name.insert(name, seen.object);
        }
    }

    fn get(&self, namespace: &str, name: &str) -> Option<&Value> {
        let id = self.by_name.get(&(name.to_owned(), namespace.to_owned()))?;
        self.by_namespace.get(namespace)?.get(id)
    }

    /// Returns those of a name in all namespaces.
    fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Value> {
        let from = (name.to_owned(), String::new());
        let all = self.by_name.range(from..);
        let same = all.take_while(move |((one, _), _)| one == name);
        same.filter_map(|((_, namespace), id)| self.by_namespace.get(namespace)?.get(id))
    }

    fn within<'a>(&'a self, namespace: Option<&str>) -> impl Iterator<Item = &'a Value> {
        let own = namespace.map(|namespace| self.by_namespace.get(namespace));
        let (own, all) = match own {
            Some(own) => (own, None),
            None => (None, Some(self.by_namespace.values())),
        };
        own.into_iter()
            .chain(all.into_iter().flatten())
            .flat_map(BTreeMap::values)
    }

    /// Finds those of an object, which the slots hold already.
    pub(super) fn of<'a>(
        &'a self,
        related: &'a RelatedObjects,
        namespace: &str,
        object: &Value,
        slots: &Slots<'a>,
    ) -> Result<Vec<&'a Value>, EvalError> {
        let is_everywhere = related.is_anywhere || namespace.is_empty();
        let place = (!is_everywhere).then_some(namespace);
        let mut found = Vec::new();
        match &related.by {
            RelatedBy::Name(program) => {
                let name = match program.value(slots) {
                    Ok(Val::Text(name)) => name,
                    Ok(other) => {
                        let what =
                            format!("`{}` must be a name, found {}", program.text, other.kind());
                        return Err(EvalError::Wrong { what });
                    }
                    Err(fault) => return Err(fault),
                };
                if is_everywhere {
                    found.extend(self.named(&name));
                } else {
                    // A name may be that of a cluster-scoped object.
                    let own = self.get(namespace, &name);
                    found.extend(own.or_else(|| self.get("", &name)));
                }
            }
            RelatedBy::Owned => {
                let uid = uid(object);
                found.extend(self.within(place).filter(|other| {
                    uid.is_some_and(|uid| owners(other).any(|owner| owner == uid))
                }));
            }
            RelatedBy::Owner => {
                found.extend(self.within(place).filter(|other| {
                    uid(other).is_some_and(|uid| owners(object).any(|owner| owner == uid))
                }));
            }
            RelatedBy::SelectedBy(program) => {
                let selector = program.value(slots)?;
                for other in self.within(place) {
                    let labels = reading::at(other, "/metadata/labels").unwrap_or(&Value::Null);
                    if matches_selector(&selector, &Val::json(labels))? {
                        found.push(other);
                    }
                }
            }
            RelatedBy::Selecting(program) => {
                let labels = program.value(slots)?;
                for other in self.within(place) {
                    let selector =
                        reading::at(other, "/spec/selector").filter(|one| one.is_object());
                    let is_selected =
                        selector.map(|selector| matches_selector(&Val::json(selector), &labels));
                    if is_selected.unwrap_or(Ok(false))? {
                        found.push(other);
                    }
                }
            }
            RelatedBy::Where(program) => {
                let mut slots = slots.clone();
                for other in self.within(place) {
                    slots.set(place::OTHER, Some(Val::json(other)));
                    if program.truth(&slots)? {
                        found.push(other);
                    }
                }
            }
        }
        Ok(found)
    }
}

fn uid(object: &Value) -> Option<&str> {
    reading::at(object, "/metadata/uid").and_then(Value::as_str)
}

fn owners(object: &Value) -> impl Iterator<Item = &str> {
    let owners = reading::at(object, "/metadata/ownerReferences");
    let owners = owners.and_then(Value::as_array).into_iter().flatten();
    owners.filter_map(|owner| owner.get("uid").and_then(Value::as_str))
}
