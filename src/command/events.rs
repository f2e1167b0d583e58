//! `kubereel events`: the cluster's Events, in the order in which they were received.

use crate::arguments;
use crate::arguments::JsonOutput;
use crate::command::object_query::ObjectArgs;
use crate::command_error::{CommandError, Exit};
use crate::field_text::{self, HANG};
use crate::files;
use crate::outputs::outputs;
use crate::screen::Console;
use crate::screen::{Style, StyledLine};
use crate::words::count;
use kubereel_format::{Evidence, ResourceId};
use kubereel_history::{EventQuestion, LoggedEvent, Moment, Regarding, Timeline, timetext};
use std::path::PathBuf;

/// Show the cluster's Events, including those that have expired
///
/// Each line is one occurrence of an Event; COUNT is the number of occurrences by then. TIME is when the
/// recorder received it.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Namespace of the Events; those about cluster-scoped objects are in default
    #[arg(short, long, value_name = "NS", default_value = "default")]
    namespace: String,
    /// Show Events of all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
    /// Only Events about this object
    #[arg(long = "for", value_name = "RESOURCE/NAME")]
    about: Option<String>,
    /// Only Events of this type
    #[arg(long, value_name = "TYPE")]
    types: Option<String>,
    /// Only Events received after this moment
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only Events received up to this moment
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    to: Option<Moment>,
    #[command(flatten)]
    output: JsonOutput,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel events run.reel -n web
  kubereel events run.reel -A --types Warning --from 14:02 --to 14:10
  kubereel events run.reel -n web --for pod/web-0
  kubereel events run.reel -A -o json | jq 'select(.reason == \"BackOff\") | .message'

{}",
        arguments::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let timeline = &timeline;
    let resources = timeline.event_resources();
    if resources.is_empty() && !timeline.reel().damage().is_empty() {
        return Err(damaged("no Events in the readable part of the reel"));
    }
    if resources.is_empty() {
        return Err(
            CommandError::unknown("no Events in the reel: they were not recorded")
                .hint("to see what was recorded, and why: kubereel info REEL"),
        );
    }
    let question = question(args, timeline)?;
    let mut shown = 0_u64;
    if !args.output.is_json() {
        screen.line(headers(timeline))?;
    }
    for logged in timeline.event_log(question) {
        let logged = logged.map_err(CommandError::reel)?;
        shown += 1;
        if args.output.is_json() {
            screen.json_line(&EventOutput::of(timeline, &logged))?;
        } else {
            screen.show(&line(timeline, &logged), HANG)?;
        }
    }
    let trust = trust(timeline, &resources);
    let (words, exit) = match trust {
        EventTrust::Damaged => {
            screen.finish()?;
            return Err(damaged("the reel is damaged, Events are missing"));
        }
        EventTrust::Gaps => (
            "the recording of Events has gaps: some may be missing",
            Exit::Unknown,
        ),
        EventTrust::Imported => ("as imported: completeness is unknown", Exit::Yes),
        EventTrust::Complete => ("complete", Exit::Yes),
    };
    screen.aside(format!("{} · {words}", count(shown, "line")))?;
    Ok(exit)
}

/// How far the lines can be taken for all that was said; the worst of all resources that hold Events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EventTrust {
    Complete,
    Imported,
    Gaps,
    Damaged,
}

fn trust(timeline: &Timeline, resources: &[ResourceId]) -> EventTrust {
    if !timeline.reel().damage().is_empty() {
        return EventTrust::Damaged;
    }
    let each = resources.iter().map(|&resource| {
        let coverage = timeline.coverage(resource);
        if !timeline.is_fully_observed(resource) {
            EventTrust::Gaps
        } else if coverage.is_some_and(|coverage| coverage.imported().is_some()) {
            EventTrust::Imported
        } else {
            EventTrust::Complete
        }
    });
    each.max().unwrap_or(EventTrust::Complete)
}

fn damaged(message: &str) -> CommandError {
    CommandError::reel(message).hint("to see where: kubereel info REEL")
}

fn question(args: &Args, timeline: &Timeline) -> Result<EventQuestion, CommandError> {
    let (from, to) = arguments::bounds(timeline, args.from, args.to)?;
    let about = match &args.about {
        None => None,
        Some(words) => {
            let object = ObjectArgs {
                resource: words.clone(),
                name: None,
                namespace: args.namespace.clone(),
            };
            let named = object.find(timeline, arguments::resolve(timeline, Moment::End)?)?;
            Some(Regarding {
                kind: named.resource.kind.clone(),
                namespace: named.namespace.to_owned(),
                name: named.name.clone(),
                ..Regarding::default()
            })
        }
    };
    Ok(EventQuestion {
        namespace: (!args.all_namespaces).then(|| args.namespace.clone()),
        from,
        to,
        about,
        severity: args.types.clone(),
    })
}

/// The columns between time and message, and how wide they are.
const COLUMNS: [(&str, usize); 4] = [("TYPE", 7), ("REASON", 19), ("OBJECT", 35), ("COUNT", 5)];

fn headers(timeline: &Timeline) -> String {
    let width = timeline.written(timeline.end()).len();
    let columns = COLUMNS.map(|(name, width)| format!("{name:<width$}   "));
    format!("{:<width$}   {}MESSAGE", "TIME", columns.concat())
}

/// Gives the line of an Event that a person reads.
pub(crate) fn line(timeline: &Timeline, logged: &LoggedEvent) -> StyledLine {
    let said = &logged.said;
    let mut line = StyledLine::of(Style::Strong, timeline.written(logged.at));
    let style = if said.severity == "Warning" {
        Style::Wary
    } else {
        Style::Plain
    };
    line.push(Style::Plain, "   ");
    let object = format!(
        "{}/{}",
        said.regarding.kind.to_lowercase(),
        said.regarding.name
    );
    let cells = [
        &said.severity,
        &said.reason,
        &object,
        &said.count.to_string(),
    ];
    for (place, (cell, (_, width))) in cells.into_iter().zip(COLUMNS).enumerate() {
        let style = if place == 0 { style } else { Style::Plain };
        line.push(style, format!("{cell:<width$}   "));
    }
    line.push(Style::Plain, &said.message);
    if logged.evidence == Evidence::Initial {
        let when = said.last.map_or_else(String::new, |at| {
            format!(
                ", last occurrence {} by its own clock",
                timetext::rfc3339(at)
            )
        });
        line.push(
            Style::Faint,
            format!(" (existed when the recording started{when})"),
        );
    }
    line
}

outputs! {
/// One occurrence of an Event.
struct EventOutput<'a>(timeline: &Timeline, logged: &'a LoggedEvent) {
    seq: u64 = logged.seq.0,
    at: String = timetext::rfc3339(logged.at),
    offset_secs: f64 = field_text::secs(logged.at.micros_since(timeline.start())),
    evidence: &'static str = logged.evidence.as_str(),
    namespace: &'a str = &logged.namespace,
    name: &'a str = &logged.name,
    r#type: &'a str = &logged.said.severity,
    reason: &'a str = &logged.said.reason,
    message: &'a str = &logged.said.message,
    component: &'a str = &logged.said.component,
    count: u64 = logged.said.count,
    last: Option<String> = logged.said.last.map(timetext::rfc3339),
    regarding: EventSubject<'a> = EventSubject::of(&logged.said.regarding),
}

/// The object that an Event is about.
struct EventSubject<'a>(regarding: &'a Regarding) {
    kind: &'a str = &regarding.kind,
    namespace: &'a str = &regarding.namespace,
    name: &'a str = &regarding.name,
    uid: &'a str = &regarding.uid,
    api_version: &'a str = &regarding.api_version,
}
}
