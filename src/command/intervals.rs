//! `kubereel intervals`: states from when to when, with the names of the OpenShift monitor. The first byte of the input
//! tells whether it is a reel or a file of intervals.

use crate::command::interval_files;
use crate::command::object_query::{self, ChangeTrust, SearchedNamespaceArgs};
use crate::command_error::{CommandError, Exit};
use crate::field_text::{HANG, secs};
use crate::outputs::outputs;
use crate::progress::ProgressReporter;
use crate::screen::{Console, Style, StyledLine};
use crate::words::{count, duration};
use crate::{arguments, files};
use kubereel_format::{Loss, ReadError, RecordedAt, Seq};
use kubereel_history::{Cut, Moment, ResolveError, Timeline, harmless, nearest, timetext};
use kubereel_monitortests::{
    Display, Fed, FeedError, Gathering, Interest, Interval, IntervalFilter, IntervalMessage,
    Intervals, KeyPattern, Level, Locator, Mode, Pairs, feed, source, write_intervals,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Show intervals: conditions, node and pod states, upgrades, Events, gaps
///
/// A line is an interval, with the names that the OpenShift monitor, its tools, timelines and tests
/// use. Takes a reel, or a file of intervals that openshift-tests wrote
/// (e2e-events_….json, e2e-timelines_….json, of any generation).
///
/// By default all records of a reel are used: an interval starts with the record that shows the
/// change, and has the reason and message of that record. One that has not ended stays open.
/// Where the state of an object is no longer known, in damage or after its last watch, its intervals
/// end, with "end not observed". A time that an object gives itself, such as lastTransitionTime or
/// finishedAt, is an annotation (-o wide, -o json) where it differs. With --mode upstream the
/// intervals are those that the monitor would have produced; this is the default of -o upstream and
/// --export.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel, or a file of intervals
    #[arg(value_name = "REEL|FILE")]
    input: PathBuf,
    /// Only intervals of this source, such as `OperatorState`; may be given more than once
    #[arg(long = "source", value_name = "SOURCE")]
    sources: Vec<String>,
    /// Only intervals whose locator has this key with a matching value; may be given more than once
    #[arg(long = "locator", value_name = "KEY=PATTERN")]
    keys: Vec<KeyPattern>,
    #[command(flatten)]
    namespace: SearchedNamespaceArgs,
    /// Only intervals with this reason; may be given more than once
    #[arg(long = "reason", value_name = "REASON")]
    reasons: Vec<String>,
    /// Only intervals with a duration, no instants; with LENGTH, only those that last at least this long
    #[arg(
        long,
        value_name = "LENGTH",
        num_args = 0..=1,
        default_missing_value = "0s",
        require_equals = true,
        value_parser = arguments::read_micros
    )]
    lasting: Option<i64>,
    /// Only intervals that had not ended before this moment
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only intervals that had begun by this moment
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// Rules by which intervals are derived from a reel
    #[arg(long, value_name = "MODE")]
    mode: Option<IntervalMode>,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<IntervalFormat>,
    /// Write the files of a run of openshift-tests into this folder: e2e-events and e2e-timelines
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    export: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, requires = "export")]
    force: bool,
}

/// By which rules intervals are made.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum IntervalMode {
    /// From all records of the reel
    Exact,
    /// As the OpenShift monitor would have made them
    Upstream,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum IntervalFormat {
    /// One JSON object a line, with fractions of seconds
    Json,
    /// A file as openshift-tests writes it, in whole seconds
    Upstream,
    /// Text with every key and annotation
    Wide,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel intervals run.reel --source OperatorState
  kubereel intervals run.reel --lasting=30s --from 14:02 --to 14:10
  kubereel intervals run.reel -n web --locator pod=^web- --lasting
  kubereel intervals e2e-events_20260123-040506.json --source NodeState -o wide
  kubereel intervals run.reel -o json | jq 'select(.is_open) | .locator.text'
  kubereel intervals run.reel --export artifacts/junit

Exit codes: 0 complete; 3 the reel is damaged before the end of the time span, intervals are missing; 4 the recording has gaps or does not cover the time span, intervals may be missing.

{}",
        arguments::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let mut filter = IntervalFilter {
        sources: args.sources.clone(),
        keys: args.keys.clone(),
        namespace: args.namespace.only().map(str::to_owned),
        reasons: args.reasons.clone(),
        lasting_micros: args.lasting,
        ..IntervalFilter::default()
    };
    let is_upstreams = args.export.is_some() || args.output == Some(IntervalFormat::Upstream);
    let mode = match args.mode {
        Some(IntervalMode::Upstream) => Mode::Upstream,
        None if is_upstreams => Mode::Upstream,
        Some(IntervalMode::Exact) | None => Mode::Exact,
    };
    let opened = open_input(&args.input, mode, &mut filter, (args.from, args.to), screen)?;
    let end = opened.intervals.end();
    let all = opened.intervals.all().iter();
    let asked: Vec<&Interval> = all.filter(|one| filter.has(one, end)).collect();
    if let Some(folder) = &args.export {
        let start = Some(opened.intervals.start());
        interval_files::write(folder, &asked, start, args.force, |path| {
            screen.line(path.display())
        })?;
    } else {
        print_intervals(args.output, &opened, &asked, screen)?;
    }
    print_unknown_keys(&args.keys, &opened.intervals, screen)?;
    print_trust(&opened, &asked, screen)
}

/// Names the keys that were asked for and that no locator has: they may be misspelled.
fn print_unknown_keys(
    asked: &[KeyPattern],
    intervals: &Intervals,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let known: BTreeSet<&str> = intervals
        .all()
        .iter()
        .flat_map(|one| pairs(&one.locator.keys).into_keys())
        .collect();
    let unknown = asked.iter().map(KeyPattern::key);
    for key in unknown.filter(|key| !known.contains(key)) {
        let all: Vec<&str> = known.iter().copied().collect();
        let line = format!("note: no locator has the key {key:?}: {}", all.join(", "));
        screen.aside(harmless(&line))?;
    }
    Ok(())
}

fn print_intervals(
    output: Option<IntervalFormat>,
    opened: &IntervalInput,
    asked: &[&Interval],
    screen: &mut Console,
) -> Result<(), CommandError> {
    match output {
        None => print_text(opened, asked, false, screen),
        Some(IntervalFormat::Wide) => print_text(opened, asked, true, screen),
        Some(IntervalFormat::Json) => asked
            .iter()
            .try_for_each(|one| screen.json_line(&IntervalOutput::of(one, opened.intervals.end()))),
        Some(IntervalFormat::Upstream) => {
            let written = write_intervals(asked.iter().copied(), screen.out());
            written.map_err(|error| CommandError::output(&error))?;
            screen.line("")
        }
    }
}

/// Says how many there were and how far they can be trusted.
fn print_trust(
    opened: &IntervalInput,
    asked: &[&Interval],
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let open = asked.iter().filter(|one| one.to.is_none()).count();
    let mut said = vec![count(asked.len(), "interval")];
    if open > 0 {
        said.push(format!("{open} open at the end"));
    }
    let paint = screen.err_paint();
    let exit = match &opened.trust {
        IntervalTrust::File => {
            said.push("as in the file".to_owned());
            Exit::Yes
        }
        IntervalTrust::Reel { changes, words } => {
            let is_known = changes.exit() == Exit::Yes;
            said.push(if is_known {
                words.clone()
            } else {
                paint.wary(words)
            });
            changes.exit()
        }
        IntervalTrust::NotRecorded => {
            said.push(paint.wary("none of the resources that these intervals need was recorded"));
            Exit::Unknown
        }
        IntervalTrust::Damaged(first) => {
            screen.aside(said.join(" · "))?;
            return Err(CommandError::reel(format!(
                "the reel is damaged, intervals are missing: {first}"
            ))
            .hint("to see where: kubereel info REEL"));
        }
    };
    screen.aside(said.join(" · "))?;
    Ok(exit)
}

/// Intervals, and how far they can be trusted.
struct IntervalInput {
    intervals: Intervals,
    trust: IntervalTrust,
}

/// How far the intervals can be taken for all that there were.
enum IntervalTrust {
    /// A file holds what its writer saw.
    File,
    /// The changes that were read, and what limits them.
    Reel {
        changes: ChangeTrust,
        words: String,
    },
    /// None of the resources that intervals need is in the reel.
    NotRecorded,
    Damaged(String),
}

/// Opens a reel or a file, and puts the bounds of time into the filter.
fn open_input(
    path: &Path,
    mode: Mode,
    filter: &mut IntervalFilter,
    bounds: (Option<Moment>, Option<Moment>),
    screen: &Console,
) -> Result<IntervalInput, CommandError> {
    if interval_files::is_json(path) {
        let intervals = interval_files::read(path)?;
        let (start, end) = (intervals.start(), intervals.end());
        let resolve = |moment: Option<Moment>| {
            let found = moment.map(|moment| moment.within(start, end));
            found.transpose().map_err(|error| at_error(&error))
        };
        set_bounds(filter, resolve(bounds.0)?, resolve(bounds.1)?)?;
        return Ok(IntervalInput {
            intervals,
            trust: IntervalTrust::File,
        });
    }
    let timeline = files::open_reel(path)?;
    check_sources(&filter.sources)?;
    if let Some(namespace) = &filter.namespace {
        object_query::known_namespace(&timeline, namespace)?;
    }
    let resolve = |moment: Option<Moment>, flag| {
        let found = moment.map(|moment| arguments::resolve(&timeline, moment, flag));
        found.transpose()
    };
    let (from, to) = (resolve(bounds.0, "--from")?, resolve(bounds.1, "--to")?);
    arguments::refuse_backward(&timeline, (from, to))?;
    let wall = |cut: Option<Cut>| cut.map(wall).transpose();
    set_bounds(filter, wall(from)?, wall(to)?)?;
    Ok(gathered(&timeline, mode, filter, (from, to), screen))
}

/// Refuses a source that no recording has.
fn check_sources(asked: &[String]) -> Result<(), CommandError> {
    let is_known = |name: &str| source::ALL.iter().any(|one| one.eq_ignore_ascii_case(name));
    let Some(unknown) = asked.iter().find(|name| !is_known(name)) else {
        return Ok(());
    };
    let hint = match nearest(unknown, source::ALL.into_iter()).first() {
        Some(near) => format!("did you mean {near}?"),
        None => format!("available: {}", source::ALL.join(", ")),
    };
    Err(CommandError::usage(format!("unknown source: {unknown}")).hint(hint))
}

fn gathered(
    timeline: &Timeline,
    mode: Mode,
    filter: &IntervalFilter,
    bounds: (Option<Cut>, Option<Cut>),
    screen: &Console,
) -> IntervalInput {
    let mut gathering = Gathering::only(timeline, mode, |source| filter.has_source(source));
    let interests: Vec<Interest> = gathering
        .watchers()
        .iter()
        .flat_map(|watcher| watcher.interests())
        .collect();
    let total = timeline.reel().end().0;
    let mut progress = ProgressReporter::begin("reading", total, screen.is_err_terminal());
    let fed = feed(timeline, &mut gathering.watchers(), |Seq(done)| {
        progress.reached(done);
    });
    drop(progress);
    let intervals = gathering.finish(timeline).intervals;
    let trust = match loss(timeline, &fed, bounds.1) {
        Some(lost) => IntervalTrust::Damaged(lost),
        None => trust(timeline, &interests, bounds),
    };
    IntervalInput { intervals, trust }
}

/// Names the first loss of records before the end of the time span. What is lost before its begin counts, too: an
/// interval may have begun there.
fn loss(timeline: &Timeline, fed: &Fed, to: Option<Cut>) -> Option<String> {
    let is_before = |error: &&FeedError| {
        let first = match error {
            FeedError::Body { seq, .. } => Some(*seq),
            FeedError::Reel { source } => first_lost(source),
            _ => None,
        };
        let bounds = first.zip(to);
        bounds.is_none_or(|(first, to)| timeline.is_within(first, to))
    };
    if let Some(unread) = fed.unread.iter().find(is_before) {
        return Some(unread.to_string());
    }
    if !timeline.is_damaged_between(None, to) {
        return None;
    }
    let mut damage = timeline.reel().damage().iter();
    let first = damage.find(|one| one.loss != Loss::Nothing)?;
    Some(format!("{}: {}", first.place, first.cause))
}

fn first_lost(error: &ReadError) -> Option<Seq> {
    match error {
        ReadError::Block { first, .. } => Some(*first),
        ReadError::Event { seq, .. } => Some(*seq),
        _ => None,
    }
}

/// Finds the gaps in what was read.
fn trust(
    timeline: &Timeline,
    interests: &[Interest],
    bounds: (Option<Cut>, Option<Cut>),
) -> IntervalTrust {
    let read: BTreeSet<(&str, &str)> = interests
        .iter()
        .map(|interest| (&*interest.group, &*interest.plural))
        .collect();
    let resources = timeline.resources().iter();
    let read = resources.filter(|info| read.contains(&(&*info.group, &*info.plural)));
    let read: Vec<_> = read.map(|info| info.id).collect();
    if read.is_empty() && !timeline.has_lost_records() {
        return IntervalTrust::NotRecorded;
    }
    let unobserved = read
        .iter()
        .flat_map(|id| timeline.unobserved_within(*id, bounds));
    let gaps = unobserved.filter(|span| !span.is_late()).count();
    let gaps = count(gaps, "gap of the recording");
    let changes = ChangeTrust::of(timeline, read, bounds);
    IntervalTrust::Reel {
        changes,
        words: changes.words(timeline, &format!("{gaps}: some may be missing")),
    }
}

fn wall(cut: Cut) -> Result<RecordedAt, CommandError> {
    match cut {
        Cut::Arrival { wall, .. } => Ok(wall),
        Cut::Revision(_) => Err(CommandError::usage(
            "a resourceVersion cannot limit intervals: expected a time",
        )
        .hint("to see when it was written: kubereel history REEL RESOURCE/NAME")),
    }
}

fn at_error(error: &ResolveError) -> CommandError {
    CommandError::usage(format!("moment not in the file: {error}"))
}

fn set_bounds(
    filter: &mut IntervalFilter,
    from: Option<RecordedAt>,
    to: Option<RecordedAt>,
) -> Result<(), CommandError> {
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(arguments::backward(
            &timetext::rfc3339(from),
            &timetext::rfc3339(to),
        ));
    }
    filter.from = from;
    filter.to = to;
    Ok(())
}

outputs! {
/// An interval; an open one lasts until `end`.
struct IntervalOutput<'a>(one: &'a Interval, end: RecordedAt) {
    seq: Option<u64> = one.seq.map(|seq| seq.0),
    level: &'static str = one.level.as_str(),
    source: &'a str = one.source.as_str(),
    display: bool = one.display == Display::Drawn,
    locator: IntervalLocatorOutput<'a> = IntervalLocatorOutput::of(&one.locator),
    message: IntervalMessageOutput<'a> = IntervalMessageOutput::of(&one.message),
    from: String = timetext::rfc3339(one.from),
    to: Option<String> = one.to.map(timetext::rfc3339),
    lasts_secs: f64 = secs(one.micros(end)),
    is_open: bool = one.to.is_none(),
}

struct IntervalLocatorOutput<'a>(locator: &'a Locator) {
    r#type: &'a str = &locator.kind,
    keys: BTreeMap<&'a str, &'a str> = pairs(&locator.keys),
    text: String = locator.to_string(),
}

struct IntervalMessageOutput<'a>(message: &'a IntervalMessage) {
    reason: &'a str = &message.reason,
    cause: &'a str = &message.cause,
    human_message: &'a str = &message.human,
    annotations: BTreeMap<&'a str, &'a str> = pairs(&message.annotations),
}
}

fn pairs(pairs: &Pairs) -> BTreeMap<&str, &str> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| (name.as_ref(), value.as_ref()))
        .collect()
}

/// Keys that say nothing to a person.
const HIDDEN: [&str; 4] = ["uid", "mirror-uid", "hmsg", "row"];
/// Annotations that stand elsewhere in the line.
const SHOWN_ELSEWHERE: [&str; 9] = [
    "reason",
    "cause",
    "condition",
    "status",
    "constructed",
    "from",
    "to",
    "holder",
    "previousHolder",
];

/// Prints intervals, in their order.
fn print_text(
    opened: &IntervalInput,
    asked: &[&Interval],
    is_wide: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let intervals = &opened.intervals;
    let time_width = asked
        .iter()
        .map(|one| when(intervals, one).len())
        .max()
        .unwrap_or(0);
    let source_width = asked.iter().map(|one| one.source.as_str().chars().count());
    let columns = IntervalColumns {
        time: time_width.max("TIME".len()),
        lasts: 12,
        source: source_width.max().unwrap_or(0).max("SOURCE".len()),
        is_wide,
    };
    screen.line(columns.headers())?;
    for one in asked {
        screen.show(&columns.line(intervals, one), HANG)?;
    }
    Ok(())
}

struct IntervalColumns {
    time: usize,
    lasts: usize,
    source: usize,
    is_wide: bool,
}

impl IntervalColumns {
    fn headers(&self) -> String {
        let Self {
            time,
            lasts,
            source,
            ..
        } = *self;
        format!(
            "{:<time$}   {:<lasts$}   LEVEL     {:<source$}   WHAT",
            "TIME", "LASTS", "SOURCE"
        )
    }

    fn line(&self, intervals: &Intervals, one: &Interval) -> StyledLine {
        let Self {
            time,
            lasts,
            source,
            ..
        } = *self;
        let mut line = StyledLine::of(Style::Strong, format!("{:<time$}   ", when(intervals, one)));
        let length = length(intervals, one);
        let style = if one.to.is_none() {
            Style::Wary
        } else {
            Style::Plain
        };
        line.push(style, format!("{length:<lasts$}   "));
        let is_gap = one.source.as_str() == source::RECORDING_GAP;
        let style = match one.level {
            _ if is_gap => Style::Wary,
            Level::Info => Style::Plain,
            Level::Warning => Style::Wary,
            Level::Error => Style::Bad,
        };
        line.push(style, format!("{:<7}   ", one.level.as_str()));
        line.push(Style::Plain, format!("{:<source$}   ", one.source.as_str()));
        let about = if self.is_wide {
            one.locator.to_string()
        } else {
            short(&one.locator)
        };
        line.push(Style::Strong, about);
        line.push(Style::Plain, "  ");
        line.push(Style::Plain, words(one, self.is_wide));
        line
    }
}

fn when(intervals: &Intervals, one: &Interval) -> String {
    timetext::within(intervals.start(), intervals.end(), one.from)
}

/// Gives how long it lasts: nothing for an instant, and for what is open, until the end of the run.
fn length(intervals: &Intervals, one: &Interval) -> String {
    let micros = one.micros(intervals.end());
    let span = duration(micros);
    match one.to {
        None => format!("{span} open"),
        Some(_) if one.is_instant() => "-".to_owned(),
        Some(_) => span,
    }
}

fn short(locator: &Locator) -> String {
    let keys = locator.keys.iter();
    let keys = keys.filter(|(key, _)| !HIDDEN.contains(&key.as_ref()));
    let keys = keys.map(|(key, value)| (key.as_ref(), value.as_ref()));
    Locator::new(&locator.kind, keys).to_string()
}

fn words(one: &Interval, is_wide: bool) -> String {
    let message = &one.message;
    if is_wide {
        return message.to_string();
    }
    let human = message.human.trim();
    let mut said: Vec<String> = Vec::new();
    // Upstream's words for a version's condition begin with the condition.
    if !human.starts_with("changed to ") && !human.starts_with("stayed in ") {
        if let Some(condition) = message.annotation("condition") {
            let status = message.annotation("status").unwrap_or_default();
            said.push(format!("{condition}={status}"));
        }
        said.push(match message.cause.as_ref() {
            "" => message.reason.to_string(),
            cause => format!("{} ({cause})", message.reason),
        });
    }
    said.push(human.to_owned());
    said.retain(|part| !part.is_empty());
    let rest: BTreeMap<&str, &str> = message
        .annotations
        .iter()
        .map(|(name, value)| (name.as_ref(), value.as_ref()))
        // The end of a state may stand in its words.
        .filter(|(name, _)| *name != "end" || !human.ends_with("end not observed"))
        .filter(|(name, value)| !SHOWN_ELSEWHERE.contains(name) && !value.is_empty())
        .filter(|(name, _)| !name.ends_with("Timestamp"))
        .collect();
    let mut text = said.join(": ");
    if !rest.is_empty() {
        let rest: Vec<String> = rest
            .into_iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push('(');
        text.push_str(&rest.join(", "));
        text.push(')');
    }
    text
}
