//! The objects that `kubereel wait` waits for: by name, by a selector when they first exist, or from manifests.

use super::{Args, SearchedTime};
use crate::command::manifests::named_objects;
use crate::command::object_query::ChangeTrust;
use crate::command::object_query::{self, NamedResources, TargetObject, find_resource};
use crate::command::unreadable::UnreadableObjects;
use crate::command_error::CommandError;
use kubereel_format::{EventType, ResourceInfo, Seq};
use kubereel_history::{Cut, ObjectFilter, ObjectForm, ObjectVersion, Timeline, WaitFor, WaitSpan};
use std::collections::BTreeSet;

/// One name that is waited for.
pub(crate) struct WaitTarget<'a> {
    pub(super) resource: &'a ResourceInfo,
    /// Empty for cluster-scoped objects.
    pub(super) namespace: String,
    pub(super) name: String,
    /// Whether an object of the name is in the recording.
    pub(super) is_observed: bool,
    pub(super) span: WaitSpan,
}

impl WaitTarget<'_> {
    pub(super) fn object(&self) -> TargetObject<'_> {
        TargetObject {
            resource: self.resource,
            namespace: &self.namespace,
            name: self.name.clone(),
        }
    }
}

/// Finds the objects.
pub(super) fn find<'a>(
    timeline: &'a Timeline,
    args: &'a Args,
    search: SearchedTime,
    unreadable: &UnreadableObjects,
) -> Result<Vec<WaitTarget<'a>>, CommandError> {
    let mut targets = Vec::new();
    let which = &args.which.selected;
    for object in named_objects(which.manifests(), which.namespace.as_deref())? {
        let place = TargetSearch::of(timeline, args, search, &object.resource())?;
        if place.resource.group != object.group {
            let written = format!("{}/{}", object.resource(), object.name);
            let message = format!("the resource of {written} is not in this reel");
            return Err(CommandError::usage(message)
                .hint("to list its resources: kubereel info REEL -o wide")
                .of_missing_resource());
        }
        targets.push(place.named_in(&object.namespace, &object.name)?);
    }
    if !args.which.selected.filename.is_empty() {
        return Ok(targets);
    }
    for (spelt, names) in named_resources(args)? {
        let place = TargetSearch::of(timeline, args, search, spelt)?;
        if names.is_empty() {
            if let Some(namespace) = place.namespace() {
                object_query::known_namespace(timeline, namespace)?;
            }
            targets.extend(place.chosen(unreadable));
        }
        for name in names {
            targets.push(place.named(name)?);
        }
    }
    Ok(targets)
}

/// Tells whether what is there at the start is known for all resources that were asked for.
pub(super) fn are_known(
    timeline: &Timeline,
    args: &Args,
    search: SearchedTime,
) -> Result<bool, CommandError> {
    for (spelt, _) in named_resources(args)? {
        let place = TargetSearch::of(timeline, args, search, spelt)?;
        let certainty = timeline.certainty(place.resource.id, place.start());
        if !certainty.is_proven() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes the words apart, and refuses what leaves open which objects are meant.
fn named_resources(args: &Args) -> Result<NamedResources<'_>, CommandError> {
    let wrong = |message: &str| {
        CommandError::usage(message)
            .hint("for example: kubereel wait run.reel pod/web-0 -n shop --for=condition=Ready")
    };
    if args.which.all && !args.which.selected.selector.is_empty() {
        return Err(wrong("--all cannot be combined with -l"));
    }
    let chooses = args.which.chooses();
    let found = object_query::named_resources(&args.which.selected.objects)?;
    let is_named = found.iter().any(|(_, names)| !names.is_empty());
    if is_named && chooses {
        return Err(wrong("names cannot be combined with a selector or --all"));
    }
    if !is_named && !chooses {
        return Err(wrong("no object given: give a name, -l or --all"));
    }
    if is_named && args.which.selected.all_namespaces {
        return Err(wrong("a name cannot be combined with -A: use -n"));
    }
    Ok(found)
}

/// A resource, and where and when its objects are looked for.
struct TargetSearch<'a> {
    timeline: &'a Timeline,
    args: &'a Args,
    resource: &'a ResourceInfo,
    span: WaitSpan,
}

impl<'a> TargetSearch<'a> {
    fn of(
        timeline: &'a Timeline,
        args: &'a Args,
        search: SearchedTime,
        spelt: &str,
    ) -> Result<Self, CommandError> {
        let SearchedTime { from, to, timeout } = search;
        let resource = timeline.resource_at(find_resource(timeline, spelt)?, to);
        let goals: Vec<WaitFor> = args.goals.iter().chain(&args.fail_on).cloned().collect();
        let span = WaitSpan::of(timeline, resource.id, &goals, from, to, timeout);
        // By records: after a step of the clock back, what comes later has an earlier time.
        let is_backwards = span.to < span.from;
        let bounds = (from, Some(to));
        if is_backwards && timeline.is_damaged_between(bounds.0, bounds.1) {
            return Err(CommandError::damaged("the time span is not readable"));
        }
        if is_backwards && timeline.reaches_outside(bounds.0, bounds.1) {
            let words = ChangeTrust::Outside.words(timeline, "");
            return Err(CommandError::unknown(format!("the time span was {words}"))
                .hint("to see how long it is: kubereel info REEL"));
        }
        if is_backwards && from.is_none() {
            let (name, at) = (resource.qualified(), timeline.written(span.from.at));
            let words =
                format!("not known: {name} was first observed at {at}, after the time span");
            return Err(CommandError::unknown(words)
                .hint("to see what was observed when: kubereel info REEL"));
        }
        if is_backwards {
            let (from, to) = (timeline.written(span.from.at), timeline.written(span.to.at));
            let message = format!("the time span ends before it starts: from {from} to {to}");
            return Err(CommandError::usage(message));
        }
        Ok(Self {
            timeline,
            args,
            resource,
            span,
        })
    }

    fn start(&self) -> Cut {
        Cut::Arrival {
            below: self.span.from.below,
            wall: self.span.from.at,
        }
    }

    fn target(
        &self,
        resource: &'a ResourceInfo,
        (namespace, name): (&str, &str),
        is_observed: bool,
    ) -> WaitTarget<'a> {
        WaitTarget {
            resource,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            is_observed,
            span: self.span,
        }
    }

    fn named(&self, name: &str) -> Result<WaitTarget<'a>, CommandError> {
        self.named_in(self.args.which.namespace(), name)
    }

    fn named_in(&self, namespace: &str, name: &str) -> Result<WaitTarget<'a>, CommandError> {
        let resource = (self.timeline).resource_of_object(self.resource, namespace, name);
        let namespace = if resource.namespaced { namespace } else { "" };
        if !namespace.is_empty() {
            object_query::known_namespace(self.timeline, namespace)?;
        }
        let lives = self.timeline.lives(resource.id, namespace, name);
        let target = self.target(resource, (namespace, name), !lives.is_empty());
        let goals = &self.args.goals;
        // Kubectl waits for what is not there yet, and is content with what is not there any more.
        let may_be_absent = goals
            .iter()
            .any(|goal| goal.is_creation() || goal.is_deletion());
        if !target.is_observed && !may_be_absent && !goals.iter().all(WaitFor::is_momentary) {
            return Err(target.object().never_observed(self.timeline, None));
        }
        Ok(target)
    }

    /// Gives the objects that are there at the start or come later, as they are then. What comes later
    /// was not there to be deleted.
    fn chosen(&self, unreadable: &UnreadableObjects) -> Vec<WaitTarget<'a>> {
        let mut held = self.held(self.start(), unreadable);
        if !self.args.goals.iter().any(WaitFor::is_deletion) {
            let mut names: BTreeSet<(String, String)> = BTreeSet::new();
            names.extend(
                held.iter()
                    .map(|held| (held.namespace.clone(), held.name.clone())),
            );
            for later in self.later() {
                let name = (later.namespace.clone(), later.name.clone());
                let cut = Cut::Arrival {
                    below: Seq(later.seq.0.saturating_add(1)),
                    wall: self.span.to.at,
                };
                if !names.contains(&name) {
                    held.extend(self.matching(vec![later], cut, unreadable));
                    names.insert(name);
                }
            }
            held.sort_by(|one, other| {
                (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name))
            });
            held.dedup_by(|one, other| one.namespace == other.namespace && one.name == other.name);
        }
        let targets = held.iter();
        targets
            .map(|held| self.target(self.resource, (&held.namespace, &held.name), true))
            .collect()
    }

    /// Gives the first version of each object that came after the start.
    fn later(&self) -> Vec<ObjectVersion> {
        let span = &self.span;
        let reel = self.timeline.reel();
        let versions = self.timeline.resources().namesake_ids(self.resource.id);
        let objects = versions.iter().flat_map(|id| self.timeline.objects_of(*id));
        objects
            .filter_map(|&object| {
                let key = self.timeline.key_of(object)?;
                let is_asked = self.namespace().is_none_or(|only| only == key.namespace);
                // What was there before was judged at the start.
                let first = reel.versions(object).first().copied();
                let seq = first.filter(|seq| {
                    (span.from.below..span.to.below).contains(seq)
                        && reel.kind_of(*seq) != Some(EventType::Deleted)
                });
                Some(ObjectVersion {
                    object,
                    namespace: key.namespace.to_owned(),
                    name: key.name.to_owned(),
                    seq: seq.filter(|_| is_asked)?,
                })
            })
            .collect()
    }

    fn namespace(&self) -> Option<&'a str> {
        let is_bound = self.resource.namespaced && !self.args.which.selected.all_namespaces;
        is_bound.then_some(self.args.which.namespace())
    }

    fn held(&self, cut: Cut, unreadable: &UnreadableObjects) -> Vec<ObjectVersion> {
        let filter = ObjectFilter {
            namespace: self.namespace(),
            names: &[],
        };
        let resource = self.timeline.resource_at(self.resource, cut);
        let state = self.timeline.as_of(resource.id, cut, &filter);
        self.matching(state.objects, cut, unreadable)
    }

    fn matching(
        &self,
        held: Vec<ObjectVersion>,
        cut: Cut,
        unreadable: &UnreadableObjects,
    ) -> Vec<ObjectVersion> {
        let (timeline, resource) = (self.timeline, self.resource);
        let labels = &self.args.which.selected.selector;
        let held = unreadable.labelled(timeline, resource, held, cut, labels);
        let fields = &self.args.which.field_selector;
        if fields.is_empty() {
            return held;
        }
        let form = ObjectForm {
            shows_managed_fields: false,
        };
        let are_selected: Vec<_> = held
            .iter()
            .map(|held| {
                let object = timeline.object(held.seq, resource, form);
                object.map(|object| fields.matches(&object))
            })
            .collect();
        unreadable.selected(resource, held, are_selected)
    }
}
