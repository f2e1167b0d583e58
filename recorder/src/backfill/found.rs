//! Owns what was read back, and what it proves. Refuses to hold more than it may: then the rest stays
//! unknown.

use super::work::Work;
use kubereel_format::{EventType, GapVerdict};
use std::collections::BTreeSet;

/// How many bytes of objects are held until they are written: 8 MiB.
const MAX_FOUND_BYTES: usize = 8 * 1024 * 1024;

/// An event that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundEvent {
    /// The object's namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// Its uid.
    pub(crate) uid: String,
    /// The version; for a deletion, the revision of that.
    pub(crate) version: u128,
    /// What happened. A creation is told from a change where the events are put in order, and only where
    /// it is proven: what came before may be lost.
    pub(crate) kind: EventType,
    /// The object; `None` for a deletion.
    pub(crate) body: Option<Vec<u8>>,
}

/// Why an object or all of them could not be followed to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The history does not reach back so far: others may be read back nevertheless.
    Lost,
    /// The answers contradict what is known.
    Odd,
    /// Nothing more is to be asked.
    Over(String),
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The events, in no order.
    pub(crate) events: Vec<FoundEvent>,
    /// The revisions of which it is known which object of the resource changed there.
    pub(super) explained: BTreeSet<u128>,
    /// The objects that are not there at the end and were followed already, as far as they could be.
    pub(super) met: BTreeSet<String>,
    /// The versions with which objects began, where that is proven.
    begun: BTreeSet<(String, u128)>,
    bytes: usize,
    /// The history is gone up to here.
    lost_up_to: Option<u128>,
    is_unresolved: bool,
    is_sampled: bool,
    detail: String,
}

/// What the findings come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// In one word.
    pub(crate) word: GapVerdict,
    /// How many changes may be missing.
    pub(crate) missing_at_most: Option<u64>,
    /// Why no more was found.
    pub(crate) detail: String,
}

impl Found {
    /// Keeps an event.
    pub(super) fn keep(&mut self, event: FoundEvent) -> Result<(), Stop> {
        let bytes = event.body.as_ref().map_or(0, Vec::len);
        if self.bytes.saturating_add(bytes) > MAX_FOUND_BYTES {
            return Err(Stop::Over("too many bytes to hold".to_owned()));
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.explained.insert(event.version);
        self.events.push(event);
        Ok(())
    }

    /// An object of that uid began with a version.
    pub(super) fn began(&mut self, uid: &str, version: u128) {
        self.begun.insert((uid.to_owned(), version));
    }

    /// Takes out the versions with which objects began, where that is proven.
    pub(crate) fn take_begun(&mut self) -> BTreeSet<(String, u128)> {
        std::mem::take(&mut self.begun)
    }

    /// Notes that something could not be told. Gives true if nothing more is to be asked.
    pub(super) fn stopped(&mut self, stop: Stop) -> bool {
        self.is_unresolved = true;
        let (words, is_over) = match stop {
            Stop::Lost => ("the history does not reach back so far".to_owned(), false),
            Stop::Odd => ("an answer contradicts what was recorded".to_owned(), false),
            Stop::Over(words) => (words, true),
        };
        if self.detail.is_empty() || is_over {
            self.detail = words;
        }
        is_over
    }

    /// The server has no history of a revision any more, nor of those before.
    pub(super) fn lost(&mut self, at: u128) {
        self.lost_up_to = self.lost_up_to.max(Some(at));
    }

    /// Tells whether that is known of a revision.
    pub(super) fn is_lost(&self, at: u128) -> bool {
        self.lost_up_to.is_some_and(|lost| at <= lost)
    }

    /// Tells whether something could not be told.
    pub(super) const fn is_unresolved(&self) -> bool {
        self.is_unresolved
    }

    /// Nothing is to be asked after all.
    pub(crate) fn given_up(&mut self, words: &str) {
        self.stopped(Stop::Over(words.to_owned()));
    }

    /// Every revision that no found event explains was looked at.
    pub(super) fn sampled(&mut self) {
        self.is_sampled = true;
    }

    /// Notes that an event could not be written after all.
    pub(crate) fn withheld(&mut self, version: u128) {
        self.explained.remove(&version);
        self.is_unresolved = true;
        "an object could not be kept".clone_into(&mut self.detail);
    }

    /// Judges.
    pub(crate) fn verdict(&self, work: &Work) -> Verdict {
        if self.is_sampled && !self.is_unresolved && !work.has_unclear {
            return Verdict {
                word: GapVerdict::Reconstructed,
                missing_at_most: Some(0),
                detail: String::new(),
            };
        }
        let in_short = if self.lost_up_to.is_some() && self.events.is_empty() {
            GapVerdict::Lost
        } else {
            GapVerdict::Partly
        };
        let detail = match (self.detail.as_str(), work.has_unclear) {
            ("", true) => "not every object has a uid and a version".to_owned(),
            ("", false) => "objects that came and went inside it could not be ruled out".to_owned(),
            (words, _) => words.to_owned(),
        };
        Verdict {
            word: in_short,
            missing_at_most: u64::try_from(self.count_unexplained(work)).ok(),
            detail,
        }
    }

    /// Counts the revisions that nothing explains.
    pub(super) fn count_unexplained(&self, work: &Work) -> u128 {
        let explained = self.explained.range(work.from.saturating_add(1)..=work.to);
        let explained = u128::try_from(explained.count()).unwrap_or(u128::MAX);
        work.to.saturating_sub(work.from).saturating_sub(explained)
    }
}
