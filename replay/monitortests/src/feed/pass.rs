//! The pass over a reel. It does not handle meaning: watchers find that.

use super::fields::Fields;
use super::held::LiveObjects;
use super::names::LiveNames;
use super::prune::pruned;
use super::readers::{FieldReaders, ReaderSet};
use super::watcher::{Action, Interest, WatchedEvent, Watcher};
use kubereel_format::{
    EventHead, EventType, Evidence, Loss, ObjectId, ObjectKeyRef, ReadError, RecordedAt, Reel,
    ResourceId, ResourceInfo, Seq,
};
use kubereel_history::Timeline;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use thiserror::Error;

/// What a pass did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Fed {
    /// The events of the reel.
    pub events: u64,
    /// Those of a resource that someone reads.
    pub read: u64,
    /// Those that were reported to a watcher.
    pub told: u64,
    /// What could not be read; one damaged block is one error.
    pub unread: Vec<FeedError>,
    /// The first and the last event of each part whose objects could not be read.
    pub unread_parts: Vec<(Seq, Seq)>,
    /// The events whose objects could not be read.
    pub unread_events: u64,
}

impl Fed {
    fn cannot_read(&mut self, error: FeedError) {
        let words = error.to_string();
        let mut last = self.unread.last().into_iter();
        if last.all(|last| last.to_string() != words) {
            self.unread.push(error);
        }
    }
}

/// An event that could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FeedError {
    /// The reel is damaged there.
    #[error("an event cannot be read: {source}")]
    Reel {
        /// What the reel says.
        #[source]
        source: ReadError,
    },
    /// The object's bytes are no JSON.
    #[error("the object of event {seq} cannot be read: {source}")]
    Body {
        /// The event.
        seq: Seq,
        /// What the parser says.
        #[source]
        source: serde_json::Error,
    },
}

/// A resource that someone reads.
struct ReadResource<'a> {
    info: &'a ResourceInfo,
    /// What anyone reads of it.
    fields: Fields,
    readers: FieldReaders,
    /// Who wants to know of every event.
    of_all: ReaderSet,
    /// Whether nobody wants to know that an object is gone.
    is_without_ends: bool,
}

/// How many bytes of what it decoded a reel keeps from a pass on, at most: a pass comes to each block once.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

const fn action_of(kind: EventType, was_there: bool) -> Action {
    match kind {
        EventType::Deleted => Action::Gone,
        _ if was_there => Action::Changed,
        _ => Action::Appeared,
    }
}

/// Counts the events before `end` that were not given. Of records that are lost altogether nobody knows whether they
/// were events; the reel's damage names them.
fn not_given(fed: &Fed, reel: &Reel, end: Seq) -> u64 {
    if fed.unread.is_empty() {
        return 0;
    }
    let is_event = |seq: &u64| reel.object_of(Seq(*seq)).is_some();
    let known = (0..end.0)
        .filter(is_event)
        .fold(0_u64, |count, _| count.saturating_add(1));
    known.saturating_sub(fed.events)
}

/// Tells watchers what happened in a reel, in the order of arrival, with one pass over it.
///
/// Each object's fields are held from one event to the next: the memory that it takes grows with
/// the objects that live at once, not with the reel. `progress` receives each processed record.
pub fn feed(
    timeline: &Timeline,
    watchers: &mut [&mut dyn Watcher],
    mut progress: impl FnMut(Seq),
) -> Fed {
    let always = |seq| {
        progress(seq);
        ControlFlow::Continue(())
    };
    feed_while(timeline, watchers, always)
}

/// Tells watchers what happened in a reel, as [`feed`] does, until `go_on` ends it.
///
/// `go_on` receives each record before it is read.
pub fn feed_while(
    timeline: &Timeline,
    watchers: &mut [&mut dyn Watcher],
    go_on: impl FnMut(Seq) -> ControlFlow<()>,
) -> Fed {
    let kept = timeline.reel().bound_cache(CACHE_BYTES);
    let fed = pass(timeline, watchers, go_on);
    timeline.reel().bound_cache(kept);
    fed
}

fn pass(
    timeline: &Timeline,
    watchers: &mut [&mut dyn Watcher],
    mut go_on: impl FnMut(Seq) -> ControlFlow<()>,
) -> Fed {
    let reads = reads(timeline, watchers);
    let mut held = LiveObjects::default();
    let mut names = LiveNames::of(timeline);
    let told = ReaderSet::default();
    let mut delivery = Delivery { watchers, told };
    let mut fed = Fed::default();
    let mut hidden = LostVersions::of(timeline);
    let mut end = timeline.reel().end();
    for event in timeline.reel().scan() {
        let event = match event {
            Ok(event) => event,
            Err(source) => {
                fed.cannot_read(FeedError::Reel { source });
                hidden.is_reading_on = false;
                continue;
            }
        };
        fed.events += 1;
        let seq = event.head.seq;
        hidden.read(seq);
        if go_on(seq).is_break() {
            end = Seq(seq.0.saturating_add(1));
            break;
        }
        let object = event.head.object;
        let Some(key) = timeline.key_of(object) else {
            continue;
        };
        let Some(read) = reads.get(&key.resource) else {
            continue;
        };
        let is_gone = event.head.kind == EventType::Deleted;
        let change = names.take(key, object, seq, is_gone);
        if let Some(ended) = change.ended
            && let Some(key) = timeline.key_of(ended)
            && let Some(last) = held.take(ended)
        {
            let by = (&event.head, timeline.late_since(seq));
            delivery.end_replaced(read, (ended, key), by, &last);
        }
        if is_gone && (read.is_without_ends || change.is_late) {
            held.forget(object);
            continue;
        }
        fed.read += 1;
        let (now, before) = match pruned(&event.body, &read.fields) {
            Ok(now) => (now, held.take(object)),
            Err(source) => {
                fed.unread_events += 1;
                fed.cannot_read(FeedError::Body { seq, source });
                hidden.unread.push((seq, seq));
                // A deletion counts even if what it shows cannot be read: no state outlives it.
                let Some(last) = is_gone.then(|| held.take(object)).flatten() else {
                    continue;
                };
                (last.clone(), Some(last))
            }
        };
        let seen = WatchedEvent {
            seq,
            at: event.head.stamp.wall,
            not_before: timeline.late_since(seq),
            action: action_of(event.head.kind, before.is_some()),
            evidence: event.head.evidence,
            is_after_hole: hidden.hides_version_before(timeline.reel(), &event.head),
            resource: read.info,
            object,
            key,
            now: &now,
            before: before.as_ref(),
        };
        fed.told += u64::from(delivery.tell(read, &seen));
        if !is_gone {
            held.put(object, now);
        }
    }
    // What could not be read up to the end is a part, too.
    hidden.read(end);
    fed.unread_parts = hidden.unread;
    fed.unread_events += not_given(&fed, timeline.reel(), end);
    fed
}

/// Which versions of objects a pass does not see, as they cannot be read.
struct LostVersions {
    /// The first and the last event of each part whose objects cannot be read, as far as the pass is.
    unread: Vec<(Seq, Seq)>,
    /// The first and the last record of each part whose records cannot be read.
    records: Vec<(Seq, Seq)>,
    /// The last event that was read.
    last: Option<Seq>,
    /// Whether no error came since.
    is_reading_on: bool,
}

impl LostVersions {
    fn of(timeline: &Timeline) -> Self {
        let damaged = timeline.damaged().iter();
        let records = damaged.filter_map(|span| match span.damage.loss {
            Loss::Records { first, last } => Some((first, last?)),
            Loss::Nothing | Loss::Unknown | Loss::Bodies { .. } => None,
        });
        Self {
            unread: Vec::new(),
            records: records.collect(),
            last: None,
            is_reading_on: true,
        }
    }

    /// Takes an event that was read.
    fn read(&mut self, seq: Seq) {
        if !self.is_reading_on {
            let first = self.last.map_or(0, |last| last.0.saturating_add(1));
            self.unread.push((Seq(first), Seq(seq.0.saturating_sub(1))));
        }
        (self.last, self.is_reading_on) = (Some(seq), true);
    }

    /// Returns whether versions of an object between the last one that was read and an event may not have been seen.
    fn hides_version_before(&self, reel: &Reel, event: &EventHead) -> bool {
        let is_gap = matches!(event.evidence, Evidence::Listed | Evidence::Inferred);
        if is_gap || self.unread.is_empty() && self.records.is_empty() {
            return is_gap;
        }
        let seq = event.seq;
        let versions = reel.versions(event.object);
        let place = versions.partition_point(|version| *version < seq);
        let before = place.checked_sub(1).and_then(|place| versions.get(place));
        before.is_some_and(|before| {
            let is_unread = |(first, last): &(Seq, Seq)| first <= before && before <= last;
            let is_between = |(first, last): &(Seq, Seq)| before < first && *last < seq;
            self.unread.iter().any(is_unread) || self.records.iter().any(is_between)
        })
    }
}

/// The watchers of a pass.
struct Delivery<'a, 'w> {
    watchers: &'a mut [&'w mut dyn Watcher],
    told: ReaderSet,
}

impl Delivery<'_, '_> {
    /// Reports an event to those who want to know of it; returns whether there was one.
    fn tell(&mut self, read: &ReadResource<'_>, seen: &WatchedEvent<'_>) -> bool {
        let Self { watchers, told } = self;
        told.clear();
        let told_of = match seen.before {
            Some(before) if seen.action == Action::Changed && !seen.is_after_hole => {
                read.readers.changed(before, seen.now, told);
                told.join(&read.of_all);
                &*told
            }
            _ => read.readers.all(),
        };
        let mut is_told = false;
        for who in told_of.each() {
            if let Some(watcher) = watchers.get_mut(who) {
                watcher.seen(seen);
                is_told = true;
            }
        }
        is_told
    }

    /// Reports that an object is gone, whose name another one has from an event on.
    fn end_replaced(
        &mut self,
        read: &ReadResource<'_>,
        (object, key): (ObjectId, ObjectKeyRef<'_>),
        (by, not_before): (&EventHead, Option<RecordedAt>),
        last: &Value,
    ) {
        if read.is_without_ends {
            return;
        }
        let seen = WatchedEvent {
            seq: by.seq,
            at: by.stamp.wall,
            not_before,
            action: Action::Gone,
            evidence: Evidence::Inferred,
            is_after_hole: true,
            resource: read.info,
            object,
            key,
            now: last,
            before: Some(last),
        };
        self.tell(read, &seen);
    }
}

fn reads<'a>(
    timeline: &'a Timeline,
    watchers: &[&mut dyn Watcher],
) -> BTreeMap<ResourceId, ReadResource<'a>> {
    let mut reads: BTreeMap<ResourceId, ReadResource<'a>> = BTreeMap::new();
    for (who, watcher) in watchers.iter().enumerate() {
        for Interest {
            group,
            plural,
            paths,
            wants_ends,
            wants_all,
        } in watcher.interests()
        {
            let same = timeline
                .resources()
                .iter()
                .filter(|info| info.group == group && info.plural == plural);
            for info in same {
                let read = reads.entry(info.id).or_insert_with(|| ReadResource {
                    info,
                    fields: Fields::default(),
                    readers: FieldReaders::default(),
                    of_all: ReaderSet::default(),
                    is_without_ends: true,
                });
                read.is_without_ends &= !wants_ends;
                let mut own = Fields::default();
                for path in &paths {
                    own.add(path);
                }
                read.fields.join(&own);
                read.readers.add(who, &own);
                if wants_all {
                    read.of_all.add(who);
                }
            }
        }
    }
    reads
}
