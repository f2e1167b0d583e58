//! What happened around a moment: the versions of an object, the Events about it, and the last seconds of
//! all resources. Bodies are read near the moment only; the rest is counted.

use super::line::{Ink, LineTarget, PanelLine};
use super::object_at::trust;
use crate::filter::{FilterCandidate, FilterQuery};
use crate::lane::{all_dark, dark_periods};
use crate::subject::NamedObject;
use crate::time::{CursorPlace, span_text};
use kubereel_cluster::{StateKind, VersionChanges};
use kubereel_format::{EventType, ObjectKeyRef, RecordedAt, ResourceInfo, Seq};
use kubereel_history::counttext::{count, inflected};
use kubereel_history::{
    Change, ComparisonScope, CursorStep, Cut, EventQuestion, EventText, FieldStep, HistoryItem,
    HistoryQuestion, HistoryVersion, LoggedEvent, QueryError, Regarding, SteppedOver, Timeline,
    Track, VersionFact, field, harmless, timetext,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many versions before and after the moment are read.
const VERSIONS_AROUND: usize = 25;
/// How many fields of a version show.
const MOST_FIELDS: usize = 8;

/// Reads the lines; the version at the moment is to be seen first.
pub(super) fn read_history(
    timeline: &Timeline,
    subject: &NamedObject,
    place: CursorPlace,
) -> (Vec<PanelLine>, usize) {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return (
            vec![PanelLine::of(Ink::Wary, "resource not in this reel")],
            0,
        );
    };
    let versions = subject.versions(timeline);
    let next = versions.partition_point(|seq| *seq < place.below);
    let edge = |at: Option<usize>| {
        at.and_then(|at| versions.get(at))
            .map(|seq| below(timeline, *seq))
    };
    let first = next.saturating_sub(VERSIONS_AROUND);
    let from = edge(first.checked_sub(1));
    let last = next.saturating_add(VERSIONS_AROUND);
    let to = edge((last < versions.len()).then_some(last));
    let mut lines = Vec::new();
    lines.extend(left_out(first, "earlier", ["version", "versions"]));
    let mut here = 0;
    let question = HistoryQuestion {
        resource: info,
        namespace: &subject.namespace,
        name: &subject.name,
        scope: ComparisonScope::default(),
        from,
        to,
    };
    for item in timeline.history(question) {
        match item {
            HistoryItem::Gap(gap) => {
                let (from, to) = (
                    timeline.written(gap.from),
                    timeline.written(gap.gap.to_time),
                );
                let words = format!("░ gap {from} – {to}: versions may be missing");
                lines.push(PanelLine::of(Ink::Wary, words));
            }
            HistoryItem::Unobserved(span) => {
                let (from, to) = (timeline.written(span.from), timeline.written(span.to));
                let reason = span.reason;
                let words = format!("░ not observed {from} – {to}: {reason}");
                lines.push(PanelLine::of(Ink::Wary, words));
            }
            HistoryItem::Unreadable { at, error, .. } => {
                let error = harmless(&error.to_string()).into_owned();
                let words = format!("░ {} cannot be read: {error}", timeline.written(at));
                lines.push(PanelLine::of(Ink::Wary, words));
            }
            HistoryItem::Version(version) => {
                let is_past = version.seq < place.below;
                if is_past {
                    here = lines.len();
                }
                let is_here =
                    next.checked_sub(1).and_then(|at| versions.get(at)) == Some(&version.seq);
                lines.extend(version_lines(timeline, &version, is_past, is_here));
            }
        }
    }
    if lines.is_empty() {
        let words = format!("{} was never observed", subject.written(timeline));
        lines.push(PanelLine::of(Ink::Plain, words));
    }
    let later = versions.len().saturating_sub(last.saturating_add(1));
    lines.extend(left_out(later, "later", ["version", "versions"]));
    (lines, here.saturating_sub(1))
}

/// Says how many more there are, unless there are none.
fn left_out(rest: usize, which: &str, [one, more]: [&str; 2]) -> Option<PanelLine> {
    let what = inflected(rest, one, more);
    (rest > 0).then(|| PanelLine::of(Ink::Wary, format!("and {rest} {which} {what}")))
}

fn below(timeline: &Timeline, seq: Seq) -> Cut {
    let at: RecordedAt = CursorPlace::behind(timeline, seq).at;
    Cut::Arrival {
        below: Seq(seq.0.saturating_add(1)),
        wall: at,
    }
}

fn version_lines(
    timeline: &Timeline,
    version: &HistoryVersion,
    is_past: bool,
    is_here: bool,
) -> Vec<PanelLine> {
    let head = match (is_here, is_past) {
        (true, _) => Ink::Strong,
        (false, true) => Ink::Plain,
        (false, false) => Ink::Faint,
    };
    let mark = if is_here { "▶ " } else { "  " };
    let at = timeline.written(version.at);
    let mut first = PanelLine::of(head, format!("{mark}{at}  "));
    for (place, fact) in version.facts(timeline).into_iter().enumerate() {
        let (ink, words) = match fact {
            VersionFact::Kind(words) => (head, words.to_owned()),
            VersionFact::Bounds(words) => (Ink::Wary, words),
            VersionFact::Writers(names) => (head, harmless(&names).into_owned()),
            VersionFact::Note(words) => (Ink::Faint, words.to_owned()),
        };
        let gap = if place > 0 { " · " } else { "" };
        first = first.and(Ink::Faint, gap).and(ink, words);
    }
    let mut lines = vec![first.to(LineTarget::Version(version.seq))];
    let Some(changes) = &version.changes else {
        lines.push(PanelLine::of(Ink::Wary, "    previous version unreadable"));
        return lines;
    };
    if version.place != kubereel_history::VersionPlace::Later {
        return lines;
    }
    let body = if is_past { Ink::Plain } else { Ink::Faint };
    let all = VersionChanges::at(timeline, version.seq, changes);
    for change in changes.iter().take(MOST_FIELDS) {
        lines.push(history_change(change, all, body));
    }
    let rest = changes.len().saturating_sub(MOST_FIELDS);
    if rest > 0 {
        lines.push(PanelLine::of(Ink::Faint, format!("    and {rest} more")));
    }
    lines
}

fn history_change(change: &Change, changes: VersionChanges<'_>, ink: Ink) -> PanelLine {
    let path = harmless(&change.path.to_string()).into_owned();
    PanelLine::of(ink, format!("    {path} ")).and_values(change, changes)
}

/// Returns the writers of records; empty where unknown.
pub(super) fn read_writers(timeline: &Timeline, seqs: &[Seq]) -> Vec<(Seq, Arc<str>)> {
    let names = |seq: Seq| timeline.authors_of_record(seq).names();
    let all = seqs.iter();
    all.map(|seq| (*seq, harmless(&names(*seq)).as_ref().into()))
        .collect()
}

/// How many Events show.
const MOST_EVENTS: usize = 200;

/// Reads the lines.
pub(super) fn read_events(
    timeline: &Timeline,
    subject: &NamedObject,
    place: CursorPlace,
) -> Vec<PanelLine> {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return vec![PanelLine::of(Ink::Wary, "resource not in this reel")];
    };
    if timeline.event_resources().is_empty() {
        return vec![PanelLine::of(Ink::Wary, "Events were not recorded")];
    }
    let about = Regarding {
        kind: info.kind.clone(),
        namespace: subject.namespace.clone(),
        name: subject.name.clone(),
        uid: String::new(),
        api_version: String::new(),
    };
    let question = EventQuestion {
        to: Some(place.cut()),
        about: Some(about),
        ..EventQuestion::default()
    };
    let mut unread = 0_usize;
    let read = timeline.event_log(question).filter_map(|logged| {
        unread += usize::from(logged.is_err());
        logged.ok()
    });
    let mut events: Vec<LoggedEvent> = read.collect();
    LoggedEvent::sort_older(&mut events);
    let mut lines: Vec<PanelLine> = (events.iter())
        .map(|logged| logged_line(timeline, logged))
        .collect();
    lines.reverse();
    let earlier = lines.len().saturating_sub(MOST_EVENTS);
    lines.truncate(MOST_EVENTS);
    lines.extend(left_out(earlier, "earlier", ["Event", "Events"]));
    if unread > 0 {
        lines.insert(
            0,
            PanelLine::of(Ink::Wary, format!("{unread} unreadable Events")),
        );
    }
    if let Some(why) = unknown_events(timeline, place) {
        lines.push(PanelLine::of(Ink::Wary, format!("Events {why}")));
    } else if timeline.may_miss_events((None, Some(place.cut()))) {
        let words = "the recording of Events has gaps: some may be missing";
        lines.push(PanelLine::of(Ink::Wary, words));
    } else if lines.is_empty() {
        let words = format!(
            "no Events about {} up to this time",
            subject.written(timeline)
        );
        lines.push(PanelLine::of(Ink::Faint, words));
    }
    lines
}

fn logged_line(timeline: &Timeline, logged: &LoggedEvent) -> PanelLine {
    let said = &logged.content;
    let ink = if said.severity == "Warning" {
        Ink::Wary
    } else {
        Ink::Plain
    };
    let times = if said.count > 1 {
        format!(" ×{}", said.count)
    } else {
        String::new()
    };
    let at = timeline.written(logged.shown_time());
    let mut line = PanelLine::of(Ink::Faint, format!("{at}  "))
        .and(ink, format!("{}{times}  ", harmless(&said.reason)))
        .and(Ink::Plain, harmless(&said.message));
    if let Some(note) = logged.time_note(timeline) {
        line = line.and(Ink::Faint, format!(" ({note})"));
    }
    line.aside = harmless(&said.component).into_owned();
    line
}

/// Says why no Event can be known at a moment, such as before the first list of them.
fn unknown_events(timeline: &Timeline, place: CursorPlace) -> Option<String> {
    let resources = timeline.event_resources();
    let certainties = resources
        .iter()
        .map(|id| timeline.certainty(*id, place.cut()));
    let certainties: Vec<kubereel_history::Certainty> = certainties.collect();
    if certainties
        .iter()
        .any(kubereel_history::Certainty::has_state)
    {
        return None;
    }
    certainties
        .iter()
        .find_map(|certainty| trust(timeline, certainty))
}

/// How many changes are listed.
const MOST_NEARBY: usize = 100;
/// How many events are looked at: each is a body to read.
pub(crate) const MOST_READ: usize = 400;
/// The same for the pane that stands: it must not keep the panel waiting.
pub(crate) const MOST_READ_STANDING: usize = 100;
/// One block may be read for this many events: a block takes much longer than a body.
const EVENTS_PER_BLOCK: usize = 8;
/// The shortest time that is looked back, in microseconds: 1 s.
pub(crate) const LEAST_MICROS: i64 = 1_000_000;

/// Which seconds, and which objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NearbyQuery {
    /// How long before the moment, in microseconds.
    pub(crate) micros: i64,
    /// The filter, as it was written.
    pub(crate) filter: String,
    /// The only namespace, if one is chosen.
    pub(crate) namespace: Option<String>,
    /// How many events are looked at.
    pub(crate) most: usize,
}

/// What changed in a time, as far as it was looked at.
#[derive(Default)]
struct NearbyChanges {
    /// The lines, with how little each tells.
    told: Vec<(u8, PanelLine)>,
    /// How many events may be read.
    most: usize,
    /// How many events were read.
    read: usize,
    /// The blocks that were read for them.
    blocks: BTreeSet<usize>,
    /// Leases, heartbeats, and updates that changed nothing but times.
    quiet: usize,
    /// Objects that were there when the recording began.
    older: usize,
    /// How many events were not looked at.
    rest: usize,
}

/// Reads the lines: what means most comes first, and of that what came last.
pub(super) fn read_nearby(
    timeline: &Timeline,
    asked: &NearbyQuery,
    place: CursorPlace,
) -> Vec<PanelLine> {
    // What cannot be read was refused when it was written.
    let query = FilterQuery::parse(&asked.filter, Some(timeline.resources())).unwrap_or_default();
    let (query, is_less) = query.only_names();
    let from = RecordedAt::from_micros(place.at.micros.saturating_sub(asked.micros));
    let first = timeline
        .reel()
        .seq_after(RecordedAt::from_micros(from.micros.saturating_sub(1)));
    let mut cursor = timeline.cursor(Track::Everything, place.cut());
    let mut found = NearbyChanges {
        most: asked.most,
        ..NearbyChanges::default()
    };
    while let Some(step) = cursor.back().filter(|step| step.seq >= first) {
        let Some((info, key)) = key_of(timeline, &step) else {
            continue;
        };
        let seen = FilterCandidate {
            resource: Some(info.id),
            namespace: key.namespace,
            texts: [info.plural.as_str(), key.name].into_iter(),
        };
        let is_chosen = asked
            .namespace
            .as_ref()
            .is_none_or(|only| key.namespace.is_empty() || *only == key.namespace);
        if is_chosen && query.admits(&seen, |_| false) {
            found.add(timeline, &step, info, key, place);
        }
    }
    found.told.sort_by_key(|(rank, _)| *rank);
    let head = found.head(timeline, asked, place, is_less);
    let unobserved = unobserved_words(timeline, from, place);
    let more = found.told.len().saturating_sub(MOST_NEARBY) + found.rest;
    let mut lines: Vec<PanelLine> = unobserved.into_iter().collect();
    lines.push(PanelLine::of(Ink::Faint, head));
    let told = found.told.into_iter().take(MOST_NEARBY);
    lines.extend(told.map(|(_, line)| line));
    if more > 0 {
        let rest = format!("and {more} more events: zoom in to see them");
        lines.push(PanelLine::of(Ink::Wary, rest));
    }
    lines
}

/// Says which part of the time before a moment was not observed.
fn unobserved_words(
    timeline: &Timeline,
    from: RecordedAt,
    place: CursorPlace,
) -> Option<PanelLine> {
    let dark = all_dark(timeline);
    let mut periods = dark_periods(&dark);
    let last = periods.rfind(|dark| dark.span.start < place.at && dark.span.end > from)?;
    let until = last.span.end.min(place.at);
    let of = last.only.as_ref().map_or("", String::as_str);
    let words = format!(
        "not observed {} – {}: {of}{}{}",
        timeline.written(last.span.start.max(from)),
        timeline.written(until),
        if of.is_empty() { "" } else { ": " },
        last.why
    );
    Some(PanelLine::of(Ink::Wary, words))
}

impl NearbyChanges {
    /// Says how many changes there were. `is_less` tells whether a part of the filter was not applied.
    fn head(
        &self,
        timeline: &Timeline,
        asked: &NearbyQuery,
        place: CursorPlace,
        is_less: bool,
    ) -> String {
        let changes = count(self.told.len(), "change");
        // Each event that was not read may be a change or a heartbeat.
        let least = if self.rest > 0 { "at least " } else { "" };
        let filter = match (asked.filter.is_empty(), is_less) {
            (true, _) => "",
            (false, false) => " matching the filter",
            (false, true) => " matching the filter (states, labels and fields not applied)",
        };
        let namespace = asked.namespace.as_ref();
        let namespace = namespace.map_or_else(String::new, |only| {
            format!(" of namespace {}", harmless(only))
        });
        let (long, until) = (span_text(asked.micros), timeline.written(place.at));
        let quiet = match self.quiet {
            0 => String::new(),
            quiet => format!("; {quiet} Leases and heartbeats left out"),
        };
        let older = match self.older {
            0 => String::new(),
            older => {
                let (objects, were) = (count(older, "object"), inflected(older, "was", "were"));
                format!("; {objects} {were} there when the recording began")
            }
        };
        format!("{least}{changes}{filter}{namespace} in the {long} until {until}{quiet}{older}")
    }

    /// Adds an event, unless it tells nothing.
    fn add(
        &mut self,
        timeline: &Timeline,
        step: &CursorStep,
        info: &ResourceInfo,
        key: ObjectKeyRef<'_>,
        place: CursorPlace,
    ) {
        // The evidence alone decides about most objects, without their bodies.
        if is_first_look(timeline, step, info, None) {
            self.older += 1;
        } else if info.kind == "Lease" {
            self.quiet += 1;
        } else if self.read >= self.most || !self.may_read(timeline, step) {
            self.rest += 1;
        } else {
            self.read += 1;
            let over = SteppedOver::of(timeline, step, info);
            let now = over.as_ref().ok().map(|over| &over.now);
            if is_first_look(timeline, step, info, now) {
                self.older += 1;
                return;
            }
            match event_line(timeline, (step, over), info, subject_of(key), place) {
                (rank, _) if rank >= QUIET => self.quiet += 1,
                told => self.told.push(told),
            }
        }
    }

    /// Returns whether the blocks of an event and of the version before it may be read, and takes note of them.
    fn may_read(&mut self, timeline: &Timeline, step: &CursorStep) -> bool {
        let blocks = timeline.reel().blocks();
        let of = |seq: Seq| blocks.partition_point(|block| block.first <= seq);
        let own = [Some(step.seq), step.before].into_iter().flatten().map(of);
        let new = own.clone().filter(|own| !self.blocks.contains(own)).count();
        let is_room = new == 0 || self.blocks.len() + new <= self.most / EVENTS_PER_BLOCK;
        if is_room {
            self.blocks.extend(own);
        }
        is_room
    }
}

/// Returns whether an event shows only that its object was there when the recording began; in an import, by the time
/// of creation in its body.
fn is_first_look(
    timeline: &Timeline,
    step: &CursorStep,
    info: &ResourceInfo,
    body: Option<&serde_json::Value>,
) -> bool {
    let created =
        body.and_then(|body| timetext::parsed(field::text(body, "/metadata/creationTimestamp")));
    let evidence = timeline.reel().evidence_of(step.seq);
    step.before.is_none()
        && evidence.is_some_and(|evidence| {
            let looks = timeline.first_looks();
            looks.has(info.id, evidence, step.at, created)
        })
}

fn key_of<'a>(
    timeline: &'a Timeline,
    step: &CursorStep,
) -> Option<(&'a ResourceInfo, ObjectKeyRef<'a>)> {
    let key = timeline.key_of(step.object)?;
    let info = timeline.resources().get(key.resource)?;
    Some((info, key))
}

fn subject_of(key: ObjectKeyRef<'_>) -> NamedObject {
    NamedObject {
        resource: key.resource,
        namespace: key.namespace.to_owned(),
        name: key.name.to_owned(),
    }
}

/// Gives the line of an event, and how little it tells.
fn event_line(
    timeline: &Timeline,
    (step, over): (&CursorStep, Result<SteppedOver, QueryError>),
    info: &ResourceInfo,
    subject: NamedObject,
    place: CursorPlace,
) -> (u8, PanelLine) {
    let before = match place.at.micros_since(step.at) {
        0 => "now".to_owned(),
        micros => format!("-{}", span_text(micros)),
    };
    let head = PanelLine::of(Ink::Faint, format!("{before:<8} "));
    let (rank, mut line) = match over {
        Ok(over) => {
            let name = match regarded(info, &over.now) {
                Some(name) => name,
                None => subject.written(timeline),
            };
            let head = head.and(Ink::Strong, format!("{name}  "));
            let who = over.authors.names();
            let is_creation = timeline.is_creation(step.seq);
            let (rank, told) = event_summary(head, (step, is_creation), info, &over);
            let line = if who.is_empty() {
                told
            } else {
                told.and(Ink::Faint, harmless(&format!("  ◂ {who}")))
            };
            (rank, line)
        }
        Err(error) => {
            let head = head.and(Ink::Strong, format!("{}  ", subject.written(timeline)));
            let words = format!("cannot be read: {error}");
            (0, head.and(Ink::Wary, harmless(&words)))
        }
    };
    line.target = Some(LineTarget::Moment(step.seq, subject));
    (rank, line)
}

/// Gives what an Event is about, in words.
fn regarded(info: &ResourceInfo, event: &serde_json::Value) -> Option<String> {
    if info.kind != "Event" {
        return None;
    }
    let said = EventText::of(event);
    if said.kind().is_empty() {
        return None;
    }
    let (kind, namespace, name) = (said.kind().to_lowercase(), said.namespace(), said.name());
    let gap = if namespace.is_empty() { "" } else { "/" };
    Some(harmless(&format!("{kind} {namespace}{gap}{name}")).into_owned())
}

/// Says in short what an event changed: what tells most comes first; and how little that is.
fn event_summary(
    head: PanelLine,
    (step, is_creation): (&CursorStep, bool),
    info: &ResourceInfo,
    over: &SteppedOver,
) -> (u8, PanelLine) {
    if info.kind == "Event" && step.kind == EventType::Deleted {
        return (QUIET, head);
    }
    if info.kind == "Event" {
        let said = EventText::of(&over.now);
        let (rank, ink) = if said.is_warning() {
            (2, Ink::Wary)
        } else {
            (7, Ink::Changed)
        };
        let line = head
            .and(ink, harmless(said.reason()))
            .and(Ink::Plain, harmless(&format!(" {}", said.message())));
        return (rank, line);
    }
    match (step.kind, &over.changes) {
        (EventType::Deleted, _) => (3, head.and(Ink::Changed, "deleted")),
        (_, None) if is_creation => (4, head.and(Ink::Changed, "created")),
        (_, None) if step.before.is_none() => (4, head.and(Ink::Changed, "first seen")),
        (_, None) => (4, head.and(Ink::Wary, "previous version unknown")),
        (_, Some(changes)) => {
            let ranked = changes.iter().map(|change| (rank(change), change));
            let Some((rank, first)) = ranked.min_by_key(|(rank, _)| *rank) else {
                return (QUIET, head.and(Ink::Faint, "updated without changes"));
            };
            let line = nearby_change(
                head,
                first,
                VersionChanges::of(StateKind::of_resource(info), changes),
            );
            let rest = changes.len().saturating_sub(1);
            let line = if rest > 0 {
                line.and(Ink::Faint, format!(" and {rest} more"))
            } else {
                line
            };
            (rank, line)
        }
    }
}

/// What tells so little is left out: heartbeats, times and versions.
const QUIET: u8 = 9;

/// Gives how little a change tells: conditions come first, then phases, images, what is wanted, what is
/// reported, and at last what machines write for themselves.
pub(super) fn rank(change: &Change) -> u8 {
    let path = change.path.to_string();
    let is_of_condition = path.starts_with("status.conditions[");
    let is_status = path.starts_with("status.");
    let is_image = matches!(
        change.path.steps().last(),
        Some(FieldStep::Member(name)) if name == "image"
    );
    if path.ends_with("Time")
        || path.ends_with("resourceVersion")
        || path.ends_with("eneration")
        || path.contains("/leader")
        || path.starts_with("metadata.managedFields")
    {
        QUIET
    } else if is_of_condition && path.ends_with("].status") {
        0
    } else if path == "status.phase" || path.ends_with("waiting.reason") {
        1
    } else if is_image && !is_status {
        2
    } else if path.starts_with("metadata.") {
        8
    } else if !is_status {
        3
    } else if is_of_condition {
        5
    } else {
        6
    }
}

fn nearby_change(head: PanelLine, change: &Change, changes: VersionChanges<'_>) -> PanelLine {
    let steps = change.path.steps();
    // A condition is known by its type.
    let name = match steps {
        [.., FieldStep::Item(parts), FieldStep::Member(status)] if status == "status" => parts
            .first()
            .map_or_else(String::new, |part| part.value.clone()),
        _ => change.path.to_string(),
    };
    head.and(Ink::Plain, format!("{} ", harmless(&name)))
        .and_values(change, changes)
}
