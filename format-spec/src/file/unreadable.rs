//! What of a damaged reel cannot be read, found once by reading it from its first loss on: every count and every time of
//! a loss is derived from it.
//!
//! Damage reaches farther than the place where it is: an object that is stored as a difference from a lost one is
//! unreadable, too.

use crate::error::{Damage, Loss, ReadError};
use crate::file::body::BodyReader;
use crate::file::load::Slot;
use crate::file::reel::Reel;
use crate::file::scan::Scan;
use crate::id::Seq;
use crate::note::Note;

/// How many readable records may lie between two losses that are named together.
pub(crate) const NEAR: u64 = 1024;

/// How much of a reel cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossCounts {
    /// The number of events whose objects cannot be read.
    pub events: u64,
    /// The number of other unreadable records, as far as it is known: notes, and those of which not even that is known.
    pub records: u64,
    /// Whether more records may have followed at the end.
    pub is_end_lost: bool,
}

/// The unreadable records of a reel, in their order.
#[derive(Debug, Default)]
pub(crate) struct UnreadableRecords {
    /// The first and the last of events without a readable one between them.
    events: Vec<(Seq, Seq)>,
    /// The first and the last of other records.
    records: Vec<(Seq, Seq)>,
    counts: LossCounts,
}

impl UnreadableRecords {
    /// Reads a reel from a record on; nothing before it is unreadable.
    pub(crate) fn find(reel: &Reel, from: Seq) -> Self {
        let mut found = Self::default();
        let mut events = Scan::new(reel, from..reel.end(), None).filter_map(Result::ok);
        let mut events =
            std::iter::from_fn(|| events.next().map(|event| event.head.seq)).peekable();
        let notes = reel.notes().iter();
        let mut notes = notes.skip_while(|note| note.seq < from).peekable();
        let counts = &mut found.counts;
        for seq in (from.0..reel.end().0).map(Seq) {
            match reel.loaded.heads.slot(seq) {
                Some(Slot::Event(_)) if events.next_if_eq(&seq).is_some() => {}
                Some(Slot::Event(_)) => {
                    counts.events = counts.events.saturating_add(1);
                    extend(&mut found.events, seq);
                }
                Some(Slot::Note)
                    if notes
                        .next_if(|note| note.seq == seq)
                        .is_some_and(|note| text_of(reel, &note.note).is_ok()) => {}
                _ => {
                    counts.records = counts.records.saturating_add(1);
                    extend(&mut found.records, seq);
                }
            }
        }
        counts.is_end_lost = reel.damage().iter().any(|damage| damage.loss.is_open());
        found
    }

    pub(crate) fn counts(&self) -> LossCounts {
        self.counts
    }

    /// Returns whether an event's object cannot be read.
    pub(crate) fn has_event(&self, seq: Seq) -> bool {
        is_within(&self.events, seq)
    }

    /// Returns whether a record that is not known to be an event cannot be read.
    pub(crate) fn has_other(&self, seq: Seq) -> bool {
        is_within(&self.records, seq)
    }

    /// Names the unreadable events that no damaged place names.
    pub(crate) fn unnamed(&self, reel: &Reel) -> Vec<Damage> {
        let losses = reel.damage().iter().map(|damage| damage.loss);
        let mut named: Vec<(Seq, Seq)> = losses
            .filter_map(|loss| loss.first().zip(loss.last()))
            .collect();
        named.sort_unstable();
        // They may overlap: a search finds the last that begins before a record.
        let mut end = Seq(0);
        for (_, last) in &mut named {
            end = end.max(*last);
            *last = end;
        }
        let mut all: Vec<(Seq, Seq)> = Vec::new();
        for (first, last) in &self.events {
            for seq in (first.0..=last.0).map(Seq) {
                if reel.object_of(seq).is_none() || is_within(&named, seq) {
                    continue;
                }
                let is_near = |(_, before): &&mut (Seq, Seq)| {
                    let place = named.partition_point(|(first, _)| first < before);
                    let is_between = named.get(place).is_some_and(|(first, _)| *first < seq);
                    !is_between && seq.0.saturating_sub(before.0) <= NEAR
                };
                match all.last_mut().filter(is_near) {
                    Some((_, last)) => *last = seq,
                    None => all.push((seq, seq)),
                }
            }
        }
        all.into_iter().map(|run| damage_of(reel, run)).collect()
    }
}

fn extend(runs: &mut Vec<(Seq, Seq)>, seq: Seq) {
    match runs.last_mut() {
        Some((_, last)) if last.0.saturating_add(1) == seq.0 => *last = seq,
        _ => runs.push((seq, seq)),
    }
}

fn is_within(runs: &[(Seq, Seq)], seq: Seq) -> bool {
    let behind = runs.partition_point(|(first, _)| *first <= seq);
    let before = behind.checked_sub(1).and_then(|place| runs.get(place));
    before.is_some_and(|(_, last)| seq <= *last)
}

fn damage_of(reel: &Reel, (first, last): (Seq, Seq)) -> Damage {
    let number =
        |seq| BodyReader::block_at(reel, seq).map_or(reel.loaded.next_block, |block| block.number);
    let (from, to) = (number(first), number(last));
    let place = if from == to {
        format!("block {from}")
    } else {
        format!("blocks {from} to {to}")
    };
    Damage {
        place,
        cause: cause_of(reel, first),
        loss: Loss::Bodies { first, last },
    }
}

/// The cause if an event's object can be read, but not its resource.
pub(crate) const NOT_DESCRIBED: &str = "what describes it cannot be read";

/// Describes why an event's object cannot be read.
pub(crate) fn cause_of(reel: &Reel, seq: Seq) -> String {
    match reel.body(seq) {
        Err(ReadError::Event { cause, .. }) => cause,
        Err(error) => error.to_string(),
        Ok(_) => NOT_DESCRIBED.to_owned(),
    }
}

/// Returns the bytes of a note.
pub(crate) fn text_of(reel: &Reel, note: &Note) -> Result<Vec<u8>, ReadError> {
    let blobs = match note {
        Note::OddLine { blobs, .. } | Note::Document { blobs, .. } => blobs.as_slice(),
        _ => &[],
    };
    let mut bytes = Vec::new();
    for blob in blobs {
        bytes.extend_from_slice(&reel.blob(*blob)?);
    }
    Ok(bytes)
}
