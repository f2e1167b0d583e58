//! Owns the reading of every byte that a reel keeps: pages and indexes were checked at opening, bodies
//! and kept texts are read here. Refuses to stop at the first damage, and to list it without end.

use crate::summary::DamageSummary;
use crate::timeline::Timeline;
use kubereel_format::{BlobId, Note, Reel, Seq};
use serde::Serialize;

/// How many damaged places are listed.
const MOST_PLACES: usize = 100;

/// What reading all of a reel showed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Integrity {
    /// Whether every checksum fitted and everything could be decoded.
    pub whole: bool,
    /// The blocks of the file.
    pub blocks: u64,
    /// Events and notes.
    pub records: u64,
    /// The events whose objects were read.
    pub events: u64,
    /// The texts and documents that were read.
    pub texts: u64,
    /// How many bytes objects and texts have, decompressed.
    pub decompressed_bytes: u64,
    /// How many places are damaged.
    pub damaged_places: u64,
    /// The first of them, at most 100.
    pub damage: Vec<DamageSummary>,
}

impl Integrity {
    fn hurt(&mut self, place: String, cause: String) {
        self.damaged_places = self.damaged_places.saturating_add(1);
        if self.damage.len() < MOST_PLACES {
            self.damage.push(DamageSummary { place, cause });
        }
    }

    fn took(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.decompressed_bytes = self.decompressed_bytes.saturating_add(bytes);
    }
}

impl Timeline {
    /// Reads everything that the reel holds; `progress` is told how many records are done.
    pub fn integrity(&self, mut progress: impl FnMut(u64)) -> Integrity {
        let reel = self.reel();
        let mut found = Integrity {
            blocks: u64::try_from(reel.blocks().len()).unwrap_or(u64::MAX),
            records: reel.end().0,
            ..Integrity::default()
        };
        for damage in reel.damage() {
            found.hurt(damage.place.clone(), damage.cause.clone());
        }
        for event in reel.scan(Seq(0)) {
            match event {
                Ok(event) => {
                    found.events = found.events.saturating_add(1);
                    found.took(event.body.len());
                    progress(event.head.seq.0);
                }
                Err(error) => found.hurt("an object".to_owned(), error.to_string()),
            }
        }
        texts(reel, &mut found);
        found.whole = found.damaged_places == 0;
        found
    }
}

fn texts(reel: &Reel, found: &mut Integrity) {
    for entry in reel.notes() {
        let blobs: &[BlobId] = match &entry.note {
            Note::OddLine { blobs, .. } | Note::Document { blobs, .. } => blobs,
            _ => continue,
        };
        for &blob in blobs {
            match reel.blob(blob) {
                Ok(bytes) => {
                    found.texts = found.texts.saturating_add(1);
                    found.took(bytes.len());
                }
                Err(error) => {
                    found.hurt(format!("a text of note {}", entry.seq), error.to_string());
                }
            }
        }
    }
}
