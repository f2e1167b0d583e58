//! Owns `kubereel events`: what the cluster's components said, in the order in which it was received.

use crate::at;
use crate::command::asked::OneObject;
use crate::command::history::lines::show;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use crate::spans::{Line, Style};
use crate::words::count;
use kubereel_format::{Evidence, ResourceId};
use kubereel_history::{EventQuestion, Logged, Moment, Regarding, Timeline, timetext};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Show the cluster's Events, including those that have expired
///
/// Each line is one occurrence of an Event; COUNT is the number of occurrences by then. TIME is when the
/// recorder received it.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel
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
    #[arg(long, value_name = "TIME", value_parser = at::parse, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only Events received up to this moment
    #[arg(long, value_name = "TIME", value_parser = at::parse, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<Output>,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// One JSON object a line
    Json,
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
        at::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let timeline = reel::open(&args.reel)?;
    let timeline = &timeline;
    let resources = timeline.event_resources();
    if resources.is_empty() && !timeline.reel().damage().is_empty() {
        return Err(damaged("no Events in the readable part of the reel"));
    }
    if resources.is_empty() {
        return Err(CommandError::new(
            Exit::Unknown,
            "no Events in the reel: they were not recorded",
        )
        .hint("to see what was recorded, and why: kubereel info REEL"));
    }
    let question = question(args, timeline)?;
    let mut shown = 0_u64;
    if args.output.is_none() {
        screen.line(headers(timeline))?;
    }
    for logged in timeline.event_log(question) {
        let logged = logged.map_err(|error| CommandError::new(Exit::Reel, error))?;
        shown += 1;
        match args.output {
            Some(Output::Json) => screen.line(value(timeline, &logged))?,
            None => show(screen, &line(timeline, &logged))?,
        }
    }
    let trust = trust(timeline, &resources);
    let (words, exit) = match trust {
        Trust::Damaged => {
            screen.finish()?;
            return Err(damaged("the reel is damaged, Events are missing"));
        }
        Trust::Gaps => (
            "the recording of Events has gaps: some may be missing",
            Exit::Unknown,
        ),
        Trust::Imported => ("as imported: completeness is unknown", Exit::Yes),
        Trust::Complete => ("complete", Exit::Yes),
    };
    screen.aside(format!("{} · {words}", count(shown, "line")))?;
    Ok(exit)
}

/// How far the lines can be taken for all that was said; the worst of all resources that hold Events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    Complete,
    Imported,
    Gaps,
    Damaged,
}

fn trust(timeline: &Timeline, resources: &[ResourceId]) -> Trust {
    if !timeline.reel().damage().is_empty() {
        return Trust::Damaged;
    }
    let each = resources.iter().map(|&resource| {
        let coverage = timeline.coverage(resource);
        if !timeline.is_fully_observed(resource) {
            Trust::Gaps
        } else if coverage.is_some_and(|coverage| coverage.imported().is_some()) {
            Trust::Imported
        } else {
            Trust::Complete
        }
    });
    each.max().unwrap_or(Trust::Complete)
}

fn damaged(message: &str) -> CommandError {
    CommandError::new(Exit::Reel, message).hint("to see where: kubereel info REEL")
}

fn question(args: &Args, timeline: &Timeline) -> Result<EventQuestion, CommandError> {
    let (from, to) = at::bounds(timeline, args.from, args.to)?;
    let about = match &args.about {
        None => None,
        Some(words) => {
            let asked = OneObject {
                resource: words.clone(),
                name: None,
                namespace: args.namespace.clone(),
            };
            let named = asked.find(timeline, at::resolve(timeline, Moment::End)?)?;
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
pub(crate) fn line(timeline: &Timeline, logged: &Logged) -> Line {
    let said = &logged.said;
    let mut line = Line::default();
    line.push(Style::Strong, timeline.written(logged.at));
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

/// Gives the Event that a program reads.
pub(crate) fn value(timeline: &Timeline, logged: &Logged) -> Value {
    let said = &logged.said;
    let offset = logged.at.micros_since(timeline.start());
    json!({
        "seq": logged.seq.0,
        "at": timetext::rfc3339(logged.at),
        "offset_secs": crate::field_text::secs(offset),
        "evidence": logged.evidence.as_str(),
        "namespace": logged.namespace,
        "name": logged.name,
        "type": said.severity,
        "reason": said.reason,
        "message": said.message,
        "component": said.component,
        "count": said.count,
        "last": said.last.map(timetext::rfc3339),
        "regarding": {
            "kind": said.regarding.kind,
            "namespace": said.regarding.namespace,
            "name": said.regarding.name,
            "uid": said.regarding.uid,
            "api_version": said.regarding.api_version,
        },
    })
}
