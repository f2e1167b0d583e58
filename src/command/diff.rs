//! `kubereel diff`: the differences between two moments, object by object and field by field. A resource without a
//! state at one of the moments is named, and does not fail the others.

use crate::arguments::{self, JsonOutput};
use crate::command::object_query;
use crate::command::object_query::{AS_IMPORTED, TargetObject};
use crate::command::unreadable::UnreadableObjects;
use crate::command_error::{CommandError, Exit};
use crate::field_text::{self, FieldChangeOutput, HANG};
use crate::files;
use crate::outputs::outputs;
use crate::progress::ProgressReporter;
use crate::screen::{Console, JsonList, Style, StyledLine};
use crate::words::count;
use kubereel_cluster::{StateKind, VersionChanges};
use kubereel_format::{RecordedAt, ResourceInfo};
use kubereel_history::{
    Certainty, Change, ChangeKind, ComparedBodies, ComparisonScope, Cut, Field, LabelSelector,
    Moment, ObjectDifference, ObjectFate, ObjectFilter, ObjectVersion, ResourceMoment,
    ResourceSnapshot, Timeline, differing, harmless, timetext,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Show the differences between two moments: created, deleted and changed objects, field by field
///
/// Without a resource, all resources are compared, in all namespaces unless -n names one. Fields are
/// written as they are shown: `.status.conditions[Degraded].status`. metadata.managedFields and
/// metadata.resourceVersion are omitted by default.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// The resource, with or without a name; all resources if none is given
    #[arg(value_name = "RESOURCE[/NAME]")]
    resource: Option<String>,
    /// Names of objects; all objects if none is given
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The first moment
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    from: Moment,
    /// The second moment
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    to: Moment,
    /// Only this namespace
    #[arg(short, long, value_name = "NS", value_parser = arguments::namespace)]
    namespace: Option<String>,
    /// All namespaces, as without -n
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
    /// Only objects whose labels match at either moment, as for kubectl
    #[arg(short = 'l', long, value_name = "SELECTOR", default_value = "")]
    selector: LabelSelector,
    /// Only this field and those below it; may be given more than once
    #[arg(long = "field", value_name = "FIELD")]
    fields: Vec<Field>,
    /// Compare metadata.managedFields too
    #[arg(long)]
    show_managed_fields: bool,
    /// End with exit code 1 if anything differs
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    output: JsonOutput,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel diff run.reel --from 14:02 --to 14:05
  kubereel diff run.reel clusteroperators --from 14:02 --field .status.conditions
  kubereel diff run.reel deploy/shop -n web --from +10m --to +12m
  kubereel diff run.reel nodes --from rv:4000 --to rv:9000 --exit-code -o json

Exit codes:
  0  compared
  1  with --exit-code: there are differences
  3  the reel is damaged; what can be read was compared
  4  some or all of it is not known at one of the moments

{}",
        arguments::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    answer(&timeline, args, screen)
}

/// Two states of one resource.
pub(crate) struct StatePair<'a> {
    before: ResourceMoment<'a>,
    after: ResourceMoment<'a>,
    states: (ResourceSnapshot, ResourceSnapshot),
}

/// One of the two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiffEnd {
    From,
    To,
}

impl StatePair<'_> {
    const fn state(&self, end: DiffEnd) -> &ResourceSnapshot {
        match end {
            DiffEnd::From => &self.states.0,
            DiffEnd::To => &self.states.1,
        }
    }
}

/// Two moments and what is known at them.
struct DiffStates<'a> {
    pairs: Vec<StatePair<'a>>,
    /// Resources that have no state at one of the moments, and why.
    unknown: Vec<(String, Certainty)>,
}

/// Answers a args about an open reel.
pub(crate) fn answer(
    timeline: &Timeline,
    args: &Args,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let cuts = (
        arguments::resolve_within(timeline, args.from, "--from")?,
        arguments::resolve_within(timeline, args.to, "--to")?,
    );
    arguments::refuse_backward(timeline, (Some(cuts.0), Some(cuts.1)))?;
    if let Some(namespace) = &args.namespace {
        object_query::known_namespace(timeline, namespace)?;
    }
    let unreadable = UnreadableObjects::default();
    let compared = match &args.resource {
        Some(resource) => one_resource(timeline, args, resource, cuts, &unreadable, screen)?,
        None => all_resources(timeline, args, cuts, &unreadable, screen)?,
    };
    let scope = ComparisonScope {
        fields: args.fields.clone(),
        shows_managed_fields: args.show_managed_fields,
        shows_resource_version: false,
    };
    let (found, uncompared) =
        print_differences(timeline, args, &compared, &scope, &unreadable, screen)?;
    let certainties = compared
        .pairs
        .iter()
        .flat_map(|pair| [&pair.states.0.certainty, &pair.states.1.certainty])
        .chain(compared.unknown.iter().map(|(_, certainty)| certainty));
    let is_damaged = |certainty: &&Certainty| matches!(certainty, Certainty::Damaged { .. });
    let of_objects = unreadable.report(screen)?;
    Ok(if certainties.clone().any(|one| is_damaged(&one)) {
        Exit::Reel
    } else if certainties.clone().any(|one| !is_known(one)) || uncompared > 0 {
        Exit::Unknown
    } else if args.exit_code && found > 0 {
        Exit::No
    } else {
        Exit::Yes
    }
    .worse(of_objects))
}

fn one_resource<'a>(
    timeline: &'a Timeline,
    args: &Args,
    resource: &str,
    cuts: (Cut, Cut),
    unreadable: &UnreadableObjects,
    screen: &mut Console,
) -> Result<DiffStates<'a>, CommandError> {
    let (resource, names) = object_query::names(resource, &args.names)?;
    if !names.is_empty() && !args.selector.is_empty() {
        let both = "names cannot be combined with a label selector";
        return Err(CommandError::usage(both));
    }
    let found = object_query::find_resource(timeline, resource)?;
    let pair = state_pair(timeline, args, found, cuts, &names, unreadable)?;
    for (word, asked, state) in [
        ("from", pair.before, &pair.states.0),
        ("to", pair.after, &pair.states.1),
    ] {
        if !state.certainty.has_state() && !state.certainty.is_gone() {
            let flag = format!("--{word}");
            return Err(object_query::no_state(
                timeline,
                asked.resource,
                state,
                &flag,
            ));
        }
        let line = object_query::header(timeline, state, asked.cut, screen.err_paint());
        let line = line.strip_prefix("at ").unwrap_or(&line);
        screen.aside(format!("{word:<4} {line}"))?;
    }
    for name in &names {
        let is_there =
            |state: &ResourceSnapshot| state.objects.iter().any(|held| held.name == *name);
        if !is_there(&pair.states.0) && !is_there(&pair.states.1) {
            return Err(nowhere(timeline, args, &pair, name));
        }
    }
    Ok(DiffStates {
        pairs: vec![pair],
        unknown: Vec::new(),
    })
}

/// Makes the error of a name that exists at neither moment.
fn nowhere(timeline: &Timeline, args: &Args, pair: &StatePair<'_>, name: &str) -> CommandError {
    let resource = pair.after.resource;
    let namespace = args.namespace.as_deref().filter(|_| resource.namespaced);
    let found = || {
        let found = timeline.in_any_namespace(resource.id, name);
        found
            .filter(|key| key.name == name)
            .map(|key| key.namespace)
    };
    let named = TargetObject {
        resource,
        namespace: namespace.or_else(found).unwrap_or_default(),
        name: name.to_owned(),
    };
    let states = [&pair.states.0.certainty, &pair.states.1.certainty];
    named.not_found(timeline, "at either moment", states)
}

/// Asks for both states of a resource.
fn state_pair<'a>(
    timeline: &'a Timeline,
    args: &Args,
    found: &'a ResourceInfo,
    cuts: (Cut, Cut),
    names: &[String],
    unreadable: &UnreadableObjects,
) -> Result<StatePair<'a>, CommandError> {
    let asked = |at: Moment, cut: Cut| {
        let cut = object_query::known_cut(timeline, timeline.resource_at(found, cut).id, at, cut)?;
        let resource = timeline.resource_at(found, cut);
        let filter = ObjectFilter {
            namespace: args.namespace.as_deref().filter(|_| resource.namespaced),
            names,
        };
        let mut state = timeline.as_of(resource.id, cut, &filter);
        if !names.is_empty() {
            state.certainty = timeline.readable_certainty(&state, cut);
        }
        Ok::<_, CommandError>((ResourceMoment { resource, cut }, state))
    };
    let ((before, mut old), (after, mut new)) =
        (asked(args.from, cuts.0)?, asked(args.to, cuts.1)?);
    if !args.selector.is_empty() {
        let chosen = |state: &ResourceSnapshot, at: ResourceMoment<'_>| {
            let objects = state.objects.clone();
            unreadable.labelled(timeline, at.resource, objects, at.cut, &args.selector)
        };
        let either: BTreeSet<(String, String)> = [chosen(&old, before), chosen(&new, after)]
            .into_iter()
            .flatten()
            .map(|held| (held.namespace, held.name))
            .collect();
        let is_chosen =
            |held: &ObjectVersion| either.contains(&(held.namespace.clone(), held.name.clone()));
        for state in [&mut old, &mut new] {
            state.objects.retain(is_chosen);
            state.unreadable.retain(is_chosen);
        }
    }
    Ok(StatePair {
        before,
        after,
        states: (old, new),
    })
}

/// One object that differs, and how.
struct ChangedObject<'a> {
    pair: &'a StatePair<'a>,
    differing: &'a ObjectDifference,
    changes: Vec<Change>,
}

/// Reads and prints what differs; gives how many objects do, and of how many more that is not known.
fn print_differences(
    timeline: &Timeline,
    args: &Args,
    compared: &DiffStates<'_>,
    scope: &ComparisonScope,
    unreadable: &UnreadableObjects,
    screen: &mut Console,
) -> Result<(u64, u64), CommandError> {
    let all: Vec<(&StatePair<'_>, ObjectDifference)> = compared
        .pairs
        .iter()
        .flat_map(|pair| {
            let differing = differing(&pair.states.0, &pair.states.1);
            differing.into_iter().map(move |one| (pair, one))
        })
        .collect();
    let total = all.len();
    let mut progress = ProgressReporter::begin("comparing", total, screen.is_err_terminal());
    let mut list = if args.output.is_json() {
        Some(JsonList::begin(
            &DiffHead::of(timeline, compared),
            "differences",
            screen,
        )?)
    } else {
        None
    };
    let (mut found, mut uncompared) = (0, 0);
    let cuts = |pair: &StatePair<'_>| (pair.before.cut, pair.after.cut);
    let mut done = 0;
    for part in all.chunk_by(|(one, _), (other, _)| cuts(one) == cuts(other)) {
        let Some((first, _)) = part.first() else {
            continue;
        };
        let fates = part.iter().map(|(_, one)| &one.fate);
        let bodies = ComparedBodies::of(timeline, fates, cuts(first), scope);
        for (pair, differing) in part {
            done += 1;
            progress.reached(done);
            let resources = (pair.before.resource, pair.after.resource);
            let changes = bodies.changes(&differing.fate, resources, scope);
            let fate = &differing.fate;
            let Some(held) = fate.after().or(fate.before()) else {
                continue;
            };
            let Some(changes) = unreadable.readable(resources.1, held, changes) else {
                continue;
            };
            let is_whole =
                scope.fields.is_empty() && !matches!(differing.fate, ObjectFate::Changed { .. });
            if changes.is_empty() && !is_whole {
                continue;
            }
            let is_unknown = |change: &Change| change.kind == ChangeKind::Unknown;
            if !changes.is_empty() && changes.iter().all(is_unknown) {
                uncompared += 1;
            } else {
                found += 1;
            }
            let one = ChangedObject {
                pair,
                differing,
                changes,
            };
            match &mut list {
                None => print_object(timeline, &one, screen)?,
                Some(list) => list.push(&DiffEntry::of(timeline, &one), screen)?,
            }
        }
    }
    if list.is_some() {
        JsonList::end(screen)?;
    }
    print_sum(compared, (found, uncompared), screen)?;
    if let Some(field) = scope.fields.first().filter(|_| found == 0) {
        let field = harmless(&field.to_string()).into_owned();
        screen.aside(format!(
            "hint: to see whether objects have {field}: kubereel history REEL RESOURCE/NAME --field {field}"
        ))?;
    }
    Ok((found, uncompared))
}

/// Says how many objects differ, and of how many that is not known.
fn print_sum(
    compared: &DiffStates<'_>,
    (found, uncompared): (u64, u64),
    screen: &mut Console,
) -> Result<(), CommandError> {
    let states = |pair: &StatePair<'_>| {
        is_known(&pair.states.0.certainty) && is_known(&pair.states.1.certainty)
    };
    let is_all = compared.unknown.is_empty() && compared.pairs.iter().all(states);
    let known = if is_all && uncompared == 0 {
        ""
    } else {
        " as far as both states are known"
    };
    match found {
        0 if uncompared > 0 => {}
        0 => screen.aside(format!("nothing differs{known}"))?,
        1 => screen.aside(format!("1 object differs{known}"))?,
        found => screen.aside(format!("{} differ{known}", count(found, "object")))?,
    }
    if uncompared == 0 {
        return Ok(());
    }
    let those = count(uncompared, "object");
    let words = format!("{those} may differ: redacted in two sessions of the recorder");
    screen.aside(screen.err_paint().wary(&words))
}

/// How many resources are named one by one.
const NAMED: usize = 5;

/// Asks for both states of every resource.
fn all_resources<'a>(
    timeline: &'a Timeline,
    args: &Args,
    cuts: (Cut, Cut),
    unreadable: &UnreadableObjects,
    screen: &mut Console,
) -> Result<DiffStates<'a>, CommandError> {
    // A resource that was recorded in several versions is one resource.
    let resources: BTreeMap<String, &ResourceInfo> = timeline
        .resources()
        .iter()
        .filter(|info| info.namespaced || args.namespace.is_none())
        .map(|info| (info.qualified(), info))
        .collect();
    let mut pairs = Vec::new();
    let mut unknown = Vec::new();
    for (name, info) in resources {
        let pair = state_pair(timeline, args, info, cuts, &[], unreadable)?;
        let without = [&pair.states.0, &pair.states.1]
            .into_iter()
            .find(|state| !state.certainty.has_state() && !state.certainty.is_gone());
        match without.map(|state| state.certainty.clone()) {
            Some(certainty) => unknown.push((name, certainty)),
            None => pairs.push(pair),
        }
    }
    if pairs.is_empty() {
        return Err(nothing_known(timeline));
    }
    print_moment(timeline, DiffEnd::From, cuts.0, &pairs, screen)?;
    print_moment(timeline, DiffEnd::To, cuts.1, &pairs, screen)?;
    if !unknown.is_empty() {
        let names = unknown.iter().map(|(name, _)| name.as_str());
        let line = format!(
            "not known at both moments: {}",
            first_names(names, unknown.len())
        );
        screen.aside(screen.err_paint().wary(&line))?;
    }
    Ok(DiffStates { pairs, unknown })
}

fn nothing_known(timeline: &Timeline) -> CommandError {
    if timeline.reel().has_losses() {
        return CommandError::reel(
            "no resource is known at both moments in the readable part of the reel",
        )
        .hint("to see where it is damaged: kubereel info REEL");
    }
    let error = CommandError::unknown("no resource is known at both moments");
    let first = timeline
        .first_complete()
        .and_then(|seq| timeline.reel().stamp(seq));
    match first {
        Some(first) => {
            let first = timeline.written(first.wall);
            error.hint(format!("the first complete list was received at {first}"))
        }
        None => error,
    }
}

/// Gives the time of a moment: of a resourceVersion, the latest of any resource.
fn moment_of(timeline: &Timeline, end: DiffEnd, cut: Cut, pairs: &[StatePair<'_>]) -> RecordedAt {
    match cut {
        Cut::Arrival { wall, .. } => wall,
        Cut::Revision(_) => {
            let times = pairs.iter().map(|pair| pair.state(end).at);
            times.max().unwrap_or(timeline.start())
        }
    }
}

/// Says when a moment was and how far the states there can be trusted.
fn print_moment(
    timeline: &Timeline,
    end: DiffEnd,
    cut: Cut,
    pairs: &[StatePair<'_>],
    screen: &mut Console,
) -> Result<(), CommandError> {
    let at = moment_of(timeline, end, cut, pairs);
    let word = match end {
        DiffEnd::From => "from",
        DiffEnd::To => "to",
    };
    let mut unsure: BTreeMap<&str, Vec<&StatePair<'_>>> = BTreeMap::new();
    for pair in pairs {
        if let Some(kind) = short_trust(&pair.state(end).certainty) {
            unsure.entry(kind).or_default().push(pair);
        }
    }
    let paint = screen.err_paint();
    let offset = timetext::offset(at.micros_since(timeline.start()));
    let mut line = format!("{word:<4} {} ({offset})", timeline.written(at));
    if unsure.is_empty() {
        let amount = pairs.len();
        let all = format!("{}, complete", count(amount, "resource"));
        line = format!("{line} · {}", paint.good(&all));
    }
    for (kind, whose) in unsure {
        let names = whose.iter().map(|pair| pair.after.resource.qualified());
        let names: Vec<String> = names.collect();
        let text = match whose.as_slice() {
            [only] => {
                let trust = object_query::trust(timeline, &only.state(end).certainty);
                format!("{}: {trust}", names.concat())
            }
            whose if whose.len() == pairs.len() => kind.to_owned(),
            whose => format!(
                "{kind}: {}",
                first_names(names.iter().map(String::as_str), whose.len())
            ),
        };
        line = format!("{line} · {}", paint.wary(&text));
    }
    screen.aside(line)
}

/// Returns whether a state is complete: also that of a resource that is no longer served.
const fn is_known(certainty: &Certainty) -> bool {
    certainty.is_known() || certainty.is_gone()
}

/// Says in a few words why a state may differ; `None` if it is proven.
const fn short_trust(certainty: &Certainty) -> Option<&'static str> {
    match certainty {
        certainty if certainty.is_gone() => Some("no longer served"),
        Certainty::Known { .. } | Certainty::ReadBack { .. } => None,
        Certainty::Imported { .. } => Some(AS_IMPORTED),
        Certainty::InsideGap { .. } => Some("inside a gap"),
        Certainty::Unobserved { .. } => Some("not observed"),
        Certainty::Blind { recorder, .. } => Some(recorder.no_watch()),
        Certainty::Damaged { .. } => Some("the reel is damaged"),
        Certainty::AfterLast { .. } => Some("after the last known state"),
        Certainty::NotCovered { .. } | Certainty::BeforeFirst { .. } => Some("not known"),
    }
}

fn first_names<'a>(names: impl Iterator<Item = &'a str>, total: usize) -> String {
    let shown: Vec<&str> = names.take(NAMED).collect();
    let rest = total.saturating_sub(shown.len());
    let shown = shown.join(", ");
    if rest == 0 {
        shown
    } else {
        format!("{shown} and {rest} more")
    }
}

/// The two states of each resource, before the differences.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DiffHead {
    from: Vec<ComparedState>,
    to: Vec<ComparedState>,
    unknown: Vec<UncomparedResource>,
}

outputs! {
struct ComparedState(timeline: &Timeline, pair: &StatePair<'_>, end: DiffEnd) {
    resource: String = pair.after.resource.qualified(),
    at: String = timetext::rfc3339(pair.state(end).at),
    rv: Option<String> = pair.state(end).rv.map(|rv| rv.to_string()),
    is_known: bool = is_known(&pair.state(end).certainty),
    trust: String = object_query::trust(timeline, &pair.state(end).certainty),
    objects: usize = pair.state(end).objects.len(),
}

struct UncomparedResource(timeline: &Timeline, name: &str, certainty: &Certainty) {
    resource: String = name.to_owned(),
    trust: String = object_query::trust(timeline, certainty),
}
}

/// An object that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DiffEntry<'a> {
    resource: String,
    namespace: &'a str,
    name: &'a str,
    change: &'static str,
    old: Option<DiffVersion>,
    new: Option<DiffVersion>,
    changes: Vec<FieldChangeOutput>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DiffVersion {
    seq: u64,
    at: String,
    rv: String,
    uid: String,
}

impl DiffHead {
    fn of(timeline: &Timeline, compared: &DiffStates<'_>) -> Self {
        let states = |end: DiffEnd| {
            let states = compared.pairs.iter();
            let states = states.map(|pair| ComparedState::of(timeline, pair, end));
            states.collect()
        };
        let unknown = compared.unknown.iter();
        Self {
            from: states(DiffEnd::From),
            to: states(DiffEnd::To),
            unknown: unknown
                .map(|(name, certainty)| UncomparedResource::of(timeline, name, certainty))
                .collect(),
        }
    }
}

impl<'a> DiffEntry<'a> {
    fn of(timeline: &Timeline, object: &'a ChangedObject<'_>) -> Self {
        let differing = &object.differing;
        let reel = timeline.reel();
        let version = |held: Option<&ObjectVersion>| {
            let head = reel.head(held?.seq)?;
            Some(DiffVersion {
                seq: head.seq.0,
                at: timetext::rfc3339(head.stamp.wall),
                rv: head.resource_version.clone(),
                uid: reel.key(head.object)?.uid.to_string(),
            })
        };
        Self {
            resource: object.pair.after.resource.qualified(),
            namespace: &differing.namespace,
            name: &differing.name,
            change: differing.fate.as_str(),
            old: version(differing.fate.before()),
            new: version(differing.fate.after()),
            changes: FieldChangeOutput::all(&object.changes),
        }
    }
}

/// Prints one object that differs.
fn print_object(
    timeline: &Timeline,
    found: &ChangedObject<'_>,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut lines = vec![object_line(timeline, found)];
    let resource = found.pair.after.resource;
    lines.extend(field_text::lines(VersionChanges::of(
        StateKind::of_resource(resource),
        &found.changes,
    )));
    let (width, paint) = (screen.width(), screen.paint());
    let mut rows = lines.iter().flat_map(|line| line.rows(width, HANG, paint));
    rows.try_for_each(|row| screen.line(row))
}

fn object_line(timeline: &Timeline, found: &ChangedObject<'_>) -> StyledLine {
    let differing = &found.differing;
    let (sign, style) = match differing.fate {
        // Green and red are for healthy and unhealthy.
        ObjectFate::Created { .. } => ("+", Style::Strong),
        ObjectFate::Deleted { .. } => ("-", Style::Strong),
        ObjectFate::Recreated { .. } => ("±", Style::Wary),
        ObjectFate::Changed { .. } => ("~", Style::Strong),
    };
    let resource = found.pair.after.resource.qualified();
    let mut line = StyledLine::of(style, format!("{sign} {resource}/{}", differing.name));
    if !differing.namespace.is_empty() {
        line.push(Style::Plain, format!(" -n {}", differing.namespace));
    }
    line.push(
        Style::Faint,
        format!("  {}", object_change(timeline, found)),
    );
    line
}

fn object_change(timeline: &Timeline, found: &ChangedObject<'_>) -> String {
    let reel = timeline.reel();
    let written = |seq| {
        let stamp = reel.stamp(seq).map(|stamp| stamp.wall);
        timeline.written(stamp.unwrap_or_default())
    };
    let first = |held: &ObjectVersion| reel.versions(held.object).first().copied();
    let uid = |held: &ObjectVersion| {
        reel.key(held.object)
            .map_or_else(String::new, |key| key.uid.to_string())
    };
    match &found.differing.fate {
        ObjectFate::Created { new } => {
            let at = first(new).map(written).unwrap_or_default();
            format!("created, first seen at {at}")
        }
        ObjectFate::Deleted { old } => {
            let last = reel.versions(old.object).last().copied();
            let since = |last| {
                timeline
                    .late_since(last)
                    .or_else(|| timeline.unseen_before(last))
            };
            let unseen = last.and_then(since);
            let unseen = unseen.map(|at| timeline.written(at));
            let at = unseen.or(last.map(written)).unwrap_or_default();
            format!("deleted, last seen at {at}")
        }
        ObjectFate::Recreated { old, new } => {
            let at = first(new).map(written).unwrap_or_default();
            format!("another object since {at}: uid {} → {}", uid(old), uid(new))
        }
        ObjectFate::Changed { old, new } => {
            let versions = reel.versions(new.object);
            let between = versions
                .iter()
                .filter(|seq| **seq > old.seq.min(new.seq) && **seq <= old.seq.max(new.seq))
                .count();
            format!(
                "{}, the last at {}",
                count(between, "version"),
                written(old.seq.max(new.seq))
            )
        }
    }
}
