//! Owns what a reel keeps of one resource, in a form to compare: events by identity, odd lines, gaps,
//! the first complete list. Refuses to compare.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use kubereel_format::{
    ConnectionId, Event, Gap, GapId, GapVerdict, Note, OddLineProblem, Reel, ResourceId,
    ResourceInfo, Seq,
};

use crate::scripted::{Committed, ScriptedCluster};

/// What a reel keeps of one resource.
#[derive(Debug)]
pub(crate) struct Kept {
    events: BTreeMap<EventKey, Vec<Event>>,
    odd_lines: Vec<Vec<u8>>,
    pub(crate) gaps: Vec<Gap>,
    /// The gaps that the reel says were read back whole: nothing may be missing in them.
    closed: BTreeSet<GapId>,
    /// The revision of the first complete list.
    pub(crate) first_list: Option<u128>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EventKey {
    namespace: String,
    name: String,
    uid: String,
    revision: String,
}

impl Kept {
    pub(crate) fn read(reel: &Reel, resource: ResourceId) -> Result<Self> {
        let mut kept = Self {
            events: BTreeMap::new(),
            odd_lines: Vec::new(),
            gaps: Vec::new(),
            closed: BTreeSet::new(),
            first_list: None,
        };
        for event in reel.scan(Seq(0)) {
            let event = event?;
            let object = usize::try_from(event.head.object.0)
                .ok()
                .and_then(|place| reel.objects().get(place))
                .context("an event of no object")?;
            if object.key.resource == resource {
                let key = EventKey {
                    namespace: object.key.namespace.clone(),
                    name: object.key.name.clone(),
                    uid: object.key.uid.clone(),
                    revision: event.head.resource_version.clone(),
                };
                kept.events.entry(key).or_default().push(event);
            }
        }
        // Lines too long to be kept as one come in pieces, each with the length up to its end.
        let mut pieces: BTreeMap<ConnectionId, Vec<u8>> = BTreeMap::new();
        for entry in reel.notes() {
            match &entry.note {
                Note::Gap(gap) if gap.resource == resource => kept.gaps.push(gap.clone()),
                Note::GapJudged {
                    gap,
                    verdict: GapVerdict::Reconstructed,
                    ..
                } => {
                    kept.closed.insert(*gap);
                }
                Note::Synced {
                    resource: synced,
                    rv,
                    ..
                } if *synced == resource && kept.first_list.is_none() => {
                    kept.first_list = rv.parse().ok();
                }
                Note::OddLine {
                    blobs,
                    problem,
                    connection,
                    len,
                } => {
                    let mut line = Vec::new();
                    for blob in blobs {
                        line.extend_from_slice(&reel.blob(*blob)?);
                    }
                    if *problem == OddLineProblem::TooLong {
                        let whole = pieces.entry(*connection).or_default();
                        if u64::try_from(line.len()) == Ok(*len) {
                            kept.odd_lines.push(std::mem::take(whole));
                        }
                        whole.append(&mut line);
                    } else {
                        kept.odd_lines.push(line);
                    }
                }
                _ => {}
            }
        }
        kept.odd_lines.extend(pieces.into_values());
        Ok(kept)
    }

    /// Takes one event of the commit's identity that fits; each is there for one commit.
    pub(crate) fn take(&mut self, commit: &Committed, fits: impl Fn(&Event) -> bool) -> bool {
        let key = EventKey {
            namespace: commit.namespace.clone(),
            name: commit.name.clone(),
            uid: commit.uid.to_string(),
            revision: commit.revision.to_string(),
        };
        let Some(events) = self.events.get_mut(&key) else {
            return false;
        };
        let place = events.iter().position(fits);
        place.is_some_and(|place| {
            events.swap_remove(place);
            true
        })
    }

    /// The gaps in which something may be missing.
    pub(crate) fn open_gaps(&self) -> impl Iterator<Item = &Gap> {
        let is_open = |gap: &&Gap| !self.closed.contains(&gap.id);
        self.gaps.iter().filter(is_open)
    }

    /// The events nobody took.
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.values().flatten()
    }

    /// Whether a line, as it was sent, is there: as an event or as an odd line.
    pub(crate) fn keeps(&self, sent: &[u8]) -> bool {
        let line = sent.strip_suffix(b"\n").unwrap_or(sent);
        !line.is_empty() && self.keeps_in_odd_line(line)
            || self.events().any(|event| contains(sent, &event.body))
    }

    /// Whether an odd line holds these bytes.
    pub(crate) fn keeps_in_odd_line(&self, bytes: &[u8]) -> bool {
        self.odd_lines.iter().any(|line| contains(line, bytes))
    }
}

/// The name under which a storage is recorded.
pub(crate) fn recorded_as<'a>(
    reel: &'a Reel,
    cluster: &ScriptedCluster,
    storage: &str,
) -> Option<&'a ResourceInfo> {
    reel.notes()
        .iter()
        .rev()
        .find_map(|entry| match &entry.note {
            Note::Resource(info) => {
                let resource = cluster.resource(&info.qualified()).ok()?;
                (resource.storage == storage).then_some(info)
            }
            _ => None,
        })
}

/// Whether a text holds a part; fast enough because texts that begin alike are few.
pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    let starts = text.len().checked_sub(part.len());
    starts.is_some_and(|last| {
        (0..=last).any(|start| {
            text.get(start) == part.first() && text.split_at(start).1.starts_with(part)
        })
    })
}
