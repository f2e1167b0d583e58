//! `kubereel get --watch`: the state at a moment, and then a row for each change up to another. A reel that is being
//! recorded is followed: rows come as changes are committed.

use super::Args;
use super::form::{ObjectPrinter, mismatch, write_template};
use super::print_value;
use crate::command::follow::{self, FollowBounds, FollowOptions, FollowPart, ToldSpans};
use crate::command::object_query::{self, ChangeTrust, TargetObject};
use crate::command::selection::SelectedResource;
use crate::command::unreadable::UnreadableObjects;
use crate::command_error::{CommandError, Exit};
use crate::screen::Console;
use crate::table::TextTable;
use kubereel_format::{EventType, ObjectId, ReadError, RecordedAt, Seq};
use kubereel_history::{
    Certainty, ColumnRoom, Cut, FollowedReel, LabelColumns, Moment, ObjectMeta, ObjectVersion,
    QueryError, ResourceColumns, Timeline, Track, harmless, name_of, write_json_line,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Rows are aligned in groups of this size, as they come.
const ROWS: usize = 100;

/// Prints what the objects were at the start, and each change of them.
pub(super) fn follow(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    if args.sort_by.is_some() {
        screen.aside("warning: --watch requested, --sort-by will be ignored")?;
    }
    let printer = ObjectPrinter::of(args.output.as_ref())?;
    let from = args.from.unwrap_or(Moment::Start);
    let mut bounds = FollowBounds::new(Some(from), args.to);
    if matches!(args.to, Some(Moment::Revision(_))) {
        return Err(CommandError::usage(
            "--watch ends at a time: --to rv:… is not possible",
        ));
    }
    let mut progress = WatchProgress::default();
    let take = |state: &FollowedReel, is_last: bool, screen: &mut Console| {
        let Some(part) = bounds.part(state)? else {
            return Ok(None);
        };
        let timeline = &state.timeline;
        let targets = args.selection().resources(timeline, timeline.last_cut())?;
        let [target] = targets.as_slice() else {
            return Err(CommandError::usage("--watch takes one resource")
                .hint("for example: kubereel get run.reel pods -n shop --watch"));
        };
        ChangeWatch::new(timeline, args, target, &printer, &mut progress)?.take(part, screen)?;
        let is_last = is_last || part.is_over;
        if !is_last || state.new_from > Seq(0) {
            let told = &mut progress.told;
            told.tell(timeline, &[target.resource.id], part, screen)?;
        }
        if !is_last {
            return Ok(None);
        }
        progress.say_late(timeline, screen)?;
        let exit = end(timeline, target, part, screen)?;
        Ok(Some(exit.worse(progress.of_objects)))
    };
    follow::follow(&args.reel, FollowOptions::default(), screen, take)
}

/// Says how far the rows can be trusted.
fn end(
    timeline: &Timeline,
    target: &SelectedResource<'_>,
    part: FollowPart,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let to = part.to.unwrap_or(timeline.last_cut());
    if let Some(namespace) = &target.namespace {
        object_query::known_namespace(timeline, namespace)?;
        for name in &target.names {
            let named = TargetObject {
                resource: target.resource,
                namespace,
                name: name.clone(),
            };
            if timeline
                .lives(named.resource.id, namespace, name)
                .is_empty()
            {
                return Err(named.never_observed(timeline, part.to));
            }
        }
    }
    if timeline.reaches_outside(part.asked_from, part.to) {
        screen.aside(ChangeTrust::Outside.words(timeline, ""))?;
        return Ok(Exit::Unknown);
    }
    let filter = target.filter();
    let certainty = timeline.certainty_of(target.resource.id, to, &filter);
    let bounds = (part.asked_from, Some(to));
    let unobserved = timeline.unobserved_within(target.resource.id, bounds);
    let unobserved = unobserved.filter(|span| !span.is_late() && timeline.concerns(span, &filter));
    let unobserved = unobserved.count();
    if unobserved > 0 {
        let words = crate::words::count(unobserved, "span not observed");
        screen.aside(format!(
            "changes may be missing: {words}; to see them: kubereel info REEL"
        ))?;
    }
    Ok(match object_query::exit_of(&certainty) {
        Exit::Yes if unobserved > 0 && !matches!(certainty, Certainty::Imported { .. }) => {
            Exit::Unknown
        }
        exit => exit,
    })
}

/// How far a watch is.
#[derive(Default)]
struct WatchProgress {
    has_begun: bool,
    /// The objects that the selectors held for when they were last seen.
    selected: BTreeSet<ObjectId>,
    /// The rows that were not printed yet, and how wide the columns of all others were.
    table: TextTable,
    rows: usize,
    told: ToldSpans,
    /// Since when the printed changes may have been made that were received late, and when the last of them was
    /// received, by time.
    late: Vec<(RecordedAt, RecordedAt)>,
    /// How the command ends because of what could not be read.
    of_objects: Exit,
}

/// How many times of late receipt are named.
const LATE_SHOWN: usize = 3;

impl WatchProgress {
    fn take_late(&mut self, since: RecordedAt, received: RecordedAt) {
        match self.late.last_mut() {
            Some((first, last)) if since <= *last => {
                (*first, *last) = (since.min(*first), received.max(*last));
            }
            _ => self.late.push((since, received)),
        }
    }

    /// Says which of the printed times are those of late receipt.
    fn say_late(&self, timeline: &Timeline, screen: &mut Console) -> Result<(), CommandError> {
        for (from, to) in self.late.iter().take(LATE_SHOWN) {
            let (from, to) = (timeline.written(*from), timeline.written(*to));
            screen.aside(format!(
                "note: changes of {from}–{to} were received late, and have the times of their receipt"
            ))?;
        }
        Ok(())
    }
}

struct ChangeWatch<'a> {
    timeline: &'a Timeline,
    args: &'a Args,
    target: &'a SelectedResource<'a>,
    printer: &'a ObjectPrinter,
    columns: ResourceColumns,
    labels: LabelColumns,
    progress: &'a mut WatchProgress,
    /// Whether events are printed, not only taken note of.
    is_shown: bool,
    unreadable: UnreadableObjects,
}

impl<'a> ChangeWatch<'a> {
    fn new(
        timeline: &'a Timeline,
        args: &'a Args,
        target: &'a SelectedResource<'a>,
        printer: &'a ObjectPrinter,
        progress: &'a mut WatchProgress,
    ) -> Result<Self, CommandError> {
        let end = timeline.last_cut();
        let columns = ResourceColumns::of(timeline, target.resource, end, args.room())
            .map_err(CommandError::reel)?;
        Ok(Self {
            timeline,
            args,
            target,
            printer,
            columns,
            labels: args.label_columns(),
            progress,
            is_shown: true,
            unreadable: UnreadableObjects::default(),
        })
    }

    /// Prints new lines.
    fn take(&mut self, part: FollowPart, screen: &mut Console) -> Result<(), CommandError> {
        let start = Cut::Arrival {
            below: Seq(0),
            wall: self.timeline.start(),
        };
        let from = part.from.unwrap_or(start);
        let until = match part.to {
            Some(Cut::Arrival { below, .. }) => below,
            Some(Cut::Revision(_)) | None => self.timeline.reel().end(),
        };
        if !self.progress.has_begun {
            self.progress.has_begun = true;
            self.head();
            self.is_shown = !self.args.watch_only;
            self.state(from, screen)?;
            self.is_shown = true;
        }
        let resource = self.timeline.resource_at(self.target.resource, from);
        let track = Track::Resource(resource.id);
        let first = self.timeline.cursor(track, from).below();
        let filter = self.target.filter();
        let resources = self.timeline.resources();
        let resources = resources.namesake_ids(self.target.resource.id);
        let versions = self.timeline.versions(first..until, |key| {
            resources.contains(&key.resource) && filter.takes(key.namespace, key.name)
        });
        for (step, bodies) in versions {
            let key = self.timeline.key_of(step.object);
            let held = ObjectVersion {
                object: step.object,
                namespace: key.map_or_else(String::new, |key| key.namespace.to_owned()),
                name: key.map_or_else(String::new, |key| key.name.to_owned()),
                seq: step.seq,
            };
            let body = bodies.map(|bodies| bodies.now);
            self.change(&held, step.at, step.kind, body, screen)?;
        }
        self.flush(screen)?;
        let of_objects = self.unreadable.report(screen)?;
        self.progress.of_objects = self.progress.of_objects.worse(of_objects);
        Ok(())
    }

    fn head(&mut self) {
        if self.args.no_headers {
            return;
        }
        let own = match self.printer {
            ObjectPrinter::Table => self.columns.names(),
            ObjectPrinter::Custom(columns) => columns.names(),
            _ => return,
        };
        let mut row = vec!["TIME".to_owned(), "EVENT".to_owned()];
        if matches!(self.printer, ObjectPrinter::Table) {
            row.extend(self.target.shows_namespace.then(|| "NAMESPACE".to_owned()));
        }
        row.extend(own);
        if matches!(self.printer, ObjectPrinter::Table) {
            row.extend(self.labels.names());
        }
        self.progress.table.push(row);
    }

    /// Prints the objects that were there at the start.
    fn state(&mut self, from: Cut, screen: &mut Console) -> Result<(), CommandError> {
        let resource = self.timeline.resource_at(self.target.resource, from);
        let state = self
            .timeline
            .as_of(resource.id, from, &self.target.filter());
        if !state.certainty.has_state() {
            return Ok(());
        }
        for held in state.objects {
            let body = self.timeline.reel().body(held.seq);
            self.change(&held, state.at, EventType::Added, body, screen)?;
        }
        Ok(())
    }

    fn change(
        &mut self,
        held: &ObjectVersion,
        at: RecordedAt,
        kind: EventType,
        body: Result<Arc<[u8]>, ReadError>,
        screen: &mut Console,
    ) -> Result<(), CommandError> {
        let id = held.object;
        let (seq, resource) = (held.seq, self.target.resource);
        let form = self.printer.object_form(self.args.show_managed_fields);
        let read = body.map_err(QueryError::from).and_then(|body| {
            let meta = ObjectMeta::of(&body);
            let both = meta.and_then(|meta| Ok((meta, form.of(&body, resource)?)));
            both.map_err(|source| QueryError::Body { seq, source })
        });
        let Some((meta, object)) = self.unreadable.readable(resource, held, read) else {
            return Ok(());
        };
        let is_selected = self.args.which.selector.matches(&meta.labels)
            && self.args.field_selector.matches(&object);
        let was_selected = self.progress.selected.contains(&id);
        // What leaves the selection is deleted for who watches it, as for kubectl.
        let event = match (kind, was_selected, is_selected) {
            (_, false, false) => return Ok(()),
            (EventType::Deleted, _, _) | (_, true, false) => {
                self.progress.selected.remove(&id);
                "DELETED"
            }
            (_, false, true) => {
                self.progress.selected.insert(id);
                "ADDED"
            }
            (_, true, true) => "MODIFIED",
        };
        if !self.is_shown {
            return Ok(());
        }
        // A row of the state at the start is not a change.
        let is_change = self.timeline.wall_of(seq) == at;
        if let Some(since) = self.timeline.late_since(seq).filter(|_| is_change) {
            self.progress.take_late(since, at);
        }
        let has_event = self.args.watch_form.output_watch_events;
        let object = match self.printer {
            ObjectPrinter::Json | ObjectPrinter::Yaml if has_event => {
                json!({"type": event, "object": object})
            }
            _ => object,
        };
        match self.printer {
            ObjectPrinter::Table | ObjectPrinter::Custom(_) => {
                self.row(at, event, &object)?;
                if self.progress.rows >= ROWS {
                    self.flush(screen)?;
                }
                Ok(())
            }
            ObjectPrinter::Name => {
                let name = object.pointer("/metadata/name").and_then(Value::as_str);
                let name = name_of(self.target.resource, name.unwrap_or_default());
                screen.line(harmless(&name))
            }
            ObjectPrinter::Template(template, is_json) => {
                write_template(template, *is_json, &object, screen.out())?;
                if *is_json { Ok(()) } else { screen.line("") }
            }
            ObjectPrinter::Json => {
                let written = write_json_line(screen.out(), &object);
                written.map_err(|error| CommandError::output(&error))
            }
            ObjectPrinter::Yaml => {
                screen.line("---")?;
                print_value(&object, self.printer, screen)
            }
        }
    }

    fn row(&mut self, at: RecordedAt, event: &str, object: &Value) -> Result<(), CommandError> {
        let mut row = vec![self.timeline.written(at), event.to_owned()];
        if let ObjectPrinter::Custom(columns) = self.printer {
            row.extend(columns.row(object).map_err(mismatch)?);
        } else {
            if self.target.shows_namespace {
                let namespace = object.pointer("/metadata/namespace");
                let namespace = namespace.and_then(Value::as_str).unwrap_or_default();
                row.push(harmless(namespace).into_owned());
            }
            row.extend(self.columns.row(object, at));
            row.extend(self.labels.row(object));
        }
        self.progress.table.push(row);
        self.progress.rows += 1;
        Ok(())
    }

    fn flush(&mut self, screen: &mut Console) -> Result<(), CommandError> {
        self.progress.rows = 0;
        let lines = self.progress.table.take_lines();
        lines.iter().try_for_each(|line| screen.line(line))
    }
}

impl Args {
    pub(super) const fn room(&self) -> ColumnRoom {
        match self.output {
            Some(super::GetFormat::Wide) => ColumnRoom::Wide,
            _ => ColumnRoom::Narrow,
        }
    }

    pub(super) fn label_columns(&self) -> LabelColumns {
        LabelColumns {
            own: self.labels.label_columns.clone(),
            shows_all: self.labels.show_labels,
        }
    }
}
