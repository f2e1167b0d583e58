//! Rules compared with a recording: a resource that the cluster does not have, and a field that its
//! resource does not have, are mistakes of the rule, not gaps of the recording.
//!
//! Only a recorder's reel tells which resources the cluster has; of an import or a damaged reel nothing is concluded.
//! The fields of Kubernetes' own kinds are known for clusters of up to some version.

use crate::applies::ClusterKind;
use crate::feed::Interest;
use crate::rule::{MonitorRule, ResourceName, RuleErrors, RuleMistake, RuleSet, RuleText, Watch};
use crate::verdict::MonitorTest;
use kubereel_format::{ResourceInfo, qualified};
use kubereel_history::{ExcludedResource, Moment, ResourceSchema, Timeline, nearest};
use std::collections::BTreeSet;

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
    let also = rule.also.values().flat_map(|choice| &choice.needs);
    let also = also.map(ResourceName::text);
    named.into_iter().chain(also).collect()
}

/// The resources of a cluster.
struct ServedResources<'a> {
    names: BTreeSet<String>,
    timeline: &'a Timeline,
}

impl<'a> ServedResources<'a> {
    /// Reads them; `None` of an import, and where damage may have taken some.
    fn of(timeline: &'a Timeline) -> Option<Self> {
        if timeline.reel().has_losses() {
            return None;
        }
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
        Some(Self { names, timeline })
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

    /// Reads the schema of a resource, if it has all fields that the cluster may have.
    fn schema(&self, name: &str) -> Option<ResourceSchema> {
        let timeline = self.timeline;
        let resource = timeline
            .resources()
            .iter()
            .find(|info| info.qualified() == name)?;
        let end = timeline.resolve(Moment::End).ok()?;
        // A definition that cannot be read judges nothing; the run reports the damage.
        let schema = ResourceSchema::published(timeline, resource, end).ok()??;
        schema.is_whole(timeline).then_some(schema)
    }

    fn wrong_fields(&self, text: &RuleText, interest: &Interest) -> Vec<RuleMistake> {
        let name = qualified(&interest.plural, &interest.group);
        let Some(schema) = self.schema(&name) else {
            return Vec::new();
        };
        let mut wrong: Vec<RuleMistake> = Vec::new();
        let paths: BTreeSet<&String> = interest.paths.iter().collect();
        for path in paths {
            let Some((field, near)) = schema.unknown_field(path) else {
                continue;
            };
            let hint = near.first().map_or_else(
                || format!("to see its fields: kubereel explain REEL {name} --recursive"),
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
