//! `kubereel blame`: an object as YAML with, beside each field, who set it last and when.

use crate::arguments::{self, JsonOutput};
use crate::command::object_query::{self, ObjectArgs, TargetObject, exit_of};
use crate::command_error::{CommandError, Exit};
use crate::field_text::{self, FieldWriterOutput, HANG};
use crate::files;
use crate::outputs::outputs;
use crate::screen::{Console, JsonList, Style, StyledLine};
use kubereel_history::{
    Blame, BlameSource, BlamedObject, Moment, ResourceSnapshot, Timeline, timetext, yaml_lines,
};
use serde_json::Value;
use std::path::PathBuf;

/// Show who set each field of an object last, and when
///
/// The time is that of the event that brought the value. For values older than the recording it is
/// the time that the object's managedFields give for the field's manager, after a ≤: the value was
/// set then or before. A ~ marks times before which versions may be missing, and those of events that
/// were received late: the value may be older and, if versions are missing, set by another manager. A -
/// means unknown.
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
    #[command(flatten)]
    output: JsonOutput,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel blame run.reel co/etcd
  kubereel blame run.reel deploy shop -n web --at 14:02
  kubereel blame run.reel node/worker-0 -o json | jq '.fields[] | select(.source == \"recorded\")'

{}
{}",
        arguments::STATE_EXITS,
        arguments::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    answer(&timeline, args, screen)
}

/// Answers a question about an open reel.
pub(crate) fn answer(
    timeline: &Timeline,
    args: &Args,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let cut = arguments::resolve_at(timeline, args.at)?;
    let named = args.object.find(timeline, cut)?;
    let cut = object_query::known_cut(timeline, named.resource.id, args.at, cut)?;
    let (state, held) = named.at(timeline, cut, screen)?;
    let blamed = timeline
        .blame(named.resource, &held)
        .map_err(CommandError::reel)?;
    if args.output.is_json() {
        print_json(&named, &state, &blamed, screen)?;
    } else {
        print_text(timeline, &blamed, screen)?;
    }
    if !blamed.unreadable.is_empty() {
        screen.finish()?;
        return Err(CommandError::damaged("versions are missing"));
    }
    Ok(exit_of(&state.certainty))
}

outputs! {
/// What precedes the fields.
struct BlameHead<'a>(named: &'a TargetObject<'_>, state: &ResourceSnapshot) {
    resource: String = named.resource.qualified(),
    namespace: &'a str = named.namespace,
    name: &'a str = &named.name,
    at: String = timetext::rfc3339(state.at),
    is_known: bool = state.certainty.is_known(),
}

/// A field, and who set it last.
struct BlamedField<'a>(field: &'a Blame) {
    path: String = field.path.to_string(),
    value: &'a Value = &field.value,
    source: &'static str = field.source.as_str(),
    at: Option<String> = field.source.at().map(timetext::rfc3339),
    seq: Option<u64> = match field.source {
        BlameSource::Recorded { seq, .. } => Some(seq.0),
        BlameSource::ManagedFields { .. } | BlameSource::Unknown => None,
    },
    writers: Vec<FieldWriterOutput> = FieldWriterOutput::all(&field.writers),
    may_be_older: bool = field.may_be_older,
}
}

fn print_json(
    named: &TargetObject<'_>,
    state: &ResourceSnapshot,
    blamed: &BlamedObject,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut list = JsonList::begin(&BlameHead::of(named, state), "fields", screen)?;
    for field in &blamed.fields {
        list.push(&BlamedField::of(field), screen)?;
    }
    JsonList::end(screen)
}

/// Where less is left for the YAML beside the names, its later rows begin further left.
const NARROWEST_YAML: usize = 48;
/// A name longer than this does not widen the column.
const WIDEST_NAME: usize = 32;

/// Prints an object with who set its fields.
fn print_text(
    timeline: &Timeline,
    blamed: &BlamedObject,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let cells: Vec<(String, String)> = blamed
        .fields
        .iter()
        .map(|field| (who(field), when(timeline, field)))
        .collect();
    let widest = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let name_width = widest(&mut cells.iter().map(|(who, _)| who)).min(WIDEST_NAME);
    let time_width = widest(&mut cells.iter().map(|(_, when)| when));
    // Later rows begin where the YAML does, unless that leaves them little room.
    let gutter = name_width + time_width + 6;
    let has_room = screen
        .width()
        .is_none_or(|width| width.saturating_sub(gutter) >= NARROWEST_YAML);
    let hang = if has_room { gutter } else { HANG };
    for line in yaml_lines(&blamed.object) {
        let cell = line.field.and_then(|at| cells.get(at));
        let is_recorded = line
            .field
            .and_then(|at| blamed.fields.get(at))
            .is_some_and(|field| matches!(field.source, BlameSource::Recorded { .. }));
        let (who, when) = cell.map_or(("", ""), |(who, when)| (who, when));
        let mut row = StyledLine::default();
        let style = match line.field {
            None => Style::Plain,
            Some(_) if is_recorded => Style::Good,
            Some(_) => Style::Faint,
        };
        row.push(style, format!("{who:<name_width$}  {when:<time_width$}"));
        row.push(Style::Faint, "  │ ");
        row.push(Style::Plain, line.text);
        let rows = row.rows(screen.width(), hang, screen.paint());
        rows.iter()
            .try_for_each(|row| screen.line(row.trim_end()))?;
    }
    Ok(())
}

fn who(field: &Blame) -> String {
    if field.writers.is_empty() {
        "-".to_owned()
    } else {
        field_text::managers(&field.writers)
    }
}

fn when(timeline: &Timeline, field: &Blame) -> String {
    let Some(at) = field.source.at() else {
        return "-".to_owned();
    };
    let at = timeline.written(at);
    match field.source {
        BlameSource::ManagedFields { .. } => format!("≤ {at}"),
        _ if field.may_be_older => format!("~ {at}"),
        _ => format!("  {at}"),
    }
}
