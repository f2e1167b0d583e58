//! Owns which objects a wait is about: those named, or those chosen as they first are. Refuses what
//! becomes of them.

use super::{Question, manifests, resource};
use crate::at;
use crate::command::asked::Named;
use crate::command_error::CommandError;
use crate::exit::Exit;
use kubereel_format::{EventType, ResourceInfo, Seq};
use kubereel_history::{Cut, Filter, Form, Held, Timeline, WaitFor, WaitSpan};
use std::collections::BTreeSet;

/// One name that is waited for.
pub(super) struct Target<'a> {
    pub(super) resource: &'a ResourceInfo,
    /// Empty for cluster-scoped objects.
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) span: WaitSpan,
}

/// Resources, and the names if there are any.
type Asked<'a> = Vec<(&'a str, Vec<&'a str>)>;

/// Finds the objects.
pub(super) fn find<'a>(
    timeline: &'a Timeline,
    question: &'a Question,
) -> Result<Vec<Target<'a>>, CommandError> {
    let mut targets = Vec::new();
    for object in manifests::read(&question.which)? {
        let place = Place::of(timeline, question, &object.resource())?;
        if place.resource.group != object.group {
            let written = format!("{}/{}", object.resource(), object.name);
            let message = format!("the resource of {written} is not in this reel");
            return Err(CommandError::new(Exit::Usage, message)
                .hint("to list its resources: kubereel info REEL -o wide"));
        }
        targets.push(place.named_in(&object.namespace, &object.name)?);
    }
    if !question.which.filename.is_empty() {
        return Ok(targets);
    }
    for (spelt, names) in asked(question)? {
        let place = Place::of(timeline, question, spelt)?;
        if names.is_empty() {
            targets.extend(place.chosen()?);
        }
        for name in names {
            targets.push(place.named(name)?);
        }
    }
    Ok(targets)
}

/// Tells whether what is there at the start is known for all resources that were asked for.
pub(super) fn are_known(timeline: &Timeline, question: &Question) -> Result<bool, CommandError> {
    for (spelt, _) in asked(question)? {
        let place = Place::of(timeline, question, spelt)?;
        let certainty = timeline.certainty(place.resource.id, place.start());
        if !certainty.is_proven() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes the words apart as kubectl does.
fn asked(question: &Question) -> Result<Asked<'_>, CommandError> {
    let wrong = |message: &str| {
        CommandError::new(Exit::Usage, message)
            .hint("for example: kubereel wait run.reel pod/web-0 -n shop --for=condition=Ready")
    };
    let chooses_labels = !question.which.selector.is_empty();
    let chooses_fields = !question.which.field_selector.is_empty();
    if question.which.all && chooses_labels {
        return Err(wrong("--all cannot be combined with -l"));
    }
    let chooses = question.which.all || chooses_labels || chooses_fields;
    let mut words = question.which.objects.iter().map(String::as_str);
    let first = words.next().unwrap_or_default();
    let names: Vec<&str> = words.collect();
    let has_slash = question
        .which
        .objects
        .iter()
        .filter(|word| word.contains('/'));
    let asked: Asked<'_> = match has_slash.count() {
        0 => {
            let resources = first.split(',');
            resources
                .map(|resource| (resource, names.clone()))
                .collect()
        }
        slashes if slashes == question.which.objects.len() => {
            let parted = question
                .which
                .objects
                .iter()
                .filter_map(|word| word.split_once('/'));
            parted
                .map(|(resource, name)| (resource, vec![name]))
                .collect()
        }
        _ => {
            return Err(wrong(
                "names are given in two forms: use RESOURCE/NAME… or RESOURCE NAME…",
            ));
        }
    };
    let is_odd = |name: &&str| name.is_empty() || name.contains('/');
    if asked
        .iter()
        .any(|(resource, names)| resource.is_empty() || names.iter().any(is_odd))
    {
        return Err(wrong("a resource and its names must not be empty"));
    }
    let is_named = asked.iter().any(|(_, names)| !names.is_empty());
    if is_named && chooses {
        return Err(wrong("names cannot be combined with a selector or --all"));
    }
    if !is_named && !chooses {
        return Err(wrong("no object given: give a name, -l or --all"));
    }
    if is_named && question.which.all_namespaces {
        return Err(wrong("a name cannot be combined with -A: use -n"));
    }
    Ok(asked)
}

/// A resource, and where and when its objects are looked for.
struct Place<'a> {
    timeline: &'a Timeline,
    question: &'a Question,
    resource: &'a ResourceInfo,
    span: WaitSpan,
}

impl<'a> Place<'a> {
    fn of(
        timeline: &'a Timeline,
        question: &'a Question,
        spelt: &str,
    ) -> Result<Self, CommandError> {
        let to = at::resolve(timeline, question.to)?;
        let resource = timeline.resource_at(resource(timeline, spelt)?, to);
        let from = question.from.map(|from| at::resolve(timeline, from));
        let goals: Vec<WaitFor> = question
            .goals
            .iter()
            .chain(&question.fail_on)
            .cloned()
            .collect();
        let timeout = question.timeout;
        let span = timeline.wait_span(resource.id, &goals, from.transpose()?, to, timeout);
        if span.to.at < span.from.at || span.to.below < span.from.below {
            let (from, to) = (timeline.written(span.from.at), timeline.written(span.to.at));
            let message = format!("the time span ends before it starts: from {from} to {to}");
            return Err(CommandError::new(Exit::Usage, message));
        }
        Ok(Self {
            timeline,
            question,
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

    fn target(&self, namespace: &str, name: &str) -> Target<'a> {
        Target {
            resource: self.resource,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            span: self.span,
        }
    }

    fn named(&self, name: &str) -> Result<Target<'a>, CommandError> {
        self.named_in(self.question.which.namespace(), name)
    }

    fn named_in(&self, namespace: &str, name: &str) -> Result<Target<'a>, CommandError> {
        let namespace = if self.resource.namespaced {
            namespace
        } else {
            ""
        };
        let lives = self.timeline.lives(self.resource.id, namespace, name);
        let goals = &self.question.goals;
        // Kubectl waits for what is not there yet, and is content with what is not there any more.
        let may_be_absent = goals
            .iter()
            .any(|goal| goal.is_creation() || goal.is_deletion());
        if lives.is_empty() && !may_be_absent && !goals.iter().all(WaitFor::is_momentary) {
            let named = Named {
                resource: self.resource,
                namespace,
                name: name.to_owned(),
            };
            return Err(named.never_seen(self.timeline));
        }
        Ok(self.target(namespace, name))
    }

    /// Gives the objects that are there at the start or come later, as they are then. What comes later
    /// was not there to be deleted.
    fn chosen(&self) -> Result<Vec<Target<'a>>, CommandError> {
        let mut held = self.held(self.start())?;
        if !self.question.goals.iter().any(WaitFor::is_deletion) {
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
                    held.extend(self.matching(vec![later], cut)?);
                    names.insert(name);
                }
            }
            held.sort_by(|one, other| {
                (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name))
            });
            held.dedup_by(|one, other| one.namespace == other.namespace && one.name == other.name);
        }
        let targets = held.iter();
        Ok(targets
            .map(|held| self.target(&held.namespace, &held.name))
            .collect())
    }

    /// Gives the first version of each object that came after the start.
    fn later(&self) -> Vec<Held> {
        let span = &self.span;
        let reel = self.timeline.reel();
        let objects = self.timeline.objects_of(self.resource.id).iter();
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
                Some(Held {
                    object,
                    namespace: key.namespace.clone(),
                    name: key.name.clone(),
                    seq: seq.filter(|_| is_asked)?,
                })
            })
            .collect()
    }

    fn namespace(&self) -> Option<&'a str> {
        let is_bound = self.resource.namespaced && !self.question.which.all_namespaces;
        is_bound.then_some(self.question.which.namespace())
    }

    fn held(&self, cut: Cut) -> Result<Vec<Held>, CommandError> {
        let filter = Filter {
            namespace: self.namespace(),
            names: &[],
        };
        let state = self.timeline.as_of(self.resource.id, cut, &filter);
        self.matching(state.objects, cut)
    }

    fn matching(&self, held: Vec<Held>, cut: Cut) -> Result<Vec<Held>, CommandError> {
        let unreadable = |error| CommandError::new(Exit::Reel, error);
        let labels = &self.question.which.selector;
        let held = self.timeline.labelled(held, cut, labels);
        let mut held = held.map_err(unreadable)?;
        let fields = &self.question.which.field_selector;
        if fields.is_empty() {
            return Ok(held);
        }
        let form = Form {
            shows_managed_fields: false,
        };
        let mut matching = Vec::new();
        for one in held.drain(..) {
            let object = self.timeline.object(one.seq, self.resource, form);
            if fields.matches(&object.map_err(unreadable)?) {
                matching.push(one);
            }
        }
        Ok(matching)
    }
}
