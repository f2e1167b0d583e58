//! `kubereel describe`: everything about one object at a moment, on one page.

use crate::arguments::{self, JsonOutput};
use crate::command::events::{self, EventOutput};
use crate::command::history::{HistoryOutputItem, item_lines};
use crate::command::object_query::{ObjectArgs, TargetObject, exit_of};
use crate::command_error::{CommandError, Exit};
use crate::field_text::{self, FieldWriterOutput, HANG};
use crate::files;
use crate::outputs::outputs;
use crate::screen::{Console, Style, StyledLine};
use crate::table::TextTable;
use crate::words::{count, number};
use kubereel_format::{ResourceInfo, Seq};
use kubereel_history::{
    Authors, Child, DescribedCondition, Description, Moment, ObjectVersion, OwnerRef,
    ResourceSnapshot, Timeline, timetext,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Show everything about an object at a moment: owners, conditions, Events and recent changes
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    object: ObjectArgs,
    /// Show the state at this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Moment,
    /// Show changes this many minutes before and after the moment
    #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1440))]
    around: u16,
    /// Show at most this many versions before and after the moment
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    versions: u16,
    #[command(flatten)]
    output: JsonOutput,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel describe run.reel pod/web-0 -n shop --at 14:02:31
  kubereel describe run.reel co/etcd --at rv:118204 --around 30
  kubereel describe run.reel node/worker-1 -o json | jq '.conditions'

{}",
        arguments::forms_help()
    )
}

/// What is described, and when.
pub(crate) struct DescribedObject<'a> {
    timeline: &'a Timeline,
    named: TargetObject<'a>,
    state: &'a ResourceSnapshot,
    held: &'a ObjectVersion,
    description: &'a Description,
    around_minutes: u16,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    const MICROS_A_MINUTE: i64 = 60_000_000;
    let timeline = files::open_reel(&args.reel)?;
    let cut = arguments::resolve_at(&timeline, args.at)?;
    let named = args.object.find(&timeline, cut)?;
    let resource = named.resource;
    let (state, held) = named.at(&timeline, cut, screen)?;
    let around = i64::from(args.around) * MICROS_A_MINUTE;
    let description = timeline
        .describe(resource, &held, cut, around, usize::from(args.versions))
        .map_err(CommandError::reel)?;
    let subject = DescribedObject {
        timeline: &timeline,
        named,
        state: &state,
        held: &held,
        description: &description,
        around_minutes: args.around,
    };
    if args.output.is_json() {
        screen.json(&DescribeOutput::of(&subject))?;
    } else {
        print_page(&subject, screen)?;
    }
    Ok(exit_of(&state.certainty))
}

outputs! {
/// An object at a moment, and what is around it.
struct DescribeOutput<'a>(subject: &'a DescribedObject<'_>) {
    resource: String = subject.named.resource.qualified(),
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
    resources_not_searched_for_children: usize = subject.description.relatives.unsearched,
    around: Vec<HistoryOutputItem> = {
        let around = subject.description.around.iter();
        around.map(|item| HistoryOutputItem::of(subject.timeline, item)).collect()
    },
    versions_left_out: usize = subject.description.left_out,
    events: Vec<EventOutput<'a>> = {
        let events = subject.description.events.iter();
        events.map(|event| EventOutput::of(subject.timeline, event)).collect()
    },
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

/// How many letters of an annotation are shown; JSON has all.
const SHOWN_LETTERS: usize = 200;

/// How many children of a resource are named; JSON has all.
const SHOWN_CHILDREN: usize = 10;

/// Prints the page.
fn print_page(subject: &DescribedObject<'_>, screen: &mut Console) -> Result<(), CommandError> {
    let told = subject.description;
    let widest = told
        .scalars
        .iter()
        .map(|scalar| scalar.path.chars().count());
    let mut page = DescribePage {
        screen,
        label: widest.max().unwrap_or(0).max(LABEL),
    };
    let place = if subject.held.namespace.is_empty() {
        String::new()
    } else {
        format!(" in {}", subject.held.namespace)
    };
    page.line(
        Style::Strong,
        &format!("{}{place}", subject.named.written()),
    )?;
    page.value("uid", &told.uid)?;
    page.value("created", &told.created)?;
    page.value("deleting", &told.deletion_asked)?;
    page.value("version", &version(subject))?;
    page.map("labels", &told.labels)?;
    page.map("annotations", &told.annotations)?;
    for scalar in &told.scalars {
        page.value(&scalar.path, &field_text::plain(&scalar.value))?;
    }
    print_relatives(subject, &mut page)?;
    print_conditions(subject, &mut page)?;
    print_around(subject, &mut page)?;
    print_events(subject, &mut page)
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

    fn map(&mut self, name: &str, map: &Map<String, Value>) -> Result<(), CommandError> {
        for (place, (key, value)) in map.iter().enumerate() {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            let mut shown: String = text.chars().take(SHOWN_LETTERS).collect();
            if shown.len() < text.len() {
                shown.push('…');
            }
            let name = if place == 0 { name } else { "" };
            let label = self.label;
            let mut line = StyledLine::of(Style::Faint, format!("{name:<label$} "));
            line.push(Style::Plain, format!("{key}={shown}"));
            self.screen.show(&line, HANG)?;
        }
        Ok(())
    }

    fn table(&mut self, table: &TextTable) -> Result<(), CommandError> {
        for line in table.lines() {
            self.line(Style::Plain, &format!("  {line}"))?;
        }
        Ok(())
    }
}

fn version(subject: &DescribedObject<'_>) -> String {
    let told = subject.description;
    let versions = subject.timeline.reel().versions(subject.held.object);
    let place = versions.partition_point(|seq| *seq <= told.seq);
    let mut parts = vec![
        format!("{} of {}", number(place), number(versions.len())),
        format!("rv {}", told.rv),
        format!("received {}", subject.timeline.written(told.received)),
    ];
    match &told.authors {
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
    if relatives.unsearched > 0 {
        let resources = count(relatives.unsearched, "resource");
        page.value(
            "",
            &format!("what it owns among {resources} is not known: not recorded then"),
        )?;
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
    let told = subject.description;
    let minutes = count(u64::from(subject.around_minutes), "minute");
    page.title(&format!(
        "Changes within {minutes} of {}",
        subject.timeline.written(subject.state.at)
    ))?;
    if told.around.is_empty() {
        return page.line(Style::Faint, "  none");
    }
    for item in &told.around {
        for line in item_lines(subject.timeline, item) {
            page.screen.show(&line, HANG)?;
        }
    }
    if told.left_out > 0 {
        let more = count(told.left_out, "version");
        page.line(
            Style::Faint,
            &format!("  {more} further away: kubereel history shows all"),
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
    if events.is_empty() {
        return page.line(Style::Faint, "  none");
    }
    // Of an Event that was repeated, the last word says it all.
    let mut last: BTreeMap<(&str, &str), Seq> = BTreeMap::new();
    for logged in events {
        last.insert((&logged.namespace, &logged.name), logged.seq);
    }
    for logged in events {
        if last.get(&(logged.namespace.as_str(), logged.name.as_str())) == Some(&logged.seq) {
            let line = events::line(subject.timeline, logged);
            page.screen.show(&line, HANG)?;
        }
    }
    Ok(())
}
