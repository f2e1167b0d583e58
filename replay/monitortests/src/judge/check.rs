//! Rules compared with a recording: a resource that the cluster does not have, and a field that the
//! definition of a custom resource does not know, are mistakes of the rule, not gaps of the
//! recording.
//!
//! Only a recorder's reel tells which resources the cluster has; of an import nothing is concluded.
//! The fields of built-in resources are in no reel.

use crate::applies::ClusterKind;
use crate::feed::Interest;
use crate::rule::{MonitorRule, RuleErrors, RuleMistake, RuleSet, RuleText, Watch};
use crate::verdict::MonitorTest;
use kubereel_format::ResourceInfo;
use kubereel_history::{ExcludedResource, Moment, ObjectFilter, ObjectForm, Timeline, nearest};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");
const OPENSHIFT: &str = "config.openshift.io";
/// Events have two names.
const EVENTS: [&str; 2] = ["events", "events.events.k8s.io"];

impl RuleSet {
    /// Holds the rules against the resources and the definitions of a recording.
    ///
    /// A rule for other clusters, or for clusters with a resource that this one lacks (`appliesTo`), is
    /// left alone.
    ///
    /// # Errors
    /// When rules read resources or fields that do not exist: all mistakes at once.
    pub fn check(&self, timeline: &Timeline) -> Result<(), RuleErrors> {
        let Some(served) = ServedResources::of(timeline) else {
            return Ok(());
        };
        let mut mistakes = Vec::new();
        let tests = self.tests();
        for ((rule, text), mut test) in self.texts().zip(tests) {
            if !served.is_for(rule) {
                continue;
            }
            let interests = test.watcher().map(|watcher| watcher.interests());
            let interests = interests.unwrap_or_default();
            for resource in resources(rule, test.as_ref()) {
                mistakes.extend(served.wrong_resource(text, &resource));
            }
            for interest in &interests {
                mistakes.extend(served.wrong_fields(text, interest));
            }
        }
        if mistakes.is_empty() {
            Ok(())
        } else {
            Err(RuleErrors { mistakes })
        }
    }
}

/// Returns the resources that a rule names itself.
fn resources(rule: &MonitorRule, test: &dyn MonitorTest) -> BTreeSet<String> {
    let needs = test.needs();
    let named = match &rule.watch {
        Watch::Objects(_) => needs.objects,
        // What its intervals are made of is not named by the rule, unless it says so.
        Watch::Intervals(choice) if !choice.needs.is_empty() => needs.seen,
        Watch::Intervals(_) => Vec::new(),
    };
    named.into_iter().collect()
}

/// The resources of a cluster, and the schemas of its custom ones.
struct ServedResources {
    names: BTreeSet<String>,
    schemas: BTreeMap<String, Value>,
}

impl ServedResources {
    /// Reads them; `None` of an import.
    fn of(timeline: &Timeline) -> Option<Self> {
        let table = timeline.resources();
        let is_imported = |info: &ResourceInfo| {
            let coverage = timeline.coverage(info.id);
            coverage.is_some_and(|coverage| coverage.imported().is_some())
        };
        if table.iter().any(is_imported) {
            return None;
        }
        let mut names: BTreeSet<String> = table.iter().map(ResourceInfo::qualified).collect();
        names.extend(table.excluded().iter().map(ExcludedResource::qualified));
        if EVENTS.iter().any(|name| names.contains(*name)) {
            names.extend(EVENTS.map(str::to_owned));
        }
        Some(Self {
            names,
            schemas: schemas(timeline),
        })
    }

    fn is_for(&self, rule: &MonitorRule) -> bool {
        let applies = &rule.about.applies_to;
        let is_openshift = || self.names.iter().any(|name| name.ends_with(OPENSHIFT));
        applies
            .resources
            .iter()
            .all(|name| self.names.contains(name))
            && (applies.cluster == ClusterKind::Any || is_openshift())
    }

    fn wrong_resource(&self, text: &RuleText, resource: &str) -> Option<RuleMistake> {
        if self.names.contains(resource) {
            return None;
        }
        let plural = resource.split('.').next().unwrap_or(resource);
        let same = |name: &&String| name.split('.').next() == Some(plural);
        let near = self.names.iter().find(same).cloned();
        let near = near.or_else(|| {
            let names = self.names.iter().map(String::as_str);
            nearest(resource, names).into_iter().next()
        });
        let near = near.or_else(|| {
            let plurals = self.names.iter().filter_map(|name| name.split('.').next());
            let near = nearest(plural, plurals).into_iter().next()?;
            let same = |name: &&String| name.split('.').next() == Some(near.as_str());
            self.names.iter().find(same).cloned()
        });
        let hint = near.map_or_else(
            || {
                format!(
                    "a rule for clusters that have it says `appliesTo: {{resources: [{resource}]}}`"
                )
            },
            |near| format!("did you mean `{near}`?"),
        );
        let what = format!("the recorded cluster has no resource `{resource}`");
        Some(text.mistake(resource, what, hint))
    }

    fn wrong_fields(&self, text: &RuleText, interest: &Interest) -> Vec<RuleMistake> {
        let name = match interest.group.as_str() {
            "" => interest.plural.clone(),
            group => format!("{}.{group}", interest.plural),
        };
        let Some(schema) = self.schemas.get(&name) else {
            return Vec::new();
        };
        let mut wrong: Vec<RuleMistake> = Vec::new();
        let paths: BTreeSet<&String> = interest.paths.iter().collect();
        for path in paths {
            let Some((field, near)) = unknown_field(schema, path) else {
                continue;
            };
            let hint = near.map_or_else(
                || format!("to see its definition: kubereel get REEL crd {name} -o yaml"),
                |near| format!("did you mean `{near}`?"),
            );
            let what = format!("{name} has no field `{field}`");
            let word = field.rsplit('.').next().unwrap_or(&field);
            let mistake = text.mistake(word, what, hint);
            if !wrong.contains(&mistake) {
                wrong.push(mistake);
            }
        }
        wrong
    }
}

/// Reads the schemas of the versions of custom resources that are recorded, by `plural.group`.
fn schemas(timeline: &Timeline) -> BTreeMap<String, Value> {
    let mut schemas = BTreeMap::new();
    let table = timeline.resources();
    let is_definition =
        |info: &&ResourceInfo| (info.group.as_str(), info.plural.as_str()) == DEFINITIONS;
    let (Some(definitions), Ok(end)) = (
        table.iter().find(is_definition),
        timeline.resolve(Moment::End),
    ) else {
        return schemas;
    };
    let held = timeline.as_of(definitions.id, end, &ObjectFilter::default());
    for version in held.objects {
        // A definition that cannot be read judges nothing; the run reports the damage.
        let Ok(object) = timeline.object(version.seq, definitions, ObjectForm::WHOLE) else {
            continue;
        };
        let of_version = |name: &str| {
            let versions = object.pointer("/spec/versions")?.as_array()?;
            let version = versions
                .iter()
                .find(|one| one.get("name").and_then(Value::as_str) == Some(name))?;
            version.pointer("/schema/openAPIV3Schema").cloned()
        };
        let same = |info: &&ResourceInfo| info.qualified() == version.name;
        let recorded = table.iter().find(same).map(|info| info.version.as_str());
        if let Some(schema) = recorded.and_then(of_version) {
            schemas.insert(version.name, schema);
        }
    }
    schemas
}

/// Returns the part of a path that a schema does not know, and the known name that looks most like it.
fn unknown_field(schema: &Value, path: &str) -> Option<(String, Option<String>)> {
    let mut here = schema;
    let mut passed: Vec<&str> = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        while let Some(items) = here.get("items") {
            here = items;
        }
        let is_open = here.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
            || here.get("additionalProperties").is_some();
        let is_meta = passed.is_empty() && matches!(part, "metadata" | "apiVersion" | "kind");
        let properties = here.get("properties").and_then(Value::as_object)?;
        if is_open || is_meta {
            return None;
        }
        passed.push(part);
        let Some(next) = properties.get(part) else {
            let near = nearest(part, properties.keys().map(String::as_str));
            return Some((passed.join("."), near.into_iter().next()));
        };
        here = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_that_a_schema_does_not_know_is_found_with_the_nearest_that_it_knows() {
        let schema = json!({"properties": {
            "metadata": {"type": "object"},
            "spec": {"properties": {
                "free": {"x-kubernetes-preserve-unknown-fields": true, "properties": {}},
                "labels": {"additionalProperties": {"type": "string"}},
            }},
            "status": {"properties": {"conditions": {"items": {"properties": {
                "type": {}, "lastTransitionTime": {},
            }}}}},
        }});
        for path in [
            "",
            "metadata.anything.at.all",
            "spec.free.x",
            "spec.labels.app",
            "status.conditions.type",
        ] {
            assert_eq!(unknown_field(&schema, path), None, "{path}");
        }
        let wrong = |path| unknown_field(&schema, path);
        assert_eq!(
            wrong("status.conditions.typ"),
            Some(("status.conditions.typ".to_owned(), Some("type".to_owned())))
        );
        assert_eq!(wrong("zebra"), Some(("zebra".to_owned(), None)));
    }
}
