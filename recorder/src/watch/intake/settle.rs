//! Owns the end of a gap: what was read back, what the list showed and the judgement, in the order in
//! which they stand in the file. Refuses requests: what was found comes in.

use super::Intake;
use super::held::{Held, restamped};
use crate::backfill::{Found, FoundEvent, Life, Suspect, Verdict, Work};
use crate::entry::EventEntry;
use crate::watch::state::{Differing, Review};
use crate::watch::version::Version;
use kubereel_format::{
    ConnectionId, EndCause, EventType, Evidence, Gap, GapVerdict, ListMethod, Note, Stamp,
};
use std::collections::BTreeSet;

/// A gap that has ended, and has not been told yet.
#[derive(Debug)]
pub(crate) struct OpenGap {
    /// The gap.
    gap: Gap,
    /// What is to be read back, or why nothing is.
    pub(crate) work: Result<Work, &'static str>,
    /// The notes that follow it.
    notes: Vec<(Stamp, Note)>,
}

/// What was read back of a gap.
#[derive(Debug)]
pub(crate) struct ReadBack {
    /// The number of all its requests together.
    pub(crate) connection: ConnectionId,
    /// When the first was made.
    pub(crate) since: Stamp,
    /// How many there were.
    pub(crate) requests: u32,
    /// What came of them.
    pub(crate) found: Found,
}

impl OpenGap {
    /// Notes something behind the gap.
    pub(super) fn follow(&mut self, at: Stamp, note: Note) {
        self.notes.push((at, note));
    }
}

impl Intake {
    /// Gives the gap that is to be read back. [`Self::settle`] must follow.
    pub(crate) const fn take_open_gap(&mut self) -> Option<OpenGap> {
        self.open_gap.take()
    }

    /// Whatever a list would have waited for does not come any more.
    pub(crate) fn release(&mut self, at: Stamp) {
        if let Some(held) = self.held.take() {
            self.entries.extend(restamped(held.into_events(), at));
        }
    }

    /// A gap has ended: it is told once it is settled.
    pub(super) fn gap(&mut self, gap: Gap, review: Option<Review>, at: Stamp) {
        let Some(review) = review else {
            self.release(at);
            self.note(at, Note::Gap(gap));
            return;
        };
        let work = self.work(&gap, review);
        self.open_gap = Some(OpenGap {
            gap,
            work,
            notes: Vec::new(),
        });
    }

    fn work(&self, gap: &Gap, review: Review) -> Result<Work, &'static str> {
        let names = match review {
            Review::Names(names) => names,
            Review::Impossible(why) => return Err(why),
        };
        if self.held.as_ref().is_some_and(Held::is_given_up) {
            return Err("the list differs by more bytes than can wait");
        }
        if self.has_hidden_names {
            return Err("objects whose names are secrets cannot be asked for");
        }
        let number = |text: &str| Version::parse(text)?.number();
        let from = gap.from_rv.as_deref().and_then(number);
        let (Some(from), Some(to)) = (from, number(&gap.to_rv)) else {
            return Err("its versions are no numbers");
        };
        let mut has_unclear = false;
        let mut suspects = Vec::new();
        for name in names {
            let (before, after) = (life(name.before.as_ref()), life(name.after.as_ref()));
            let Differing {
                namespace, name, ..
            } = name;
            has_unclear |= before.is_err() || after.is_err();
            suspects.push(Suspect {
                namespace: namespace.into(),
                name: name.into(),
                before: before.unwrap_or_default(),
                after: after.unwrap_or_default(),
            });
        }
        Ok(Work {
            from,
            to,
            suspects,
            has_unclear,
        })
    }

    /// Writes a gap: what was read back of it and what the list showed, in the order of versions, then
    /// the gap, then the judgement.
    pub(crate) fn settle(&mut self, open: OpenGap, read: Option<ReadBack>, at: Stamp) {
        let held = self.held.take().map(Held::into_events).unwrap_or_default();
        let judged = match (open.work, read) {
            (Ok(work), Some(mut read)) => {
                let (connection, requests) = (read.connection, read.requests);
                let told = self.connected_exact(&read, &work);
                let events = std::mem::take(&mut read.found.events);
                let mut written = Vec::new();
                for event in events {
                    let version = event.version;
                    match self.found_entry(event, connection) {
                        Some(entry) => written.push(entry),
                        None => read.found.withheld(version),
                    }
                }
                let verdict = read.found.verdict(&work);
                let begun = read.found.take_begun();
                let mut events = in_order(held, written, &work, &begun);
                let before = std::mem::take(&mut self.read_before);
                events.retain(|event| !before.contains(&told_by(event)));
                let is_found = |event: &&EventEntry| event.evidence == Evidence::Reconstructed;
                let reconstructed = events.iter().filter(is_found).count();
                let reconstructed = u64::try_from(reconstructed).unwrap_or(u64::MAX);
                self.entries.extend(restamped(events, at));
                if told {
                    self.note(at, disconnected(connection, &verdict));
                }
                judgement(&open.gap, verdict, reconstructed, requests)
            }
            (work, _) => {
                self.entries.extend(restamped(held, at));
                let why = work.err().unwrap_or("the recorder stopped");
                let verdict = Verdict {
                    word: GapVerdict::Partly,
                    missing_at_most: open.gap.missing_at_most,
                    detail: why.to_owned(),
                };
                judgement(&open.gap, verdict, 0, 0)
            }
        };
        self.note(at, Note::Gap(open.gap));
        self.note(at, judged);
        for (_, note) in open.notes {
            self.note(at, note);
        }
    }

    fn connected_exact(&mut self, read: &ReadBack, work: &Work) -> bool {
        if read.requests == 0 {
            return false;
        }
        let note = Note::Connected {
            connection: read.connection,
            resource: self.target.info.id,
            from_rv: Some(work.from.to_string()),
            method: ListMethod::Exact,
        };
        self.note(read.since, note);
        true
    }

    /// Makes an entry of what was found; `None` if nothing of it may be kept.
    fn found_entry(&self, event: FoundEvent, connection: ConnectionId) -> Option<EventEntry> {
        let body = match &event.body {
            Some(bytes) if std::str::from_utf8(bytes).is_err() => return None,
            Some(bytes) => Some(self.redactor.object(&self.target.subject(), bytes)?.into()),
            None => None,
        };
        Some(EventEntry {
            stamp: Stamp::default(),
            connection,
            kind: event.kind,
            evidence: Evidence::Reconstructed,
            resource: self.target.info.id,
            namespace: event.namespace.into(),
            name: event.name.into(),
            uid: event.uid.into(),
            version: event.version.to_string().into(),
            body,
        })
    }
}

/// Takes what a stream knows of an object; an error if it could not be found again by that.
fn life(known: Option<&crate::watch::known::KnownObject>) -> Result<Option<Life>, ()> {
    known.map(|known| Life::of(known).ok_or(())).transpose()
}

fn disconnected(connection: ConnectionId, verdict: &Verdict) -> Note {
    Note::Disconnected {
        connection,
        cause: EndCause::Clean,
        last_rv: None,
        detail: verdict.detail.clone(),
    }
}

fn judgement(gap: &Gap, verdict: Verdict, reconstructed: u64, requests: u32) -> Note {
    let own = gap.missing_at_most;
    tracing::info!(
        to = gap.to_rv,
        reconstructed,
        requests,
        missing_at_most = verdict.missing_at_most,
        "gap {}: {}",
        verdict.word.as_str(),
        verdict.detail
    );
    Note::GapJudged {
        gap: gap.id,
        verdict: verdict.word,
        reconstructed,
        missing_at_most: match verdict.missing_at_most {
            Some(bound) => Some(own.map_or(bound, |own| own.min(bound))),
            None => own,
        },
        requests,
        detail: verdict.detail,
    }
}

/// Gives by what an event is known again.
fn told_by(event: &EventEntry) -> (Box<str>, Box<str>, bool) {
    let is_deletion = event.kind == EventType::Deleted;
    (event.uid.clone(), event.version.clone(), is_deletion)
}

/// Puts what was found and what the list showed into the order of versions, each object's creation
/// first and its deletion last, and nothing twice. What was read back is a creation only if it is
/// among those `begun`.
fn in_order(
    held: Vec<EventEntry>,
    found: Vec<EventEntry>,
    work: &Work,
    begun: &BTreeSet<(String, u128)>,
) -> Vec<EventEntry> {
    let deleted: BTreeSet<Box<str>> = found
        .iter()
        .filter(|event| event.kind == EventType::Deleted)
        .map(|event| event.uid.clone())
        .collect();
    let listed: BTreeSet<(Box<str>, Box<str>)> = held
        .iter()
        .filter(|event| event.kind != EventType::Deleted)
        .map(|event| (event.uid.clone(), event.version.clone()))
        .collect();
    let held = held.into_iter().filter(|event| {
        // Its deletion was found: it need not be inferred any more.
        event.evidence != Evidence::Inferred || !deleted.contains(&event.uid)
    });
    let found = found.into_iter().filter(|event| {
        event.kind == EventType::Deleted
            || !listed.contains(&(event.uid.clone(), event.version.clone()))
    });
    let mut events: Vec<EventEntry> = found.chain(held).collect();
    let number = |event: &EventEntry| Version::parse(&event.version).and_then(|one| one.number());
    events.sort_by_key(|event| (number(event), event.kind != EventType::Deleted));
    let befores = work.suspects.iter().filter_map(|one| one.before.as_ref());
    let mut told: BTreeSet<Box<str>> = befores.map(|life| life.uid.as_str().into()).collect();
    for event in &mut events {
        if event.kind == EventType::Deleted {
            continue;
        }
        let is_first = told.insert(event.uid.clone());
        let is_begin = event.evidence != Evidence::Reconstructed
            || number(event)
                .is_some_and(|version| begun.contains(&(event.uid.to_string(), version)));
        event.kind = if is_first && is_begin {
            EventType::Added
        } else {
            EventType::Modified
        };
    }
    events
}
