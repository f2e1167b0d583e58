//! `kubereel grep`: where a pattern stood in the values of all objects, over all time.

use crate::arguments::{self, JsonLinesOutput};
use crate::command::object_query::{self, ChangeTrust, SearchedNamespaceArgs};
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::outputs::outputs;
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::table::TextTable;
use crate::words::{Amount as _, count, number};
use kubereel_format::Seq;
use kubereel_history::{
    Cut, FoundValue, FoundValues, Moment, Timeline, ValueQuestion, harmless, name_of, timetext,
};
use regex::{Regex, RegexBuilder};
use std::path::PathBuf;

/// Search the values of all objects, over all time
///
/// Prints each field whose value matches the regular expression, from the version that brought the value
/// to the one that replaced it; `≤` marks a begin and `≥` an end that was not observed, or was received late. A
/// value before and after a time that was not observed is printed twice. Names of fields, managedFields and resourceVersion are
/// not searched. Of more values than --limit the first are printed, and the number of all.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// The regular expression, in the syntax of the Rust library regex
    #[arg(value_name = "REGEX")]
    pattern: String,
    /// Search only this resource, or this object
    #[arg(value_name = "RESOURCE[/NAME]")]
    resource: Option<String>,
    #[command(flatten)]
    namespace: SearchedNamespaceArgs,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// Treat the pattern as a literal string
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Only values that objects have at this moment or later
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only versions up to this moment
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// Print at most this many values, 0 for all
    #[arg(long, value_name = "COUNT", default_value_t = 100_000)]
    limit: usize,
    #[command(flatten)]
    output: JsonLinesOutput,
}

const AFTER_HELP: &str = "\
Examples:
  kubereel grep run.reel 10.0.143.7                who had this address, and when
  kubereel grep run.reel -i 'timed? ?out' pods -n web
  kubereel grep run.reel '^sha256:9c3b' deploy/web --from 14:02
  kubereel grep run.reel -F quay.io/web:2 -o json | jq -r '[.from, .resource, .name, .field] | @tsv'
  kubereel grep run.reel '' --limit 0 -o json      every value, however many

Exit codes:
  0  something was found
  1  nothing was found, and nothing is known to be missing
  3  the reel is damaged; what can be read was searched
  4  nothing was found, but changes may be missing";

/// The most letters of a value in the table.
const MOST_LETTERS: usize = 100;

/// The most memory of a compiled pattern.
const PATTERN_BYTES: usize = 10_000_000;

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let pattern = pattern(args)?;
    let timeline = files::open_reel(&args.reel)?;
    let (from, to) = arguments::bounds(&timeline, args.from, args.to)?;
    let below = |cut: Option<Cut>, none: Seq| match cut {
        None => Ok(none),
        Some(Cut::Arrival { below, .. }) => Ok(below),
        Some(Cut::Revision(_)) => Err(CommandError::usage(
            "a resourceVersion cannot limit the search: expected a time",
        )),
    };
    let named = args
        .resource
        .as_deref()
        .map(|word| word.split_once('/').unwrap_or((word, "")));
    let resource = named
        .map(|(resource, _)| object_query::find_resource(&timeline, resource))
        .transpose()?;
    let namespace = args.namespace.observed(&timeline)?;
    let asked = ValueQuestion {
        pattern: &pattern,
        resources: resource.map(|info| timeline.resources().namesake_ids(info.id)),
        namespace,
        name: named.map(|(_, name)| name).filter(|name| !name.is_empty()),
        from: below(from, Seq(0))?,
        to: below(to, timeline.reel().end())?,
        limit: (args.limit > 0).then_some(args.limit),
    };
    let end = timeline.reel().end().0;
    let mut progress = ProgressReporter::begin("searching", end, screen.is_err_terminal());
    let found = timeline.search(&asked, |seq| progress.reached(seq.0));
    print(&timeline, args, &found, to, screen)?;
    let mut summary = format!(
        "{} in {}",
        count(total(&found), "value"),
        count(found.versions, "version")
    );
    if found.more > 0 {
        let shown = number(found.values.len().get());
        summary = format!("{summary}; showing the first {shown}, all with --limit 0");
    }
    let searched = timeline.resources().iter().filter(|info| {
        asked
            .resources
            .as_ref()
            .is_none_or(|only| only.contains(&info.id))
    });
    let searched: Vec<_> = searched.map(|info| info.id).collect();
    let is_empty = searched.is_empty();
    let trust = ChangeTrust::of(&timeline, searched, (from, to));
    let words = trust.words(&timeline, "some may be missing");
    screen.aside(format!("{summary} · {words}"))?;
    // An import does not prove that a value did not exist.
    let is_unknown = is_empty || trust == ChangeTrust::Imported || trust.exit() == Exit::Unknown;
    for line in &found.unreadable {
        screen.aside(format!("cannot read {}", harmless(line)))?;
    }
    if !found.unreadable.is_empty() || timeline.is_damaged_between(from, to) {
        screen.finish()?;
        return Err(CommandError::damaged("parts may be missing"));
    }
    Ok(match (found.values.is_empty(), is_unknown) {
        (false, _) => Exit::Yes,
        (true, false) => Exit::No,
        (true, true) => Exit::Unknown,
    })
}

fn pattern(args: &Args) -> Result<Regex, CommandError> {
    let text = if args.fixed_strings {
        regex::escape(&args.pattern)
    } else {
        args.pattern.clone()
    };
    RegexBuilder::new(&text)
        .case_insensitive(args.ignore_case)
        .size_limit(PATTERN_BYTES)
        .build()
        .map_err(|error| {
            // The library draws the place below the pattern, on lines of their own.
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            CommandError::usage(format!(
                "invalid regular expression: {why}: {text:?}",
                text = args.pattern
            ))
            .hint("-F treats the pattern as a literal string")
        })
}

fn print(
    timeline: &Timeline,
    args: &Args,
    found: &FoundValues,
    to: Option<Cut>,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut table =
        TextTable::with_headers(["FROM", "TO", "NAMESPACE", "OBJECT", "FIELD", "VALUE"]);
    let end = match to {
        Some(Cut::Arrival { below, wall }) if below < timeline.reel().end() => {
            format!("≥ {}", timeline.written(wall))
        }
        _ => "end".to_owned(),
    };
    let cut = to.unwrap_or_else(|| timeline.last_cut());
    for value in &found.values {
        let Some(key) = timeline.key_of(value.object) else {
            continue;
        };
        let infos = timeline.resources();
        let Some(info) = infos.get(key.resource) else {
            continue;
        };
        let unknown = match (value.to, value.end_unknown_since) {
            (Some(_), _) => None,
            (None, Some(since)) => Some(since),
            (None, None) => timeline.unknown_since_at(info.id, (key.namespace, key.name), cut),
        };
        if args.output.is_json() {
            screen.json_line(&FoundValueOutput::of(
                &info.qualified(),
                key,
                value,
                unknown,
                total(found),
            ))?;
            continue;
        }
        let to = match (value.to, unknown) {
            (Some(to), _) => timeline.written(to),
            (None, Some(since)) => format!("≥ {}", timeline.written(since)),
            (None, None) => end.clone(),
        };
        let from = timeline.written(value.from);
        table.push(vec![
            (value.begin_unknown_since).map_or(from.clone(), |_| format!("≤ {from}")),
            to,
            harmless(key.namespace).into_owned(),
            harmless(&name_of(info, key.name)).into_owned(),
            harmless(&value.field.to_string()).into_owned(),
            kubereel_problems::shortened(&value.value, MOST_LETTERS),
        ]);
    }
    if args.output.is_json() || found.values.is_empty() {
        return Ok(());
    }
    screen.table(&table)
}

/// Gives the number of all matching values.
fn total(found: &FoundValues) -> u64 {
    found.values.len().get().saturating_add(found.more)
}

outputs! {
    /// A value that matches, for programs.
    struct FoundValueOutput<'a>(
        resource: &'a str,
        key: kubereel_format::ObjectKeyRef<'a>,
        found: &'a FoundValue,
        unknown: Option<kubereel_format::RecordedAt>,
        total: u64
    ) {
        resource: &'a str = resource,
        namespace: &'a str = key.namespace,
        name: &'a str = key.name,
        field: String = found.field.to_string(),
        value: &'a str = &found.value,
        from: String = timetext::rfc3339(found.from),
        /// Since when the object may have had the value, if its begin was not observed or was received late.
        begin_unknown_since: Option<String> = found.begin_unknown_since.map(timetext::rfc3339),
        seq: u64 = found.seq.0,
        /// Null if it stayed to the end of the searched time, or if its end was not observed or was received late.
        to: Option<String> = found.to.map(timetext::rfc3339),
        /// Since when it may have ended, if its end was not observed or was received late.
        end_unknown_since: Option<String> = unknown.map(timetext::rfc3339),
        /// The number of all matching values, of which at most --limit are written; the same in each line.
        total: u64 = total,
    }
}
