//! `kubereel events`: the cluster's Events, in the order in which they were received.

use crate::arguments;
use crate::command::follow::{self, FollowBounds, FollowOptions, ToldSpans};
use crate::command::object_query::{self, ChangeTrust, TargetObject};
use crate::command_error::{CommandError, Exit};
use crate::field_text::{self, HANG};
use crate::files;
use crate::outputs::outputs;
use crate::screen::Console;
use crate::screen::{Style, StyledLine};
use crate::words::{count, number};
use kubereel_format::{ResourceId, Seq};
use kubereel_history::{
    Cut, EventContent, EventQuestion, FollowedReel, LoggedEvent, Moment, ObjectForm, QueryError,
    Regarding, Timeline, harmless, timetext, write_folded_yaml,
};
use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;

/// Show the cluster's Events, including those that have expired
///
/// Each line is one occurrence of an Event; COUNT is the number of occurrences by then. TIME is when the
/// recorder received it; of Events that existed when the recording started, it is the last occurrence by the
/// clock of the component that reported it.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
#[expect(clippy::struct_excessive_bools, reason = "flags are booleans")]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Namespace of the Events; those about cluster-scoped objects are in default
    #[arg(short, long, value_name = "NS", value_parser = arguments::namespace, default_value = "default")]
    namespace: String,
    /// Show Events of all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Only Events about this object
    #[arg(long = "for", value_name = "RESOURCE/NAME")]
    about: Option<String>,
    /// Only Events of these types: Normal, Warning, or both with a comma
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = read_type)]
    types: Vec<String>,
    /// Only Events received from this moment on
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only Events received up to this moment
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// Follow a reel that is being recorded: show Events as they come
    #[arg(short, long)]
    follow: bool,
    /// As --follow; of a reel that is not being recorded every occurrence is shown in any case
    #[arg(short, long)]
    watch: bool,
    /// Omit the header row
    #[arg(long)]
    no_headers: bool,
    /// Output format; default: a table. json has an object a line, wide the reporting component, yaml and name the
    /// Event objects
    #[arg(short, long, value_name = "FORM")]
    output: Option<EventFormat>,
}

/// The forms of Events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum EventFormat {
    Json,
    Yaml,
    Name,
    Wide,
}

/// The types of Events.
pub(crate) const EVENT_TYPES: [&str; 2] = ["Normal", "Warning"];

fn read_type(text: &str) -> Result<String, String> {
    let found = EVENT_TYPES
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(text));
    found
        .map(str::to_owned)
        .ok_or_else(|| "expected Normal or Warning".to_owned())
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel events run.reel -n web
  kubereel events run.reel -A --types Warning --from 14:02 --to 14:10
  kubereel events run.reel -n web --for pod/web-0
  kubereel events run.reel -A --follow --from -5m        while it is recorded
  kubereel events run.reel -A -o json | jq 'select(.reason == \"BackOff\") | .message'

Exit codes:
  0  all Events are shown
  1  the namespace or the object of --for was never observed
  3  the reel is damaged; what can be read is shown
  4  Events may be missing

Errors: kubereel --help

{}",
        arguments::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    if args.follow || args.watch {
        return follow(args, screen);
    }
    let timeline = files::open_reel(&args.reel)?;
    let timeline = &timeline;
    let resources = event_resources(timeline)?;
    let bounds = arguments::bounds(timeline, args.from, args.to)?;
    let first = arguments::first_change(timeline, args.from, bounds.0);
    let (question, about) = question(args, timeline, (first, bounds.1))?;
    let mut printer = EventPrinter::of(timeline, args);
    printer.print_all(timeline.event_log(question), screen)?;
    let asked = AskedEvents {
        resources: &resources,
        bounds,
        about: about.as_ref(),
    };
    end(args, &printer, &asked, screen)
}

/// The scope of a question for Events.
struct AskedEvents<'a> {
    resources: &'a [ResourceId],
    bounds: (Option<Cut>, Option<Cut>),
    about: Option<&'a TargetObject<'a>>,
}

/// Prints Events as they are recorded.
fn follow(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let mut bounds = FollowBounds::of_changes(args.from, args.to);
    let mut told = ToldSpans::default();
    let mut kept = None;
    let take = |state: &FollowedReel, is_last: bool, screen: &mut Console| {
        let Some(part) = bounds.part(state)? else {
            return Ok(None);
        };
        let timeline = &state.timeline;
        let resources = event_resources(timeline)?;
        let (question, about) = question(args, timeline, (part.from, part.to))?;
        let mut printer = EventPrinter::of(timeline, args);
        if let Some(kept) = kept {
            (
                printer.shown,
                printer.late,
                printer.unreadable,
                printer.widths,
            ) = kept;
        }
        printer.print_all(timeline.event_log(question), screen)?;
        let (shown, late) = (printer.shown, printer.late);
        kept = Some((shown, late, printer.unreadable, printer.widths));
        let is_last = is_last || part.is_over;
        if !is_last || state.new_from > Seq(0) {
            told.tell(timeline, &resources, part, screen)?;
        }
        if !is_last {
            return Ok(None);
        }
        let asked = AskedEvents {
            resources: &resources,
            bounds: (part.asked_from, part.to),
            about: about.as_ref(),
        };
        end(args, &printer, &asked, screen).map(Some)
    };
    let options = FollowOptions {
        is_asked: args.follow,
        ..FollowOptions::default()
    };
    follow::follow(&args.reel, options, screen, take)
}

/// Finds the resources that hold Events.
fn event_resources(timeline: &Timeline) -> Result<Vec<ResourceId>, CommandError> {
    let resources = timeline.event_resources();
    if resources.is_empty() && timeline.reel().has_losses() {
        let message = "no Events in the readable part of the reel";
        return Err(CommandError::reel(message).hint("to see where: kubereel info REEL"));
    }
    if resources.is_empty() && timeline.has_lost_records() {
        return Err(CommandError::unknown(
            "no Events in the reel, which was recovered from a damaged one",
        )
        .hint("to see what is lost: kubereel info REEL"));
    }
    if resources.is_empty() {
        return Err(
            CommandError::unknown("no Events in the reel: they were not recorded")
                .hint("to see what was recorded, and why: kubereel info REEL"),
        );
    }
    Ok(resources)
}

/// Says how many lines there are, and how far they can be trusted.
fn end(
    args: &Args,
    printer: &EventPrinter<'_>,
    asked: &AskedEvents<'_>,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let (timeline, shown) = (printer.timeline, printer.shown);
    if shown == 0 {
        known_place(args, timeline, asked.about)?;
        printer.begin(screen)?;
    }
    if printer.unreadable > 0 {
        screen.finish()?;
        let unreadable = count(printer.unreadable, "Event");
        return Err(CommandError::damaged(&format!(
            "{unreadable} cannot be read"
        )));
    }
    if timeline.is_damaged_between(asked.bounds.0, asked.bounds.1) {
        screen.finish()?;
        return Err(CommandError::damaged("Events are missing"));
    }
    let resources = asked.resources.iter().copied();
    let trust = ChangeTrust::of(timeline, resources, asked.bounds);
    let gaps = "the recording of Events has gaps: some may be missing";
    let words = trust.words(timeline, gaps);
    let late = match printer.late {
        0 => String::new(),
        late => format!(" · {} received late", number(late)),
    };
    screen.aside(format!("{} · {words}{late}", count(shown, "line")))?;
    Ok(trust.exit())
}

/// Checks that the object or the namespace of a question without an answer was ever there.
fn known_place(
    args: &Args,
    timeline: &Timeline,
    about: Option<&TargetObject<'_>>,
) -> Result<(), CommandError> {
    if let Some(about) = about {
        let resource = about.resource.id;
        let is_observed = if args.all_namespaces {
            let found = timeline.in_any_namespace(resource, &about.name);
            found.is_some_and(|key| key.name == about.name)
        } else {
            !timeline
                .lives(resource, about.namespace, &about.name)
                .is_empty()
        };
        return if is_observed {
            Ok(())
        } else {
            Err(about.never_observed(timeline, None))
        };
    }
    if args.all_namespaces {
        return Ok(());
    }
    object_query::known_namespace(timeline, &args.namespace)
}

/// Prints Events in the form that was asked for.
struct EventPrinter<'a> {
    timeline: &'a Timeline,
    form: Option<EventFormat>,
    shows_namespace: bool,
    shows_header: bool,
    shown: u64,
    /// How many were received later than they were reported.
    late: u64,
    unreadable: u64,
    widths: EventWidths,
}

/// How many Events decide how wide the columns are; a longer cell further down moves its row.
const MEASURED: usize = 2_000;

impl<'a> EventPrinter<'a> {
    const fn of(timeline: &'a Timeline, args: &Args) -> Self {
        Self {
            timeline,
            form: args.output,
            shows_namespace: args.all_namespaces,
            shows_header: !args.no_headers,
            shown: 0,
            late: 0,
            unreadable: 0,
            widths: EventWidths::LEAST,
        }
    }

    /// Makes the columns wide enough for the first Events, which are read ahead if they are printed as a table.
    fn measured<Log: Iterator<Item = Result<LoggedEvent, QueryError>>>(
        &mut self,
        mut log: Log,
    ) -> impl Iterator<Item = Result<LoggedEvent, QueryError>> + use<Log> {
        let is_table = matches!(self.form, None | Some(EventFormat::Wide));
        let ahead = if is_table && self.shown == 0 {
            MEASURED
        } else {
            0
        };
        let first: Vec<_> = log.by_ref().take(ahead).collect();
        for logged in first.iter().flatten() {
            self.widths.widen(self.timeline, logged);
        }
        first.into_iter().chain(log)
    }

    /// Prints the header row.
    fn begin(&self, screen: &mut Console) -> Result<(), CommandError> {
        if matches!(self.form, None | Some(EventFormat::Wide)) && self.shows_header {
            let time = self.widths.time;
            let mut line = StyledLine::of(Style::Plain, format!("{:<time$}   ", "TIME"));
            if self.shows_namespace {
                let width = self.widths.namespace;
                line.push(Style::Plain, format!("{:<width$}   ", "NAMESPACE"));
            }
            for (name, width) in COLUMNS.into_iter().zip(self.widths.cells) {
                line.push(Style::Plain, format!("{name:<width$}   "));
            }
            if self.form.is_some() {
                let width = self.widths.source;
                line.push(Style::Plain, format!("{:<width$}   ", "SOURCE"));
            }
            line.push(Style::Plain, "MESSAGE");
            screen.show(&line, HANG)?;
        }
        Ok(())
    }

    fn object(&self, logged: &LoggedEvent) -> Result<Value, QueryError> {
        let timeline = self.timeline;
        let object = timeline.reel().object_of(logged.seq);
        let key = object.and_then(|object| timeline.key_of(object));
        let resource = key.and_then(|key| timeline.resources().get(key.resource));
        resource.map_or(Ok(Value::Null), |resource| {
            timeline.object(logged.seq, resource, ObjectForm::default())
        })
    }

    /// Prints Events in their order; people get those that are older than the recording in the order of their own
    /// times, because they were all received at once.
    fn print_all(
        &mut self,
        log: impl Iterator<Item = Result<LoggedEvent, QueryError>>,
        screen: &mut Console,
    ) -> Result<(), CommandError> {
        // Below the header row, the columns stay as they are.
        let log = self.measured(log);
        let is_for_people = matches!(self.form, None | Some(EventFormat::Wide));
        let mut older: Vec<LoggedEvent> = Vec::new();
        for logged in log {
            // One that cannot be read hides none of the others.
            let Ok(logged) = logged else {
                self.unreadable += 1;
                continue;
            };
            if is_for_people && logged.is_older {
                older.push(logged);
                continue;
            }
            self.print_older(&mut older, screen)?;
            self.print(&logged, screen)?;
        }
        self.print_older(&mut older, screen)
    }

    fn print_older(
        &mut self,
        older: &mut Vec<LoggedEvent>,
        screen: &mut Console,
    ) -> Result<(), CommandError> {
        LoggedEvent::sort_older(older);
        for logged in older.drain(..) {
            self.print(&logged, screen)?;
        }
        Ok(())
    }

    fn print(&mut self, logged: &LoggedEvent, screen: &mut Console) -> Result<(), CommandError> {
        if self.shown == 0 {
            self.begin(screen)?;
        }
        self.shown += 1;
        self.late += u64::from(logged.not_before.is_some());
        let timeline = self.timeline;
        match self.form {
            Some(EventFormat::Json) => screen.json_line(&EventOutput::of(timeline, logged)),
            Some(EventFormat::Name) => screen.line(harmless(&format!("event/{}", logged.name))),
            Some(EventFormat::Yaml) => {
                let object = self.object(logged).map_err(CommandError::reel)?;
                let mut text = String::from("---\n");
                write_folded_yaml(&mut text, &object).map_err(CommandError::io)?;
                screen
                    .out()
                    .write_all(text.as_bytes())
                    .map_err(|error| CommandError::output(&error))
            }
            None | Some(EventFormat::Wide) => {
                let namespace = self.shows_namespace.then_some(logged.namespace.as_str());
                let source = self.form.map(|_| logged.content.component.as_str());
                let row = row(timeline, logged, namespace, source, self.widths);
                screen.show(&row, HANG)
            }
        }
    }
}

fn question<'a>(
    args: &'a Args,
    timeline: &'a Timeline,
    (from, to): (Option<Cut>, Option<Cut>),
) -> Result<(EventQuestion, Option<TargetObject<'a>>), CommandError> {
    let about = match &args.about {
        None => None,
        Some(words) => {
            let end = arguments::resolve(timeline, Moment::End, "--to")?;
            // Those of all namespaces are about the objects of this name in each of them.
            let namespace = if args.all_namespaces {
                ""
            } else {
                &args.namespace
            };
            Some(TargetObject::find(timeline, words, &[], namespace, end)?)
        }
    };
    let question = EventQuestion {
        namespace: (!args.all_namespaces).then(|| args.namespace.clone()),
        from,
        to,
        about: about
            .as_ref()
            .map(|named| Regarding::named(named.resource, named.namespace, &named.name)),
        severities: args.types.clone(),
    };
    Ok((question, about))
}

/// The columns between time and message.
const COLUMNS: [&str; 4] = ["TYPE", "REASON", "OBJECT", "COUNT"];

/// How wide the columns of a table of Events are, in letters.
#[derive(Clone, Copy, Debug)]
struct EventWidths {
    time: usize,
    /// Those of [`COLUMNS`].
    cells: [usize; COLUMNS.len()],
    namespace: usize,
    source: usize,
}

impl EventWidths {
    const LEAST: Self = Self {
        time: 0,
        cells: [7, 19, 35, 5],
        namespace: 20,
        source: 24,
    };

    /// The width of the widest column: an odd name must not push all messages away.
    const MOST: usize = 80;

    fn widen(&mut self, timeline: &Timeline, logged: &LoggedEvent) {
        let content = &logged.content;
        let widen = |width: &mut usize, text: &str| {
            *width = text.chars().count().min(Self::MOST).max(*width);
        };
        for (width, cell) in self.cells.iter_mut().zip(cells(content)) {
            widen(width, &cell);
        }
        widen(&mut self.namespace, &logged.namespace);
        for at in [logged.shown_time(), timeline.end()] {
            widen(&mut self.time, &timeline.written(at));
        }
        widen(&mut self.source, &content.component);
    }
}

/// Gives the cells under [`COLUMNS`].
fn cells(content: &EventContent) -> [String; COLUMNS.len()] {
    let regarding = &content.regarding;
    [
        content.severity.clone(),
        content.reason.clone(),
        format!("{}/{}", regarding.kind.to_lowercase(), regarding.name),
        content.count.to_string(),
    ]
}

/// Gives the line of an Event that a person reads.
pub(crate) fn line(timeline: &Timeline, logged: &LoggedEvent) -> StyledLine {
    row(timeline, logged, None, None, EventWidths::LEAST)
}

fn row(
    timeline: &Timeline,
    logged: &LoggedEvent,
    namespace: Option<&str>,
    source: Option<&str>,
    widths: EventWidths,
) -> StyledLine {
    let said = &logged.content;
    let (time, width) = (timeline.written(logged.shown_time()), widths.time);
    let mut line = StyledLine::of(Style::Strong, format!("{time:<width$}"));
    let style = if said.severity == "Warning" {
        Style::Wary
    } else {
        Style::Plain
    };
    line.push(Style::Plain, "   ");
    if let Some(namespace) = namespace {
        let width = widths.namespace;
        line.push(Style::Plain, format!("{namespace:<width$}   "));
    }
    for (place, (cell, width)) in cells(said).into_iter().zip(widths.cells).enumerate() {
        let style = if place == 0 { style } else { Style::Plain };
        line.push(style, format!("{cell:<width$}   "));
    }
    if let Some(source) = source {
        let width = widths.source;
        line.push(Style::Plain, format!("{source:<width$}   "));
    }
    line.push(Style::Plain, &said.message);
    if let Some(note) = logged.time_note(timeline) {
        line.push(Style::Faint, format!(" ({note})"));
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
    /// Since when it may have been committed, if it was received late, or is known from the list after a gap: `at` is when it
    /// was received.
    not_before: Option<String> = logged.not_before.map(timetext::rfc3339),
    namespace: &'a str = &logged.namespace,
    name: &'a str = &logged.name,
    r#type: &'a str = &logged.content.severity,
    reason: &'a str = &logged.content.reason,
    message: &'a str = &logged.content.message,
    component: &'a str = &logged.content.component,
    count: u64 = logged.content.count,
    last: Option<String> = logged.content.last.map(timetext::rfc3339),
    regarding: EventSubject<'a> = EventSubject::of(&logged.content.regarding),
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
