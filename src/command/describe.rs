//! `kubereel describe`: everything about one object at a moment, on one page.

use crate::arguments::{self, JsonLinesOutput};
use crate::command::events::{self, EventOutput};
use crate::command::history::{HistoryOutputItem, item_lines};
use crate::command::object_query::{self, TargetObject};
use crate::command::selection::{SelectedResource, SelectionArgs};
use crate::command::unreadable::UnreadableObjects;
use crate::command_error::{CommandError, Exit};
use crate::field_text::{self, FieldWriterOutput, HANG};
use crate::files;
use crate::outputs::outputs;
use crate::screen::{Console, Style, StyledLine};
use crate::table::TextTable;
use crate::words::{count, number};
use clap::ArgAction;
use kubereel_format::{EventType, ResourceInfo, Seq};
use kubereel_history::{
    Authors, Child, Cut, DescribedCondition, Description, HistoryItem, IncompleteList, LoggedEvent,
    Moment, ObjectFilter, ObjectPage, ObjectVersion, OwnerRef, PageLine, QueryError,
    ResourceSnapshot, Scalar, Timeline, UnobservedSpan, timetext,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Show everything about objects at a moment, as kubectl describe does, and what only a recording knows
///
/// Pods, Nodes, Services, Namespaces, volume claims, workloads and custom resources have the page that
/// kubectl prints; the page of any other kind lists all of its fields. After it come the version, owners and children,
/// conditions with their reasons, the changes before and after the moment, and Events, including those that have
/// expired. Without a name, all objects are described; a name that no object has stands for those that begin with it.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    which: SelectionArgs,
    /// Show the state at this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Moment,
    /// Show changes this many minutes before and after the moment, 1 to 1440
    #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1440))]
    around: u16,
    /// Show at most this many versions before and after the moment
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    versions: u16,
    /// Show Events
    #[arg(long, value_name = "BOOL", default_value = "true", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    show_events: bool,
    #[command(flatten)]
    output: JsonLinesOutput,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel describe run.reel pod/web-0 -n shop --at 14:02:31
  kubereel describe run.reel pods -n shop -l app=web
  kubereel describe run.reel co/etcd --at rv:118204 --around 30
  kubereel describe run.reel node/worker-1 -o json | jq '.conditions'

{}
{}",
        arguments::STATE_EXITS,
        arguments::forms_help()
    )
}

/// What is described, and when.
pub(crate) struct DescribedObject<'a> {
    timeline: &'a Timeline,
    resource: &'a ResourceInfo,
    state: &'a ResourceSnapshot,
    held: &'a ObjectVersion,
    description: &'a Description,
    page: &'a ObjectPage,
    around_minutes: u16,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let cut = arguments::resolve_at(&timeline, args.at)?;
    let selection = args.which.selection(false);
    let unreadable = UnreadableObjects::default();
    let mut exit = Exit::Yes;
    let mut described = 0_u64;
    for target in selection.resources(&timeline, cut)? {
        let (cut, state) = target.state(&timeline, args.at, cut)?;
        let labelled = unreadable.labelled(
            &timeline,
            target.resource,
            state.objects.clone(),
            cut,
            &args.which.selector,
        );
        let found = FoundObjects::of(&timeline, &target, &state, cut, labelled);
        screen.aside(object_query::header(
            &timeline,
            &state,
            cut,
            screen.err_paint(),
        ))?;
        for held in &found.held {
            let read = read(args, &timeline, (&target, &state, cut), held);
            let Some((description, page)) = unreadable.readable(target.resource, held, read) else {
                continue;
            };
            if described > 0 && !args.output.is_json() {
                screen.line("\n")?;
            }
            let subject = DescribedObject {
                timeline: &timeline,
                resource: target.resource,
                state: &state,
                held,
                description: &description,
                page: &page,
                around_minutes: args.around,
            };
            describe(args, &subject, screen)?;
            described += 1;
            for list in &page.incomplete {
                exit = exit.worse(object_query::exit_of(&list.certainty));
            }
            if has_unreadable(&description) {
                exit = exit.worse(Exit::Reel);
            }
        }
        exit = exit.worse(object_query::exit_of(&state.certainty));
        if let Some(error) = found.absent {
            unreadable.report(screen)?;
            screen.finish()?;
            return Err(error);
        }
    }
    if described == 0 && unreadable.is_empty() {
        selection.say_none(&timeline, screen)?;
    }
    Ok(exit.worse(unreadable.report(screen)?))
}

/// The objects that the words of a command name.
struct FoundObjects {
    held: Vec<ObjectVersion>,
    /// Why a name has none.
    absent: Option<CommandError>,
}

impl FoundObjects {
    /// Finds them; as for kubectl, a name that no object has stands for all that begin with it.
    fn of(
        timeline: &Timeline,
        target: &SelectedResource<'_>,
        state: &ResourceSnapshot,
        cut: Cut,
        mut held: Vec<ObjectVersion>,
    ) -> Self {
        // In the order of the names, as from kubectl.
        held.sort_by_key(|held| target.names.iter().position(|name| *name == held.name));
        let mut absent = None;
        for name in &target.names {
            if held.iter().any(|held| held.name == *name) {
                continue;
            }
            let filter = ObjectFilter {
                namespace: target.namespace.as_deref(),
                names: &[],
            };
            let all = timeline.as_of(target.resource.id, cut, &filter).objects;
            let begins = all
                .into_iter()
                .filter(|held| held.name.starts_with(name.as_str()));
            let count = held.len();
            held.extend(begins);
            if held.len() == count {
                let named = TargetObject {
                    resource: target.resource,
                    namespace: target.namespace.as_deref().unwrap_or_default(),
                    name: name.clone(),
                };
                absent = Some(named.absent(timeline, state));
            }
        }
        Self { held, absent }
    }
}

/// Reads what is known of an object, and the page that kubectl prints of it.
fn read(
    args: &Args,
    timeline: &Timeline,
    (target, state, cut): (&SelectedResource<'_>, &ResourceSnapshot, Cut),
    held: &ObjectVersion,
) -> Result<(Description, ObjectPage), QueryError> {
    const MICROS_A_MINUTE: i64 = 60_000_000;
    let around = i64::from(args.around) * MICROS_A_MINUTE;
    let versions = usize::from(args.versions);
    let mut description = timeline.describe(target.resource, held, cut, around, versions)?;
    if !args.show_events {
        description.events.clear();
        description.unreadable_events = 0;
    }
    let page = ObjectPage::of(
        timeline,
        target.resource,
        &description.object,
        cut,
        state.at,
    )?;
    Ok((description, page))
}

/// Tells whether a section lacks what cannot be read.
fn has_unreadable(description: &Description) -> bool {
    let relatives = &description.relatives;
    let mut around = description.around.iter();
    description.unreadable_events > 0
        || relatives.unsearched.objects > 0
        || relatives.owners.iter().any(|owner| owner.is_unreadable)
        || around.any(|item| matches!(item, HistoryItem::Unreadable { .. }))
}

fn describe(
    args: &Args,
    subject: &DescribedObject<'_>,
    screen: &mut Console,
) -> Result<(), CommandError> {
    if args.output.is_json() {
        screen.json_line(&DescribeOutput::of(subject))
    } else {
        print_page(args, subject, screen)
    }
}

outputs! {
/// An object at a moment, and what is around it.
struct DescribeOutput<'a>(subject: &'a DescribedObject<'_>) {
    resource: String = subject.resource.qualified(),
    namespace: &'a str = &subject.held.namespace,
    name: &'a str = &subject.held.name,
    at: String = timetext::rfc3339(subject.state.at),
    is_known: bool = subject.state.certainty.is_known(),
    seq: u64 = subject.description.seq.0,
    received: String = timetext::rfc3339(subject.description.received),
    rv: &'a str = &subject.description.rv,
    uid: &'a str = &subject.description.uid,
    created: &'a str = &subject.description.created,
    deletion_asked: &'a str = &subject.description.deletion_asked,
    writers: Option<Vec<FieldWriterOutput>> = FieldWriterOutput::of(&subject.description.authors),
    labels: &'a Map<String, Value> = &subject.description.labels,
    annotations: &'a Map<String, Value> = &subject.description.annotations,
    scalars: BTreeMap<&'a str, &'a Value> = {
        let scalars = subject.description.scalars.iter();
        scalars.map(|one| (one.path.as_str(), &one.value)).collect()
    },
    conditions: Vec<ConditionOutput<'a>> =
        subject.description.conditions.iter().map(ConditionOutput::of).collect(),
    owners: Vec<OwnerOutput<'a>> =
        subject.description.relatives.owners.iter().map(OwnerOutput::of).collect(),
    children: Vec<ChildOutput<'a>> = {
        let children = subject.description.relatives.children.iter();
        children.map(|child| ChildOutput::of(subject.timeline, child)).collect()
    },
    resources_not_searched_for_children: usize =
        subject.description.relatives.unsearched.resources,
    unreadable_objects_not_searched_for_children: usize =
        subject.description.relatives.unsearched.objects,
    page: Vec<PageLineOutput<'a>> = subject.page.lines.iter().map(PageLineOutput::of).collect(),
    incomplete_lists: Vec<IncompleteListOutput<'a>> = {
        let lists = subject.page.incomplete.iter();
        lists.map(|list| IncompleteListOutput::of(subject.timeline, list)).collect()
    },
    around: Vec<HistoryOutputItem> = {
        let around = subject.description.around.iter();
        around.map(|item| HistoryOutputItem::of(subject.timeline, item)).collect()
    },
    versions_left_out: usize = subject.description.left_out,
    events: Vec<EventOutput<'a>> = {
        let events = subject.description.events.iter();
        events.map(|event| EventOutput::of(subject.timeline, event)).collect()
    },
    unreadable_events: usize = subject.description.unreadable_events,
    events_may_be_missing: bool = subject.description.may_miss_events,
}

/// A line of the page that kubectl prints.
struct PageLineOutput<'a>(line: &'a PageLine) {
    depth: usize = line.depth,
    cells: &'a [String] = &line.cells,
}

/// A list of related objects on the page that lacks some, or may.
struct IncompleteListOutput<'a>(timeline: &Timeline, list: &'a IncompleteList) {
    resource: &'a str = &list.resource,
    trust: String = object_query::trust(timeline, &list.certainty),
}

struct ConditionOutput<'a>(condition: &'a DescribedCondition) {
    r#type: &'a str = &condition.kind,
    status: &'a str = &condition.status,
    since: &'a str = &condition.since,
    reason: &'a str = &condition.reason,
    message: &'a str = &condition.message,
}

struct OwnerOutput<'a>(owner: &'a OwnerRef) {
    api_version: &'a str = &owner.api_version,
    kind: &'a str = &owner.kind,
    name: &'a str = &owner.name,
    uid: &'a str = &owner.uid,
    controller: bool = owner.controller == Some(true),
    exists: Option<bool> = owner.exists,
}

struct ChildOutput<'a>(timeline: &Timeline, child: &'a Child) {
    resource: Option<String> = {
        let mut resources = timeline.resources().iter();
        resources.find(|info| info.id == child.resource).map(ResourceInfo::qualified)
    },
    namespace: &'a str = &child.held.namespace,
    name: &'a str = &child.held.name,
    controller: bool = child.is_controlled,
}
}

/// The least width of what stands in front of values.
const LABEL: usize = 13;

/// How many children of a resource are named; JSON has all.
const SHOWN_CHILDREN: usize = 10;

/// Prints the page.
fn print_page(
    args: &Args,
    subject: &DescribedObject<'_>,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let described = subject.description;
    let mut table = TextTable::page();
    for line in &subject.page.lines {
        table.push(line.indented());
    }
    for line in table.lines() {
        screen.show(&StyledLine::of(Style::Plain, line.trim_end()), HANG)?;
    }
    for list in &subject.page.incomplete {
        let trust = object_query::trust(subject.timeline, &list.certainty);
        let note = format!("note: {} on this page: {trust}", list.resource);
        screen.show(&StyledLine::of(Style::Faint, &note), HANG)?;
    }
    // Where every field is on the page, these are too.
    let shown: &[Scalar] = if subject.page.has_all_fields {
        &[]
    } else {
        &described.scalars
    };
    let widest = shown.iter().map(|scalar| scalar.path.chars().count());
    let mut page = DescribePage {
        screen,
        label: widest.max().unwrap_or(0).max(LABEL),
    };
    page.title("Recorded")?;
    page.value("uid", &described.uid)?;
    page.value("created", &described.created)?;
    page.value("deleting", &described.deletion_asked)?;
    page.value("version", &version(subject))?;
    print_relatives(subject, &mut page)?;
    for scalar in shown {
        page.value(&scalar.path, &field_text::plain(&scalar.value))?;
    }
    print_conditions(subject, &mut page)?;
    print_around(subject, &mut page)?;
    if args.show_events {
        print_events(subject, &mut page)?;
    }
    Ok(())
}

struct DescribePage<'a> {
    screen: &'a mut Console,
    /// How wide the names of values are.
    label: usize,
}

impl DescribePage<'_> {
    fn line(&mut self, style: Style, text: &str) -> Result<(), CommandError> {
        let line = StyledLine::of(style, text);
        self.screen.show(&line, HANG)
    }

    fn title(&mut self, text: &str) -> Result<(), CommandError> {
        self.screen.line("")?;
        self.line(Style::Strong, text)
    }

    /// Prints a value behind its name; nothing if there is none.
    fn value(&mut self, name: &str, value: &str) -> Result<(), CommandError> {
        if value.is_empty() {
            return Ok(());
        }
        let label = self.label;
        let mut line = StyledLine::of(Style::Faint, format!("{name:<label$} "));
        line.push(Style::Plain, value);
        self.screen.show(&line, HANG)
    }

    fn table(&mut self, table: &TextTable) -> Result<(), CommandError> {
        for line in table.lines() {
            self.line(Style::Plain, &format!("  {line}"))?;
        }
        Ok(())
    }
}

fn version(subject: &DescribedObject<'_>) -> String {
    let described = subject.description;
    let versions = subject.timeline.reel().versions(subject.held.object);
    let place = versions.partition_point(|seq| *seq <= described.seq);
    let first = versions
        .first()
        .map(|first| subject.timeline.wall_of(*first));
    let names = [subject.held.name.clone()];
    let filter = ObjectFilter {
        namespace: Some(&subject.held.namespace),
        names: &names,
    };
    let mut missed = first.into_iter().flat_map(|first| {
        let timeline = subject.timeline;
        timeline.may_miss_after(subject.resource.id, &filter, first)
    });
    // An object whose deletion was received has no later version.
    let last = versions.last().copied();
    let end =
        last.filter(|last| subject.timeline.reel().kind_of(*last) == Some(EventType::Deleted));
    let end = end.map(|end| subject.timeline.wall_of(end));
    // That there is a version which cannot be read is known.
    let is_missed =
        |span: &UnobservedSpan| !span.is_of_bodies() && end.is_none_or(|end| span.from < end);
    let at_least = if missed.any(is_missed) {
        "at least "
    } else {
        ""
    };
    let mut parts = vec![
        format!("{} of {at_least}{}", number(place), number(versions.len())),
        format!("rv {}", described.rv),
        format!("received {}", subject.timeline.written(described.received)),
    ];
    match &described.authors {
        Authors::Named(writers) => {
            parts.push(format!("written by {}", field_text::managers(writers)));
        }
        Authors::Unknown => parts.push("writer unknown".to_owned()),
        Authors::Deletion => {}
    }
    parts.join(" · ")
}

fn print_relatives(
    subject: &DescribedObject<'_>,
    page: &mut DescribePage<'_>,
) -> Result<(), CommandError> {
    let relatives = &subject.description.relatives;
    let owner = |owner: &OwnerRef| {
        let was_there = match owner.exists {
            Some(true) if owner.is_unreadable => " (cannot be read)",
            Some(true) => "",
            Some(false) => " (not there then)",
            None => " (not known whether it was there)",
        };
        format!("{}/{}{was_there}", owner.kind, owner.name)
    };
    let owners: Vec<String> = relatives.owners.iter().map(owner).collect();
    page.value("owned by", &owners.join(" ← "))?;
    let mut by_resource: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for child in &relatives.children {
        let info = subject
            .timeline
            .resources()
            .iter()
            .find(|info| info.id == child.resource);
        if let Some(info) = info {
            let names = by_resource.entry(info.qualified()).or_default();
            names.push(&child.held.name);
        }
    }
    for (place, (resource, names)) in by_resource.iter().enumerate() {
        let shown: Vec<&str> = names.iter().take(SHOWN_CHILDREN).copied().collect();
        let rest = names.len() - shown.len();
        let rest = if rest > 0 {
            format!(" and {} more", number(rest))
        } else {
            String::new()
        };
        let name = if place == 0 { "owns" } else { "" };
        page.value(name, &format!("{resource}: {}{rest}", shown.join(", ")))?;
    }
    let unsearched = relatives.unsearched;
    for (number, one, why) in [
        (unsearched.resources, "resource", "not recorded then"),
        (unsearched.objects, "object", "cannot be read"),
    ] {
        if number > 0 {
            let among = count(number, one);
            let words = format!("what it owns among {among} is not known: {why}");
            page.value("", &words)?;
        }
    }
    Ok(())
}

fn print_conditions(
    subject: &DescribedObject<'_>,
    page: &mut DescribePage<'_>,
) -> Result<(), CommandError> {
    if subject.description.conditions.is_empty() {
        return Ok(());
    }
    page.title("Conditions")?;
    let mut table = TextTable::with_headers(["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"]);
    for condition in &subject.description.conditions {
        table.push(vec![
            condition.kind.clone(),
            condition.status.clone(),
            condition.since.clone(),
            condition.reason.clone(),
            condition.message.clone(),
        ]);
    }
    page.table(&table)
}

fn print_around(
    subject: &DescribedObject<'_>,
    page: &mut DescribePage<'_>,
) -> Result<(), CommandError> {
    let described = subject.description;
    let minutes = count(u64::from(subject.around_minutes), "minute");
    page.title(&format!(
        "Changes within {minutes} of {}",
        subject.timeline.written(subject.state.at)
    ))?;
    if described.around.is_empty() {
        return page.line(Style::Faint, "  none");
    }
    for item in &described.around {
        for line in item_lines(subject.timeline, item) {
            page.screen.show(&line, HANG)?;
        }
    }
    if described.left_out > 0 {
        let more = number(described.left_out);
        page.line(
            Style::Faint,
            &format!("  {more} more; --versions shows more of them, kubereel history all"),
        )?;
    }
    Ok(())
}

fn print_events(
    subject: &DescribedObject<'_>,
    page: &mut DescribePage<'_>,
) -> Result<(), CommandError> {
    page.title("Events of the hour before, and of the minutes after")?;
    let events = &subject.description.events;
    if subject.timeline.event_resources().is_empty() {
        return page.line(Style::Faint, "  not recorded");
    }
    let unreadable = subject.description.unreadable_events;
    if unreadable > 0 {
        let unreadable = count(unreadable, "Event");
        let words = format!("  {unreadable} of this time cannot be read: some may be about it");
        page.line(Style::Wary, &words)?;
    }
    if subject.description.may_miss_events {
        page.line(
            Style::Wary,
            "  the recording of Events has gaps: some may be missing",
        )?;
    } else if events.is_empty() {
        return page.line(Style::Faint, "  none");
    }
    // Of an Event that was repeated, the last word says it all.
    let mut last: BTreeMap<(&str, &str), Seq> = BTreeMap::new();
    for logged in events {
        last.insert((&logged.namespace, &logged.name), logged.seq);
    }
    let is_last = |logged: &&LoggedEvent| {
        last.get(&(logged.namespace.as_str(), logged.name.as_str())) == Some(&logged.seq)
    };
    let mut shown: Vec<LoggedEvent> = events.iter().filter(is_last).cloned().collect();
    LoggedEvent::sort_older(&mut shown);
    for logged in &shown {
        let line = events::line(subject.timeline, logged);
        page.screen.show(&line, HANG)?;
    }
    Ok(())
}
