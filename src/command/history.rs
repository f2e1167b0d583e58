//! `kubereel history`: every version of an object, its writers, and its changes.

use crate::arguments::{self, JsonOutput};
use crate::command::follow::{self, FollowBounds, FollowOptions, ToldSpans};
use crate::command::object_query::{self, ChangeTrust, ObjectArgs, TargetObject};
use crate::command_error::{CommandError, Exit};
use crate::field_text::{self, FieldChangeOutput, FieldWriterOutput, HANG};
use crate::files;
use crate::outputs::outputs;
use crate::screen::{Console, JsonList, Style, StyledLine};
use crate::words::count;
use kubereel_cluster::VersionChanges;
use kubereel_format::{EventType, RecordedAt, ResourceId};
use kubereel_history::{
    Certainty, ComparisonScope, Cut, DurationEnd, Field, FollowedReel, HistoryItem,
    HistoryQuestion, HistoryVersion, Moment, ObjectHistory, RecordedGap, Timeline, VersionDuration,
    VersionFact, VersionPlace, harmless, timetext,
};
use serde::Serialize;
use std::path::PathBuf;

/// Show every version of an object: its time, its writers and its changes
///
/// Fields are written as they are shown: `.status.conditions[Degraded].status`. Lists are matched by the
/// keys of their items, long texts are compared word by word. metadata.managedFields and
/// metadata.resourceVersion are omitted by default.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    object: ObjectArgs,
    /// Only versions that change this field or one below it; may be given more than once
    #[arg(long = "field", value_name = "FIELD")]
    fields: Vec<Field>,
    /// Only versions from this moment on
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only versions up to this moment
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// Follow a reel that is being recorded: show versions as they come; -o json writes an item a line
    #[arg(short, long)]
    follow: bool,
    /// Compare metadata.managedFields too
    #[arg(long)]
    show_managed_fields: bool,
    #[command(flatten)]
    output: JsonOutput,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel history run.reel co/etcd
  kubereel history run.reel co/etcd --field .status.conditions
  kubereel history run.reel deploy shop -n web --field .spec.replicas --from 14:02 --to +30m
  kubereel history run.reel pod/web-0 -n web --follow
  kubereel history run.reel node/worker-0 -o json | jq '.items[].writers'

Exit codes:
  0  the versions are shown
  1  the object was never observed: it did not exist
  3  the reel is damaged; what can be read is shown
  4  versions may be missing at the bounds, or the object may have existed

Errors: kubereel --help

{}",
        arguments::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    if args.follow {
        return follow(args, screen);
    }
    let timeline = files::open_reel(&args.reel)?;
    answer(&timeline, args, screen)
}

/// Prints versions as they are recorded.
fn follow(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let mut bounds = FollowBounds::of_changes(args.from, args.to);
    let mut told = ToldSpans::default();
    let mut tally: Option<HistoryTally> = None;
    let take = |state: &FollowedReel, is_last: bool, screen: &mut Console| {
        let Some(part) = bounds.part(state)? else {
            return Ok(None);
        };
        let is_last = is_last || part.is_over;
        let timeline = &state.timeline;
        let end = part.to.unwrap_or(timeline.last_cut());
        let named = find(timeline, args, end, part.to)?;
        let history = timeline.history(question(args, &named, part.from, part.to));
        let certainty = timeline.certainty(named.resource.id, end);
        if tally.is_none() && !args.output.is_json() {
            let head = head(
                timeline,
                &named,
                &history,
                (&certainty, (part.asked_from, part.to)),
            );
            screen.aside(harmless(&head))?;
        }
        let tally = tally.get_or_insert_default();
        tally.versions += history.versions();
        for mut item in history {
            match &mut item {
                HistoryItem::Gap(gap) if !told.is_new_gap(&gap.gap) => continue,
                HistoryItem::Unobserved(span) if !told.is_new(span, is_last) => continue,
                // How long the last version holds is to be seen.
                HistoryItem::Version(version) if !is_last => {
                    version.held = version.held.filter(|held| {
                        matches!(
                            held.until,
                            DurationEnd::Change | DurationEnd::Gap | DurationEnd::List
                        )
                    });
                }
                _ => {}
            }
            tally.take(&item);
            if args.output.is_json() {
                screen.json_line(&HistoryOutputItem::of(timeline, &item))?;
                continue;
            }
            for line in item_lines(timeline, &item) {
                screen.show(&line, HANG)?;
            }
        }
        if !is_last {
            return Ok(None);
        }
        say_the_rest(
            timeline,
            args,
            &named,
            (part.asked_from, part.to),
            tally,
            screen,
        )?;
        Ok(Some(exit_of(timeline, &named, part.asked_from, end)))
    };
    let options = FollowOptions {
        is_asked: true,
        ..FollowOptions::default()
    };
    follow::follow(&args.reel, options, screen, take)
}

/// Finds the object, which was observed.
fn find<'a>(
    timeline: &'a Timeline,
    args: &'a Args,
    end: Cut,
    to: Option<Cut>,
) -> Result<TargetObject<'a>, CommandError> {
    let named = args.object.find(timeline, end)?;
    let lives = timeline.lives(named.resource.id, named.namespace, &named.name);
    if lives.is_empty() {
        return Err(named.never_observed(timeline, to));
    }
    Ok(named)
}

fn question<'a>(
    args: &Args,
    named: &'a TargetObject<'a>,
    from: Option<Cut>,
    to: Option<Cut>,
) -> HistoryQuestion<'a> {
    HistoryQuestion {
        resource: named.resource,
        namespace: named.namespace,
        name: &named.name,
        scope: ComparisonScope {
            fields: args.fields.clone(),
            shows_managed_fields: args.show_managed_fields,
            shows_resource_version: false,
        },
        from,
        to,
    }
}

/// The versions that are shown are certain; an unknown bound leaves open which are missing.
fn exit_of(timeline: &Timeline, named: &TargetObject<'_>, from: Option<Cut>, end: Cut) -> Exit {
    let certainty = |cut| timeline.certainty(named.resource.id, cut);
    // The changes of a time without a watch at the begin were received after it: they are among the versions.
    let is_from_known = from.map(certainty).is_none_or(|certainty| {
        certainty.is_known()
            || certainty.is_gone()
            || matches!(certainty, Certainty::Blind { to: Some(_), .. })
    });
    let exit = object_query::exit_of(&certainty(end));
    if is_from_known {
        exit
    } else {
        exit.worse(Exit::Unknown)
    }
}

/// Answers a question about an open reel.
pub(crate) fn answer(
    timeline: &Timeline,
    args: &Args,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let (from, to) = arguments::bounds(timeline, args.from, args.to)?;
    let end = arguments::resolve(timeline, args.to.unwrap_or(Moment::End), "--to")?;
    let named = find(timeline, args, end, to)?;
    let first = arguments::first_change(timeline, args.from, from);
    let history = timeline.history(question(args, &named, first, to));
    let certainty = timeline.certainty(named.resource.id, end);
    let trust = (&certainty, (from, to));
    let head = head(timeline, &named, &history, trust);
    screen.aside(harmless(&head))?;
    let tally = print(timeline, args, &named, trust, history, screen)?;
    say_the_rest(timeline, args, &named, (from, to), &tally, screen)?;
    say_late(timeline, named.resource.id, &tally, screen)?;
    Ok(exit_of(timeline, &named, from, end))
}

/// How many times without a watch are named.
const LATE_SHOWN: usize = 3;

/// Says which of the shown times are those of late receipt.
fn say_late(
    timeline: &Timeline,
    resource: ResourceId,
    tally: &HistoryTally,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let (Some(first), Some(last)) = (tally.first, tally.last) else {
        return Ok(());
    };
    let late = timeline.received_late(resource);
    let late = late.filter(|span| span.from <= last && span.to >= first);
    let mut noted: Option<RecordedAt> = None;
    // One within another says nothing more.
    let late = late.filter(|span| {
        let is_within = noted.is_some_and(|noted| span.to <= noted);
        noted = noted.max(Some(span.to));
        !is_within
    });
    for span in late.take(LATE_SHOWN) {
        let (from, to) = (timeline.written(span.from), timeline.written(span.to));
        screen.aside(format!(
            "note: {} {from}–{to}: changes of that time were received late, and have the times of their receipt",
            span.reason
        ))?;
    }
    Ok(())
}

/// What was shown.
#[derive(Clone, Copy, Debug, Default)]
struct HistoryTally {
    /// When the first and the last version were received.
    first: Option<RecordedAt>,
    last: Option<RecordedAt>,
    versions: usize,
    /// Versions that change what was asked for. The first one does if it created the object: before another first
    /// one, the value is not known.
    changing: usize,
    shown: usize,
    unreadable: usize,
    /// Whether a version held anything of what was asked for, or changed it.
    has_field: bool,
}

impl HistoryTally {
    fn take(&mut self, item: &HistoryItem) {
        match item {
            HistoryItem::Version(version) => {
                self.shown += 1;
                self.first = self.first.or(Some(version.at));
                self.last = Some(version.at);
                let changes = version.changes.as_ref();
                let is_known_before = version.place == VersionPlace::Later || version.is_creation;
                let is_changing = changes.is_some_and(|changes| !changes.is_empty());
                self.changing += usize::from(is_changing && is_known_before);
                self.has_field |= is_changing;
            }
            HistoryItem::Gap(_) | HistoryItem::Unobserved(_) => {}
            HistoryItem::Unreadable { .. } => self.unreadable += 1,
        }
    }
}

/// Prints a history as it is read.
fn print(
    timeline: &Timeline,
    args: &Args,
    named: &TargetObject<'_>,
    trusted: TrustedSpan<'_>,
    history: ObjectHistory<'_>,
    screen: &mut Console,
) -> Result<HistoryTally, CommandError> {
    let mut tally = HistoryTally {
        versions: history.versions(),
        ..HistoryTally::default()
    };
    let mut list = None;
    if args.output.is_json() {
        let head = HistoryHead {
            resource: named.resource.qualified(),
            namespace: named.namespace,
            name: &named.name,
            versions: history.versions(),
            gaps: history.gaps(),
            trust: trust(timeline, trusted),
        };
        list = Some(JsonList::begin(&head, "items", screen)?);
    }
    for item in history {
        tally.take(&item);
        if let Some(list) = &mut list {
            list.push(&HistoryOutputItem::of(timeline, &item), screen)?;
            continue;
        }
        for line in item_lines(timeline, &item) {
            screen.show(&line, HANG)?;
        }
    }
    if list.is_some() {
        JsonList::end(screen)?;
    }
    Ok(tally)
}

/// A time span, and the certainty of its end.
type TrustedSpan<'a> = (&'a Certainty, (Option<Cut>, Option<Cut>));

/// Says how far the versions of a time span can be trusted.
fn trust(timeline: &Timeline, (certainty, bounds): TrustedSpan<'_>) -> String {
    if certainty.is_known() && timeline.reaches_outside(bounds.0, bounds.1) {
        return ChangeTrust::Outside.words(timeline, "");
    }
    object_query::trust(timeline, certainty)
}

fn head(
    timeline: &Timeline,
    named: &TargetObject<'_>,
    history: &ObjectHistory<'_>,
    trusted: TrustedSpan<'_>,
) -> String {
    let mut parts = vec![named.written(), count(history.versions(), "version")];
    let mut lives = timeline.lives(named.resource.id, named.namespace, &named.name);
    lives.dedup_by(|next, life| timeline.is_one_object(next.object, life.object));
    if lives.len() > 1 {
        parts.push(format!("{} in sequence", count(lives.len(), "object")));
    }
    if history.gaps() > 0 {
        parts.push(count(history.gaps(), "gap"));
    }
    let is_proven = trusted.0.is_proven();
    if history.gaps() == 0 || !is_proven {
        parts.push(trust(timeline, trusted));
    }
    parts.join(" · ")
}

/// Says what the versions cannot say themselves.
fn say_the_rest(
    timeline: &Timeline,
    args: &Args,
    named: &TargetObject<'_>,
    bounds: (Option<Cut>, Option<Cut>),
    tally: &HistoryTally,
    screen: &mut Console,
) -> Result<(), CommandError> {
    if !args.fields.is_empty() {
        let fields: Vec<String> = args.fields.iter().map(ToString::to_string).collect();
        let fields = harmless(&fields.join(" or ")).into_owned();
        let line = format!(
            "{} of {} change {fields}",
            tally.changing,
            count(tally.versions, "version")
        );
        screen.aside(line)?;
        if tally.shown > 0 && !tally.has_field && args.from.is_none() {
            let place = match named.namespace {
                "" => String::new(),
                namespace => format!(" -n {namespace}"),
            };
            let object = named.written();
            let blame = format!("kubereel blame REEL {object}{place}");
            screen.aside(format!("note: no version has {fields}"))?;
            screen.aside(harmless(&format!("hint: to see its fields: {blame}")))?;
        }
    } else if tally.shown == 0 && tally.unreadable == 0 {
        screen.aside("no version in this time span")?;
    }
    let name = (named.namespace, named.name.as_str());
    if tally.unreadable > 0 || timeline.is_object_damaged_between(named.resource.id, name, bounds) {
        screen.finish()?;
        return Err(CommandError::damaged("versions are missing"));
    }
    Ok(())
}

/// What precedes the items.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct HistoryHead<'a> {
    resource: String,
    namespace: &'a str,
    name: &'a str,
    versions: usize,
    gaps: usize,
    trust: String,
}

/// One item of a history, for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "item", rename_all = "snake_case")]
pub(crate) enum HistoryOutputItem {
    Gap {
        from: String,
        to: String,
        from_rv: Option<String>,
        to_rv: String,
        cause: &'static str,
        missing_at_most: Option<u64>,
    },
    Unobserved {
        /// Null if damage took the begin of the recording.
        from: Option<String>,
        /// Null if damage took the end of the recording.
        to: Option<String>,
        reason: String,
    },
    Unreadable {
        seq: u64,
        at: String,
        error: String,
    },
    Version(Box<HistoryVersionOutput>),
}

outputs! {
struct HistoryVersionOutput(timeline: &Timeline, version: &HistoryVersion) {
    seq: u64 = version.seq.0,
    at: String = timetext::rfc3339(version.at),
    offset_secs: f64 = field_text::secs(version.at.micros_since(timeline.start())),
    committed_after: Option<String> = {
        let bounds = timeline.committed(version.seq);
        bounds.and_then(|bounds| bounds.after).map(timetext::rfc3339)
    },
    committed_before: Option<String> =
        timeline.committed(version.seq).map(|bounds| timetext::rfc3339(bounds.before)),
    rv: String = version.rv.clone(),
    r#type: &'static str = version.kind.as_str(),
    evidence: &'static str = version.evidence.as_str(),
    uid: String = version.uid.clone(),
    is_first: bool = version.place != VersionPlace::Later,
    writers: Option<Vec<FieldWriterOutput>> = FieldWriterOutput::of(&version.authors),
    changes: Option<Vec<FieldChangeOutput>> =
        version.changes.as_ref().map(|changes| FieldChangeOutput::all(changes)),
    /// Since when it may have been committed, if it was received late, or is known from the list after a gap: `at` is when it was
    /// received.
    not_before: Option<String> = version.not_before.map(timetext::rfc3339),
    /// How long it is known to have lasted.
    held_secs: Option<f64> = version.held.map(|held| field_text::length_secs(held.micros)),
    /// How long it may have lasted, if its begin or its end has bounds.
    held_secs_at_most: Option<f64> = version
        .held
        .and_then(|held| held.most_micros)
        .map(field_text::length_secs),
    /// change, gap, list: the one before the change, window: the end of the requested time, or end: that of the
    /// recording.
    held_until: Option<&'static str> = version.held.map(|held| match held.until {
        DurationEnd::Change => "change",
        DurationEnd::Gap => "gap",
        DurationEnd::List => "list",
        DurationEnd::Window => "window",
        DurationEnd::End => "end",
    }),
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<ReplacedObject> = match &version.place {
        VersionPlace::Anew { old_uid, deletion_was_seen } => {
            Some(ReplacedObject::of(old_uid, *deletion_was_seen))
        }
        _ => None,
    },
}

struct ReplacedObject(old_uid: &str, was_seen: bool) {
    uid: String = old_uid.to_owned(),
    deletion_was_seen: bool = was_seen,
}
}

impl HistoryOutputItem {
    pub(crate) fn of(timeline: &Timeline, item: &HistoryItem) -> Self {
        match item {
            HistoryItem::Gap(gap) => Self::Gap {
                from: timetext::rfc3339(gap.from),
                to: timetext::rfc3339(gap.gap.to_time),
                from_rv: gap.gap.from_rv.clone(),
                to_rv: gap.gap.to_rv.clone(),
                cause: gap.cause(),
                missing_at_most: gap.missing_at_most(),
            },
            HistoryItem::Unobserved(span) => Self::Unobserved {
                from: span.known_from().map(timetext::rfc3339),
                to: span.known_to().map(timetext::rfc3339),
                reason: span.reason.to_string(),
            },
            HistoryItem::Unreadable { seq, at, error } => Self::Unreadable {
                seq: seq.0,
                at: timetext::rfc3339(*at),
                error: error.to_string(),
            },
            HistoryItem::Version(version) => {
                Self::Version(Box::new(HistoryVersionOutput::of(timeline, version)))
            }
        }
    }
}

/// Gives the lines of one item.
pub(crate) fn item_lines(timeline: &Timeline, item: &HistoryItem) -> Vec<StyledLine> {
    match item {
        HistoryItem::Gap(gap) => vec![gap_line(timeline, gap)],
        HistoryItem::Unobserved(span) => {
            let [from, to] =
                [span.known_from(), span.known_to()].map(|at| timeline.written_if_known(at));
            let reason = &span.reason;
            let line = StyledLine::of(
                Style::Wary,
                format!(
                    "── not observed {from} – {to}: versions in between may be missing ({reason}) ──"
                ),
            );
            vec![line]
        }
        HistoryItem::Unreadable { at, error, .. } => {
            let mut line = StyledLine::of(Style::Strong, timeline.written(*at));
            line.push(Style::Bad, format!("  unreadable: {error}"));
            vec![line]
        }
        HistoryItem::Version(version) => {
            let mut lines: Vec<StyledLine> = anew_line(version).into_iter().collect();
            lines.push(head_line(timeline, version));
            lines.extend(field_lines(timeline, version));
            lines
        }
    }
}

pub(crate) fn gap_line(timeline: &Timeline, gap: &RecordedGap) -> StyledLine {
    let (from, to) = (
        timeline.written(gap.from),
        timeline.written(gap.gap.to_time),
    );
    let cause = gap.cause();

    StyledLine::of(
        Style::Wary,
        format!("── gap {from} – {to}: versions in between may be missing ({cause}) ──"),
    )
}

fn anew_line(version: &HistoryVersion) -> Option<StyledLine> {
    let VersionPlace::Anew {
        old_uid,
        deletion_was_seen,
    } = &version.place
    else {
        return None;
    };
    let seen = if *deletion_was_seen {
        ""
    } else {
        "; the deletion of the old one was not observed"
    };
    let uids = match (old_uid.as_str(), version.uid.as_str()) {
        ("", "") => String::new(),
        (old, new) => format!(": uid {old} → {new}"),
    };
    let line = StyledLine::of(
        Style::Wary,
        format!("── another object with this name{uids}{seen} ──"),
    );
    Some(line)
}

fn head_line(timeline: &Timeline, version: &HistoryVersion) -> StyledLine {
    let mut line = StyledLine::of(Style::Strong, timeline.written(version.at));
    let since_start = |at: RecordedAt| timetext::offset(at.micros_since(timeline.start()));
    let (offset, rv) = (since_start(version.at), &version.rv);
    let width = since_start(timeline.end()).len().max(7);
    line.push(Style::Plain, format!("  {offset:<width$} rv {rv:<8} "));
    let facts = version.facts(timeline).into_iter().map(|fact| match fact {
        VersionFact::Kind(words) => (Style::Strong, words.to_owned()),
        VersionFact::Bounds(words) => (Style::Wary, words),
        VersionFact::Writers(names) => (Style::Plain, names),
        VersionFact::Note(words) => (Style::Faint, words.to_owned()),
    });
    let mut parts: Vec<(Style, String)> = facts.collect();
    // What came at the last moment that was asked for has not held yet.
    let is_length = |held: &VersionDuration| held.micros.max(held.most_micros.unwrap_or(0)) > 0;
    if let Some(held) = version.held.filter(is_length) {
        parts.push((Style::Faint, held_text(held)));
    }
    for (at, (style, text)) in parts.into_iter().enumerate() {
        if at > 0 {
            line.push(Style::Faint, " · ");
        }
        line.push(style, text);
    }
    line
}

fn held_text(held: VersionDuration) -> String {
    let mut span = timetext::span(held.micros);
    if let Some(most) = held.most_micros {
        let most = timetext::span(most);
        span = match held.micros {
            0 => format!("at most {most}"),
            _ => format!("between {span} and {most}"),
        };
    }
    match held.until {
        DurationEnd::Change => format!("lasted {span}"),
        DurationEnd::Gap => format!("{span} until a gap"),
        DurationEnd::Window | DurationEnd::List => format!("lasted at least {span}"),
        DurationEnd::End => format!("lasted {span}, to the end"),
    }
}

fn field_lines(timeline: &Timeline, version: &HistoryVersion) -> Vec<StyledLine> {
    let note = |text: &str| {
        let line = StyledLine::of(Style::Faint, format!("    {text}"));
        vec![line]
    };
    match &version.changes {
        None => note("the previous version cannot be read"),
        Some(changes) if changes.is_empty() => match (version.kind, &version.place) {
            (EventType::Deleted, _) | (_, VersionPlace::First | VersionPlace::Anew { .. }) => {
                Vec::new()
            }
            _ => note("no field changed"),
        },
        Some(changes) => field_text::lines(VersionChanges::at(timeline, version.seq, changes)),
    }
}
