//! Where intervals and findings end whose objects were not observed up to the end of the recording. It does not
//! handle intervals that a later record ends.

use crate::interval::{Interval, Level, Locator, source};
use crate::verdict::{FindingSubject, TestFinding};
use kubereel_format::{RecordedAt, ResourceId};
use kubereel_history::Timeline;
use std::collections::HashMap;

/// The namespace of machines, which their locators lack.
const MACHINES: &str = "openshift-machine-api";
/// Both names of Events.
const EVENTS: [&str; 2] = ["events", "events.events.k8s.io"];

/// An object of a resource, by namespace and name; any object of it if that is `None`.
type Shown = (&'static str, Option<(String, String)>);

/// Ends each open interval where it becomes unknown whether it lasts: a state is not a state of
/// times that were not observed.
pub(crate) fn end_unobserved(all: &mut [Interval], timeline: &Timeline) {
    let mut known: HashMap<Shown, Option<RecordedAt>> = HashMap::new();
    for one in all.iter_mut().filter(|one| one.to.is_none()) {
        let mut since = None;
        for shown in shown_by(one) {
            let is_of_one = shown.1.is_some();
            let unknown = *known.entry(shown).or_insert_with_key(|(resource, object)| {
                let object = object.as_ref();
                let object = object.map(|(namespace, name)| (namespace.as_str(), name.as_str()));
                unknown_since(timeline, resource, object)
            });
            // Of what began later a record came later: then another object of the resource is unknown.
            let unknown = unknown.filter(|at| is_of_one || *at >= one.from);
            since = [since, unknown].into_iter().flatten().min();
        }
        if let Some(since) = since {
            one.end_unobserved(since);
            // That it did not end is what is wrong with it, and that is not known.
            if one.level == Level::Error && is_wrong_if_open(one.source.as_str()) {
                one.level = Level::Warning;
            }
        }
    }
}

fn is_wrong_if_open(of: &str) -> bool {
    [
        source::STATIC_POD_INSTALL_MONITOR,
        source::API_SERVER_GRACEFUL_SHUTDOWN,
    ]
    .contains(&of)
}

/// Returns the objects whose next versions would have ended an interval.
fn shown_by(one: &Interval) -> impl Iterator<Item = Shown> {
    let of = one.source.as_str();
    // An update and its node's readiness are read from the node alone.
    let is_of_node = of == source::NODE_STATE && one.locator.get("row") != Some("NodeUpdatePhases");
    let resources = source::made_of(of).iter();
    let resources = resources.filter(move |resource| !is_of_node || **resource == "nodes");
    resources.map(|&resource| (resource, object(resource, &one.locator)))
}

fn object(resource: &str, locator: &Locator) -> Option<(String, String)> {
    let key = |key: &str| locator.get(key).map(str::to_owned);
    let namespaced = |name: &str| Some((key("namespace")?, key(name)?));
    let cluster = |name: &str| Some((String::new(), key(name)?));
    match resource.split('.').next()? {
        "pods" => namespaced("pod"),
        "leases" => namespaced("lease"),
        "nodes" => cluster("node"),
        "clusteroperators" => cluster("clusteroperator"),
        "clusterversions" => cluster("clusterversion"),
        "machineconfigpools" => cluster("pool"),
        "machines" => Some((MACHINES.to_owned(), key("machine")?)),
        _ => None,
    }
}

/// Returns from when on the end of what was found of an object may have been missed; `None` if it was observed, or
/// that there is none.
pub(crate) fn end_unknown_since(timeline: &Timeline, finding: &TestFinding) -> Option<RecordedAt> {
    let FindingSubject {
        resource,
        namespace,
        name,
        ..
    } = &finding.subject;
    if name.is_empty() || finding.to == Some(finding.from) {
        return None;
    }
    let since = unknown_since(timeline, resource, Some((namespace, name)))?;
    // What lasts up to a time that was not observed ends in findings where that time begins.
    let is_open = finding.to.is_none_or(|to| {
        let mut ids = ids_of(timeline, resource).into_iter();
        to == since && !ids.any(|id| has_version_at(timeline, id, (namespace, name), to))
    });
    is_open.then_some(since.max(finding.from))
}

fn has_version_at(
    timeline: &Timeline,
    resource: ResourceId,
    (namespace, name): (&str, &str),
    at: RecordedAt,
) -> bool {
    let lives = timeline.lives(resource, namespace, name);
    let mut versions = lives
        .iter()
        .flat_map(|life| timeline.reel().versions(life.object));
    versions.any(|seq| timeline.wall_of(*seq) == at)
}

/// Returns a resource in all of its versions.
fn ids_of(timeline: &Timeline, resource: &str) -> Vec<ResourceId> {
    let is_meant =
        |name: &str| name == resource || EVENTS.contains(&resource) && EVENTS.contains(&name);
    let all = timeline.resources().iter();
    let all = all.filter(|info| is_meant(&info.qualified()));
    all.map(|info| info.id).collect()
}

/// Returns from when on it is unknown up to the end how an object is. A resource may be recorded in
/// several versions: then it is known if one of them shows it.
fn unknown_since(
    timeline: &Timeline,
    resource: &str,
    object: Option<(&str, &str)>,
) -> Option<RecordedAt> {
    let mut ids = ids_of(timeline, resource);
    if ids.len() > 1 {
        ids.retain(|id| {
            object.is_none_or(|(namespace, name)| !timeline.lives(*id, namespace, name).is_empty())
        });
    }
    let since = ids.into_iter().map(|id| timeline.unknown_since(id, object));
    let since: Option<Vec<RecordedAt>> = since.collect();
    since.and_then(|since| since.into_iter().max())
}
