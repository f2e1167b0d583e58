//! How commands name objects, in kubectl's words (`pods/a`, `pods a b`, `-n`), the line that says when a state is
//! from and how certain it is, and the errors of objects and states that are not found. Moments are read by
//! `arguments`.

use crate::arguments;
use crate::command_error::{CommandError, Exit};
use crate::screen::{Console, Paint};
use kubereel_format::{ObjectKeyRef, ResourceId, ResourceInfo};
use kubereel_history::{
    Certainty, Coverage, Cut, Moment, ObjectFilter, ObjectVersion, ResourceSnapshot, SelectError,
    Timeline, nearest, timetext,
};
use kubereel_import::builtin_resource;

/// Separates resource and names: `pods/a`, or `pods a b`.
pub(crate) fn names<'a>(
    resource: &'a str,
    names: &[String],
) -> Result<(&'a str, Vec<String>), CommandError> {
    let wrong = |message: &str| CommandError::usage(message);
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
    let odd = names.iter().find_map(|name| odd_name(resource, name));
    if let Some(problem) = odd {
        return Err(problem.hint("for example: kubereel get run.reel pods/web-0 -n shop"));
    }
    Ok((resource, names))
}

/// Makes the error of a word that cannot be a name, or of the lack of its resource.
fn odd_name(resource: &str, name: &str) -> Option<CommandError> {
    if resource.is_empty() || name.is_empty() {
        let empty = "a resource and its names must not be empty";
        return Some(CommandError::usage(empty));
    }
    name.contains('/').then(|| {
        let written = format!("{resource}/{name}");
        CommandError::usage(format!(
            "more than one slash in {written:?}: expected RESOURCE/NAME"
        ))
    })
}

/// Resources, and the names if there are any.
pub(crate) type NamedResources<'a> = Vec<(&'a str, Vec<&'a str>)>;

/// Takes words apart as kubectl does: `pods`, `pods,nodes`, `pods a b`, `pods/a nodes/b`.
pub(crate) fn named_resources(words: &[String]) -> Result<NamedResources<'_>, CommandError> {
    let slashes = words.iter().filter(|word| word.contains('/')).count();
    let found: NamedResources<'_> = if slashes == 0 {
        let mut words = words.iter().map(String::as_str);
        let resources = words.next().unwrap_or_default();
        let names: Vec<&str> = words.collect();
        resources
            .split(',')
            .map(|resource| (resource, names.clone()))
            .collect()
    } else if slashes == words.len() {
        let parted = words.iter().filter_map(|word| word.split_once('/'));
        parted
            .map(|(resource, name)| (resource, vec![name]))
            .collect()
    } else {
        return Err(CommandError::usage(
            "names are given in two forms: use RESOURCE/NAME… or RESOURCE NAME…",
        ));
    };
    for (resource, names) in &found {
        let empty = names.is_empty().then(|| odd_name(resource, "any"));
        let odd = names.iter().map(|name| odd_name(resource, name));
        if let Some(problem) = odd.chain(empty).flatten().next() {
            return Err(problem.hint("for example: pods/web-0"));
        }
    }
    Ok(found)
}

/// Gives the exit code of an answer that can be trusted so far.
pub(crate) const fn exit_of(certainty: &Certainty) -> Exit {
    match certainty {
        Certainty::Damaged { .. } => Exit::Reel,
        certainty if certainty.is_known() || certainty.is_gone() => Exit::Yes,
        _ => Exit::Unknown,
    }
}

/// The hint of a name that was never observed in a damaged reel.
const MAY_BE_UNREADABLE: &str = "it may be in what is unreadable; to see where: kubereel info REEL";

/// Gives the exit code of the answer that an object was not there, by the states in which it is not. An import does not
/// prove that there was none.
pub(crate) fn exit_of_absence<'a>(states: impl IntoIterator<Item = &'a Certainty>) -> Exit {
    let exits = states.into_iter().map(|certainty| match certainty {
        Certainty::Damaged { .. } => Exit::Reel,
        certainty if certainty.is_proven() || certainty.is_gone() => Exit::No,
        _ => Exit::Unknown,
    });
    exits.fold(Exit::No, Exit::worse)
}

/// One name that a command is about, found in a reel.
pub(crate) struct TargetObject<'a> {
    pub(crate) resource: &'a ResourceInfo,
    /// Empty for cluster-scoped objects, and for those of any namespace.
    pub(crate) namespace: &'a str,
    pub(crate) name: String,
}

/// The words that name one object.
#[derive(Debug, clap::Args)]
pub(crate) struct ObjectArgs {
    /// The object, as for kubectl: pods/web-0, or a resource with a name after it
    #[arg(value_name = "RESOURCE/NAME")]
    pub(crate) resource: String,
    /// The object's name, if it does not follow a slash
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Namespace of the object
    #[arg(short, long, value_name = "NS", value_parser = arguments::namespace, default_value = "default")]
    pub(crate) namespace: String,
}

/// The namespace of a search through all objects.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchedNamespaceArgs {
    /// Search only this namespace; default: all
    #[arg(short, long, value_name = "NS", value_parser = arguments::namespace)]
    namespace: Option<String>,
    /// Search all namespaces: the default, accepted as in other commands; --namespace is ignored
    #[arg(short = 'A', long)]
    all_namespaces: bool,
}

impl SearchedNamespaceArgs {
    /// Returns the only namespace to search, if there is one.
    pub(crate) fn only(&self) -> Option<&str> {
        let only = self.namespace.as_deref();
        only.filter(|_| !self.all_namespaces)
    }

    /// Returns the only namespace to search, if there is one, which must have been observed.
    pub(crate) fn observed(&self, timeline: &Timeline) -> Result<Option<&str>, CommandError> {
        let only = self.only();
        only.map_or(Ok(()), |namespace| known_namespace(timeline, namespace))?;
        Ok(only)
    }
}

impl ObjectArgs {
    /// Finds the resource, as it was recorded at a moment.
    pub(crate) fn find<'a>(
        &'a self,
        timeline: &'a Timeline,
        cut: Cut,
    ) -> Result<TargetObject<'a>, CommandError> {
        let given: Vec<String> = self.name.iter().cloned().collect();
        TargetObject::find(timeline, &self.resource, &given, &self.namespace, cut)
    }
}

impl<'a> TargetObject<'a> {
    /// Finds what words such as `pods/a` or `pods` and `a` name, as it was recorded at a moment.
    pub(crate) fn find(
        timeline: &'a Timeline,
        words: &str,
        given: &[String],
        namespace: &'a str,
        cut: Cut,
    ) -> Result<Self, CommandError> {
        let (resource, names) = names(words, given)?;
        let Some(name) = names.into_iter().next() else {
            // A name without its resource is the likelier mistake where there is no such resource.
            let found = find_resource(timeline, resource)?;
            let all = if found.namespaced { " -A" } else { "" };
            let found = found.qualified();
            return Err(CommandError::usage("no object name given")
                .hint(format!("name one: {resource}/NAME"))
                .hint(format!(
                    "to list them: kubereel get REEL {found}{all} -o name"
                )));
        };
        let found = find_resource(timeline, resource)?;
        let resource = timeline.resource_at(found, cut);
        let resource = timeline.resource_of_object(resource, namespace, &name);
        let namespace = if resource.namespaced { namespace } else { "" };
        Ok(Self {
            resource,
            namespace,
            name,
        })
    }
}

impl TargetObject<'_> {
    /// Writes the object as messages name it.
    pub(crate) fn written(&self) -> String {
        format!("{}/{}", self.resource.qualified(), self.name)
    }

    /// Finds the version that held at a moment, and says on stderr how far that can be trusted.
    pub(crate) fn at(
        &self,
        timeline: &Timeline,
        cut: Cut,
        screen: &mut Console,
    ) -> Result<(ResourceSnapshot, ObjectVersion), CommandError> {
        let only = [self.name.clone()];
        let filter = ObjectFilter {
            namespace: self.resource.namespaced.then_some(self.namespace),
            names: &only,
        };
        let state = timeline.as_of(self.resource.id, cut, &filter);
        if !state.certainty.has_state() {
            return Err(no_state(timeline, self.resource, &state, "--at"));
        }
        screen.aside(header(timeline, &state, cut, screen.err_paint()))?;
        match state.objects.first().cloned() {
            Some(held) => Ok((state, held)),
            None => Err(self.absent(timeline, &state)),
        }
    }

    /// Makes the error of a name that did not exist at a moment.
    pub(crate) fn absent(&self, timeline: &Timeline, state: &ResourceSnapshot) -> CommandError {
        if timeline
            .lives(self.resource.id, self.namespace, &self.name)
            .is_empty()
        {
            let exit = exit_of_absence([&state.certainty]);
            return self.never_observed_with(exit, timeline);
        }
        let at = timeline.written(state.at);
        self.not_found(timeline, &format!("at {at}"), [&state.certainty])
    }

    /// Makes the error of a name that is in none of some states.
    pub(crate) fn not_found<'c>(
        &self,
        timeline: &Timeline,
        when: &str,
        states: impl IntoIterator<Item = &'c Certainty>,
    ) -> CommandError {
        let message = format!("{} not found {when}", self.written());
        self.explained(
            CommandError::new(exit_of_absence(states), message),
            timeline,
        )
    }

    /// Makes the error of a name that was never observed.
    pub(crate) fn never_observed(&self, timeline: &Timeline, to: Option<Cut>) -> CommandError {
        let coverage = timeline.coverage(self.resource.id);
        let is_listed = coverage.is_some_and(|coverage| !coverage.spans().is_empty());
        let is_imported = coverage.is_some_and(|coverage| coverage.imported().is_some());
        let names = [self.name.clone()];
        let filter = ObjectFilter {
            namespace: (!self.namespace.is_empty()).then_some(self.namespace),
            names: &names,
        };
        let unobserved = timeline.unobserved_within(self.resource.id, (None, to));
        let mut unobserved = unobserved.filter(|span| timeline.concerns(span, &filter));
        let name = (self.namespace, self.name.as_str());
        let exit = if timeline.is_object_damaged_between(self.resource.id, name, (None, to)) {
            Exit::Reel
        } else if is_listed && !is_imported && unobserved.next().is_none() {
            Exit::No
        } else {
            Exit::Unknown
        };
        self.never_observed_with(exit, timeline)
    }

    fn never_observed_with(&self, exit: Exit, timeline: &Timeline) -> CommandError {
        let mut error = CommandError::new(exit, self.never_observed_words());
        let coverage = timeline.coverage(self.resource.id);
        if exit == Exit::Reel {
            error = error.hint(MAY_BE_UNREADABLE);
        }
        if exit == Exit::Unknown {
            error = error.hint(match coverage.and_then(Coverage::imported) {
                Some(_) => {
                    "the recording was imported: it does not prove that the object never existed"
                }
                None => "it may have existed during a gap of the recording",
            });
        }
        self.explained(error, timeline)
    }

    /// Says that the name was never observed.
    pub(crate) fn never_observed_words(&self) -> String {
        let place = match (self.resource.namespaced, self.namespace) {
            (false, _) => String::new(),
            (true, "") => " in any namespace".to_owned(),
            (true, namespace) => format!(" in {namespace} namespace"),
        };
        format!("{} was never observed{place}", self.written())
    }

    /// Adds when the name existed; else in which namespace it exists, or which names are like it. Of a namespace that
    /// was never observed, that is the error.
    pub(crate) fn explained(&self, mut error: CommandError, timeline: &Timeline) -> CommandError {
        let (resource, name) = (self.resource.id, &self.name);
        if !self.namespace.is_empty()
            && let Err(unknown) = known_namespace(timeline, self.namespace)
        {
            error = unknown;
        }
        let lives = timeline.lives(resource, self.namespace, name);
        for life in &lives {
            let (from, to) = (timeline.begin_words(life), timeline.end_words(life));
            error = error.hint(format!("{name:?} existed from {from} to {to}"));
        }
        if !lives.is_empty() {
            return error;
        }
        let other = timeline.in_any_namespace(resource, name);
        let other = other.filter(|_| !self.namespace.is_empty());
        if let Some(other) = other.filter(|other| other.name == name) {
            return error.hint(elsewhere(other));
        }
        let place =
            Some(self.namespace).filter(|only| !self.resource.namespaced || !only.is_empty());
        let near = timeline.nearest_names(resource, place, name);
        match (near.as_slice(), other) {
            ([], Some(other)) => error.hint(elsewhere(other)),
            ([], None) => error,
            (near, _) => error.hint(format!("did you mean {}?", near.join(" or "))),
        }
    }
}

fn elsewhere(key: ObjectKeyRef<'_>) -> String {
    let (name, namespace) = (key.name, key.namespace);
    format!("{name:?} exists in another namespace: use -n {namespace}")
}

/// The namespace without `-n`. Every cluster has it, so that its absence from a reel says nothing.
const DEFAULT: &str = "default";

/// Checks that a namespace was ever observed: by its own object, or by another one in it.
pub(crate) fn known_namespace(timeline: &Timeline, namespace: &str) -> Result<(), CommandError> {
    if namespace == DEFAULT || timeline.has_namespace(namespace) {
        return Ok(());
    }
    let resource = timeline.resources().find("namespaces").ok();
    let is_proven = resource.is_some_and(|resource| {
        let coverage = timeline.coverage(resource.id);
        coverage.is_some_and(|coverage| coverage.imported().is_none())
            && timeline.is_fully_observed(resource.id)
    });
    let exit = if timeline.reel().has_losses() {
        Exit::Reel
    } else if is_proven {
        Exit::No
    } else {
        Exit::Unknown
    };
    let message = format!("namespace {namespace:?} was never observed");
    let mut error = CommandError::new(exit, message);
    if exit == Exit::Reel {
        error = error.hint(MAY_BE_UNREADABLE);
    }
    let near = nearest(namespace, timeline.namespaces().into_iter());
    Err(if !near.is_empty() {
        error.hint(format!("did you mean {}?", near.join(" or ")))
    } else if resource.is_some() {
        error.hint("to list them: kubereel get REEL namespaces")
    } else {
        error.hint("to see what was recorded: kubereel info REEL -o wide")
    })
}

/// Finds a resource by a name that kubectl accepts.
pub(crate) fn find_resource<'a>(
    timeline: &'a Timeline,
    name: &str,
) -> Result<&'a ResourceInfo, CommandError> {
    timeline
        .resources()
        .find(name)
        .map_err(|error| unknown_resource(&error, timeline))
}

/// Writes the line: `at 14:02:31.480Z (+41m12s, rv 118204) · complete`.
pub(crate) fn header(
    timeline: &Timeline,
    state: &ResourceSnapshot,
    cut: Cut,
    paint: Paint,
) -> String {
    let at = timeline.written(state.at);
    let offset = timetext::offset(state.at.micros_since(timeline.start()));
    let rv = match cut {
        Cut::Revision(rv) => Some(rv),
        Cut::Arrival { .. } => state.rv,
    };
    let rv = rv.map_or_else(String::new, |rv| format!(", rv {rv}"));
    let trust = trust(timeline, &state.certainty);
    let trust = if state.certainty.is_proven() {
        paint.good(&trust)
    } else {
        paint.wary(&trust)
    };
    format!("at {at} ({offset}{rv}) · {trust}")
}

/// What is said of another tool's recording.
pub(crate) const AS_IMPORTED: &str = "as imported: completeness is unknown";

/// Returns whether some resource is that of another tool's recording.
pub(crate) fn is_imported(timeline: &Timeline) -> bool {
    timeline.resources().iter().any(|info| {
        let coverage = timeline.coverage(info.id);
        coverage.is_some_and(|coverage| coverage.imported().is_some())
    })
}

/// How far the changes of some resources can be taken for all that there were; the worst of the resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChangeTrust {
    Complete,
    Imported,
    /// The time span ends in a time without a watch.
    Late,
    Gaps,
    /// The time span is longer than what is left of a damaged recording.
    Lost,
    /// The time span is longer than the recording.
    Outside,
    /// No resource was recorded.
    Unrecorded,
}

impl ChangeTrust {
    /// Says what limits the changes of something.
    pub(crate) fn words(self, timeline: &Timeline, gaps: &str) -> String {
        match self {
            Self::Gaps => gaps.to_owned(),
            Self::Late => {
                "no watch ran at the end of the time span: changes of that time were received later"
                    .to_owned()
            }
            Self::Imported => AS_IMPORTED.to_owned(),
            Self::Complete => "complete".to_owned(),
            Self::Unrecorded => "no resource was recorded".to_owned(),
            Self::Lost => "records of this time are lost: kubereel info names the loss".to_owned(),
            Self::Outside => {
                let (start, end) = (timeline.start(), timeline.end());
                let (start, end) = (timeline.written(start), timeline.written(end));
                format!("not observed outside of the recording, {start} to {end}")
            }
        }
    }

    /// Judges the changes between two moments; `None` for the ends of the recording.
    pub(crate) fn of(
        timeline: &Timeline,
        resources: impl IntoIterator<Item = ResourceId>,
        bounds: (Option<Cut>, Option<Cut>),
    ) -> Self {
        if timeline.reaches_outside(bounds.0, bounds.1) {
            return Self::Outside;
        }
        if timeline.reaches_lost(bounds.0, bounds.1) {
            return Self::Lost;
        }
        let each = resources.into_iter().map(|resource| {
            let coverage = timeline.coverage(resource);
            let unobserved = timeline.unobserved_within(resource, bounds);
            let worst = unobserved.map(|span| {
                if span.is_late() {
                    Self::Late
                } else {
                    Self::Gaps
                }
            });
            if let Some(worst) = worst.max() {
                worst
            } else if coverage.is_some_and(|coverage| coverage.imported().is_some()) {
                Self::Imported
            } else {
                Self::Complete
            }
        });
        // The announcement of a resource is a record, too.
        each.max().unwrap_or(if timeline.has_lost_records() {
            Self::Lost
        } else if has_resources(timeline) {
            Self::Complete
        } else {
            Self::Unrecorded
        })
    }

    /// Gives the exit code of an answer that lists changes.
    pub(crate) const fn exit(self) -> Exit {
        match self {
            Self::Late | Self::Gaps | Self::Lost | Self::Outside | Self::Unrecorded => {
                Exit::Unknown
            }
            Self::Imported | Self::Complete => Exit::Yes,
        }
    }
}

/// Says how far a state can be trusted.
pub(crate) fn trust(timeline: &Timeline, certainty: &Certainty) -> String {
    let written = |at| timeline.written(at);
    match certainty {
        Certainty::Known { silent_since: None } => "complete".to_owned(),
        Certainty::Known {
            silent_since: Some(since),
        } => format!(
            "complete; last message from the server at {}",
            written(*since)
        ),
        Certainty::ReadBack { from, to } => {
            format!("complete, read back ({}–{})", written(*from), written(*to))
        }
        Certainty::Imported { .. } => AS_IMPORTED.to_owned(),
        Certainty::InsideGap { gap } => format!(
            "inside a gap {}–{}: may differ ({})",
            written(gap.from),
            written(gap.gap.to_time),
            gap.cause()
        ),
        Certainty::Unobserved { from, to, reason } => {
            let to = to.map_or_else(|| "the end".to_owned(), written);
            format!(
                "not observed {}–{to}: may differ ({reason})",
                written(*from)
            )
        }
        Certainty::Blind {
            from,
            to: Some(to),
            recorder,
        } => format!(
            "{} {}–{}: changes of that time were received later",
            recorder.no_watch(),
            written(*from),
            written(*to)
        ),
        Certainty::Blind {
            from,
            to: None,
            recorder,
        } => {
            format!(
                "{} since {}: may differ",
                recorder.no_watch(),
                written(*from)
            )
        }
        Certainty::Damaged { damage } => {
            format!(
                "the reel is damaged at {}: may differ ({})",
                damage.place, damage.cause
            )
        }
        Certainty::AfterLast { last } => {
            format!("after the last known state, {}: may differ", written(*last))
        }
        certainty if certainty.is_gone() => "no longer served".to_owned(),
        Certainty::NotCovered { reason, detail } => {
            let words = format!("not recorded: {} {detail}", reason.as_str());
            words.trim_end().to_owned()
        }
        Certainty::BeforeFirst { .. } => "before the first known state".to_owned(),
    }
}

/// Tells whether any resource was recorded: none is, where no cluster answered.
fn has_resources(timeline: &Timeline) -> bool {
    timeline.resources().iter().next().is_some()
}

/// Says why a name names no recorded resource.
pub(crate) fn unknown_resource(error: &SelectError, timeline: &Timeline) -> CommandError {
    let loss = Exit::of_loss(timeline);
    // A name of kubectl is not a misspelled other one: "pvc" does not mean "svc".
    if let SelectError::UnknownResource { name, .. } = error
        && let Some(known) = builtin_resource(name)
        && loss.is_none()
        && has_resources(timeline)
    {
        return CommandError::usage(format!("{error}: it has no {known}"))
            .hint("to list its resources: kubereel api-resources REEL")
            .of_missing_resource();
    }
    match (error, loss) {
        (SelectError::UnknownResource { .. }, Some(exit)) => {
            CommandError::new(exit, format!("{error}, as far as it can be read"))
                .hint("to see what is lost: kubereel info REEL")
        }
        (SelectError::UnknownResource { .. }, None) if !has_resources(timeline) => {
            CommandError::unknown(format!("{error}: no resource was recorded"))
                .hint("to see why: kubereel info REEL")
                .of_missing_resource()
        }
        (SelectError::UnknownResource { nearest, .. }, None) if nearest.is_empty() => {
            CommandError::usage(error)
                .hint("to list its resources: kubereel info REEL -o wide")
                .of_missing_resource()
        }
        (SelectError::UnknownResource { nearest, .. }, None) => {
            let names = nearest.join(" or ");
            CommandError::usage(error)
                .hint(format!("did you mean {names}?"))
                .of_missing_resource()
        }
        (SelectError::NotCovered { excluded }, _) if !excluded.detail.is_empty() => {
            CommandError::unknown(error).hint(&excluded.detail)
        }
        (SelectError::OtherVersion { qualified, .. }, _) => {
            CommandError::usage(error).hint(format!("use {qualified}"))
        }
        _ => CommandError::unknown(error),
    }
}

/// Gives the place of a moment for a resource: the start is the first state that is known of it, for the first record
/// comes before the first list.
pub(crate) fn known_cut(
    timeline: &Timeline,
    resource: ResourceId,
    at: Moment,
    cut: Cut,
) -> Result<Cut, CommandError> {
    if at != Moment::Start {
        return Ok(cut);
    }
    let nothing = [String::new()];
    let none = ObjectFilter {
        namespace: None,
        names: &nothing,
    };
    match timeline.as_of(resource, cut, &none).certainty {
        Certainty::BeforeFirst { first: Some(first) } => {
            arguments::resolve(timeline, Moment::Time(first), "--at")
        }
        _ => Ok(cut),
    }
}

/// Says why there is no state to show.
///
/// `flag` is the one that gave the moment.
pub(crate) fn no_state(
    timeline: &Timeline,
    resource: &ResourceInfo,
    state: &ResourceSnapshot,
    flag: &str,
) -> CommandError {
    let name = resource.qualified();
    let at = timeline.written(state.at);
    match &state.certainty {
        Certainty::BeforeFirst { first: Some(first) } => {
            let first = timeline.written(*first);
            CommandError::unknown(format!("{name} are not known at {at} yet"))
                .hint(format!("their first known state: {flag} {first}"))
        }
        Certainty::BeforeFirst { first: None } => CommandError::unknown(format!(
            "{name} are not known at {at}: no complete list was received"
        )),
        certainty if certainty.is_gone() => CommandError::new(
            Exit::No,
            format!("the server no longer served {name} at {at}"),
        )
        .hint(format!(
            "to see its last objects, choose an earlier moment with {flag}"
        )),
        Certainty::NotCovered { reason, detail } => {
            let reason = reason.as_str();
            let failed =
                CommandError::unknown(format!("{name} were not recorded at {at}: {reason}"));
            if detail.is_empty() {
                failed
            } else {
                failed.hint(detail)
            }
        }
        _ => CommandError::unknown(format!("{name} are not known at {at}")),
    }
}
