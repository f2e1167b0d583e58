//! Owns how commands are asked about objects, in kubectl's words: `pods/a`, `pods a b`, `-n`. Refuses
//! moments: `at` reads those.

use super::get::header;
use super::unknown;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use kubereel_format::ResourceInfo;
use kubereel_history::{Certainty, Cut, Filter, Held, State, Timeline};

/// Separates resource and names: `pods/a`, or `pods a b`.
pub(crate) fn names<'a>(
    resource: &'a str,
    names: &[String],
) -> Result<(&'a str, Vec<String>), CommandError> {
    let wrong = |message: &str| CommandError::new(Exit::Usage, message);
    let (resource, names) = match resource.split_once('/') {
        None => (resource, names.to_vec()),
        Some((resource, name)) if names.is_empty() => (resource, vec![name.to_owned()]),
        Some(_) => {
            return Err(wrong(
                "names are given twice: use RESOURCE/NAME or RESOURCE NAME…",
            ));
        }
    };
    if resource.contains(',') {
        return Err(
            wrong(&format!("only one resource is supported: {resource:?}"))
                .hint("for example: kubereel get run.reel pods -n shop"),
        );
    }
    let is_odd = |name: &String| name.is_empty() || name.contains('/');
    if resource.is_empty() || names.iter().any(is_odd) {
        return Err(wrong("a resource and its names must not be empty")
            .hint("for example: kubereel get run.reel pods/web-0 -n shop"));
    }
    Ok((resource, names))
}

/// Gives the exit code of an answer that can be trusted so far.
pub(crate) const fn exit_of(certainty: &Certainty) -> Exit {
    match certainty {
        Certainty::Damaged { .. } => Exit::Reel,
        certainty if certainty.is_known() => Exit::Yes,
        _ => Exit::Unknown,
    }
}

/// One name that a command is about, found in a reel.
pub(crate) struct Named<'a> {
    pub(crate) resource: &'a ResourceInfo,
    /// Empty for cluster-scoped objects.
    pub(crate) namespace: &'a str,
    pub(crate) name: String,
}

/// The words that name one object.
#[derive(Debug, clap::Args)]
pub(crate) struct OneObject {
    /// The object, as for kubectl: pods/web-0, or a resource with a name after it
    #[arg(value_name = "RESOURCE/NAME")]
    pub(crate) resource: String,
    /// The object's name, if it does not follow a slash
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Namespace of the object
    #[arg(short, long, value_name = "NS", default_value = "default")]
    pub(crate) namespace: String,
}

impl OneObject {
    /// Finds the resource, as it was recorded at a moment.
    pub(crate) fn find<'a>(
        &'a self,
        timeline: &'a Timeline,
        cut: Cut,
    ) -> Result<Named<'a>, CommandError> {
        let given: Vec<String> = self.name.iter().cloned().collect();
        let (resource, names) = names(&self.resource, &given)?;
        let Some(name) = names.into_iter().next() else {
            return Err(CommandError::new(Exit::Usage, "no object name given")
                .hint(format!("name one: {resource}/NAME"))
                .hint("to list them: kubereel get REEL RESOURCE -A -o name"));
        };
        let found = timeline
            .resources()
            .find(resource)
            .map_err(|error| unknown::explain(&error, timeline))?;
        let resource = timeline.resource_at(found, cut);
        Ok(Named {
            resource,
            namespace: if resource.namespaced {
                &self.namespace
            } else {
                ""
            },
            name,
        })
    }
}

impl Named<'_> {
    /// Writes the object as messages name it.
    pub(crate) fn written(&self) -> String {
        format!("{}/{}", self.resource.qualified(), self.name)
    }

    /// Finds the version that held at a moment, and says on stderr how far that can be trusted.
    pub(crate) fn at(
        &self,
        timeline: &Timeline,
        cut: Cut,
        screen: &mut Screen,
    ) -> Result<(State, Held), CommandError> {
        let only = [self.name.clone()];
        let filter = Filter {
            namespace: self.resource.namespaced.then_some(self.namespace),
            names: &only,
        };
        let state = timeline.as_of(self.resource.id, cut, &filter);
        if !state.certainty.has_state() {
            return Err(unknown::state(timeline, self.resource, &state));
        }
        let rv = match cut {
            Cut::Revision(rv) => Some(rv),
            Cut::Arrival { .. } => state.rv,
        };
        screen.aside(header::line(timeline, &state, rv, screen.err_paint()))?;
        match state.objects.first().cloned() {
            Some(held) => Ok((state, held)),
            None => Err(self.absent(timeline, &state)),
        }
    }

    /// Says that the name was not there at a moment, and when it was.
    fn absent(&self, timeline: &Timeline, state: &State) -> CommandError {
        let lives = timeline.lives(self.resource.id, self.namespace, &self.name);
        if lives.is_empty() {
            return self.never_seen(timeline);
        }
        let exit = match exit_of(&state.certainty) {
            Exit::Yes => Exit::No,
            other => other,
        };
        let at = timeline.written(state.at);
        let mut error = CommandError::new(exit, format!("{} not found at {at}", self.written()));
        for life in lives {
            let from = timeline.written(life.from);
            let to = life
                .to
                .map_or_else(|| "the end".to_owned(), |to| timeline.written(to));
            let name = &self.name;
            error = error.hint(format!("{name:?} existed from {from} to {to}"));
        }
        error
    }

    /// Says that the name was never seen, and which ones were that it may have meant.
    pub(crate) fn never_seen(&self, timeline: &Timeline) -> CommandError {
        let is_listed = timeline
            .coverage(self.resource.id)
            .is_some_and(|coverage| !coverage.spans().is_empty());
        let exit = if !timeline.reel().damage().is_empty() {
            Exit::Reel
        } else if is_listed && timeline.is_fully_observed(self.resource.id) {
            Exit::No
        } else {
            Exit::Unknown
        };
        let place = if self.namespace.is_empty() {
            String::new()
        } else {
            format!(" in {} namespace", self.namespace)
        };
        let message = format!("{} was never observed{place}", self.written());
        let mut error = CommandError::new(exit, message);
        let resource = self.resource.id;
        if exit == Exit::Unknown {
            error = error.hint("it may have existed during a gap of the recording");
        }
        if !self.namespace.is_empty()
            && let Some(other) = timeline.namespace_of(resource, &self.name)
        {
            let name = &self.name;
            error = error.hint(format!(
                "{name:?} exists in another namespace: use -n {other}"
            ));
        }
        let near = timeline.nearest_names(resource, self.namespace, &self.name);
        if !near.is_empty() {
            error = error.hint(format!("did you mean {}?", near.join(" or ")));
        }
        error
    }
}
