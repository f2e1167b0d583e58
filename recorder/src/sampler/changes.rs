//! Owns what of a round goes into the reel: what changed since it was written last, and everything when it
//! has not been read for a while. Refuses more series than a timeline bears.

use super::line::Sample;
use kubereel_format::Note;
use std::collections::{BTreeMap, BTreeSet};

/// How many series are followed, in all.
const SERIES: usize = 2_000;

/// The longest labels and the longest value that are kept, in bytes.
const WORD_BYTES: usize = 1_024;

/// When the process that answered began: its sample is written in every round. It tells which server it
/// was where many share an address, and that a series without a note has not changed.
pub(super) const STARTED: &str = "process_start_time_seconds";

/// Endpoint, name and labels.
type Series = (String, String, String);

/// What was written last.
#[derive(Debug, Default)]
pub(super) struct Changes {
    names: BTreeSet<String>,
    written: BTreeMap<Series, String>,
}

/// What one round has read so far.
#[derive(Debug, Default)]
pub(super) struct Round {
    started: Option<String>,
    samples: Vec<(String, String, String)>,
}

impl Changes {
    /// Follows these metrics.
    pub(super) fn new(names: &[String]) -> Self {
        Self {
            names: names.iter().cloned().collect(),
            written: BTreeMap::new(),
        }
    }

    /// Tells whether nothing is followed.
    pub(super) fn is_idle(&self) -> bool {
        self.names.is_empty()
    }

    /// Takes a sample, if its metric is followed.
    pub(super) fn take(&self, round: &mut Round, sample: Sample<'_>) {
        if sample.name == STARTED {
            round.started = Some(sample.value.to_owned());
        }
        let is_fit = sample.labels.len() <= WORD_BYTES && sample.value.len() <= WORD_BYTES;
        if sample.name != STARTED
            && is_fit
            && round.samples.len() < SERIES
            && self.names.contains(sample.name)
        {
            let own = |text: &str| text.to_owned();
            let sample = (own(sample.name), own(sample.labels), own(sample.value));
            round.samples.push(sample);
        }
    }

    /// Gives the notes of a whole round: when the server's process began, and what changed.
    pub(super) fn notes(&mut self, address: &str, round: Round, is_all: bool) -> Vec<Note> {
        let started = round.started.unwrap_or_else(|| "unknown".to_owned());
        // Behind one address there may be several servers, each with counters of its own.
        let endpoint = format!("{address}#{started}");
        let note = |name: String, labels: String, value: String| Note::Sampled {
            endpoint: endpoint.clone(),
            name,
            labels,
            value,
        };
        let mut notes = vec![note(STARTED.to_owned(), String::new(), started.clone())];
        for (name, labels, value) in round.samples {
            let series = (endpoint.clone(), name.clone(), labels.clone());
            let is_known = self.written.contains_key(&series);
            if !is_known && self.written.len() >= SERIES {
                continue;
            }
            let before = self.written.insert(series, value.clone());
            if is_all || before.as_ref() != Some(&value) {
                notes.push(note(name, labels, value));
            }
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::sample;
    use super::*;

    fn told(changes: &mut Changes, text: &str, is_all: bool) -> Vec<String> {
        let mut round = Round::default();
        for sample in text.lines().filter_map(sample) {
            changes.take(&mut round, sample);
        }
        let notes = changes.notes("https://a:1", round, is_all).into_iter();
        let told = notes.map(|note| match note {
            Note::Sampled {
                endpoint,
                name,
                labels,
                value,
            } => format!("{endpoint} {name}{{{labels}}} {value}"),
            other => panic!("{other:?}"),
        });
        told.collect()
    }

    #[test]
    fn a_round_tells_what_changed_of_the_server_that_answered() {
        let mut changes = Changes::new(&["a_total".to_owned()]);
        let first = "process_start_time_seconds 5\na_total{x=\"y\"} 0\nb_total 7\n";
        let began = "https://a:1#5 process_start_time_seconds{} 5";
        let zero = "https://a:1#5 a_total{x=\"y\"} 0";
        assert_eq!(told(&mut changes, first, false), [began, zero]);
        assert_eq!(told(&mut changes, first, false), [began]);
        assert_eq!(told(&mut changes, first, true), [began, zero]);
        let moved = first.replace("} 0", "} 2");
        assert_eq!(
            told(&mut changes, &moved, false),
            [began, "https://a:1#5 a_total{x=\"y\"} 2"]
        );
        // Another server behind the same address has counters of its own.
        let other = first.replace("seconds 5", "seconds 9");
        assert_eq!(
            told(&mut changes, &other, false),
            [
                "https://a:1#9 process_start_time_seconds{} 9",
                "https://a:1#9 a_total{x=\"y\"} 0"
            ]
        );
    }

    #[test]
    fn series_are_bounded() {
        let mut changes = Changes::new(&["a".to_owned()]);
        let many: Vec<String> = (0..3_000).map(|n| format!("a{{n=\"{n}\"}} 1")).collect();
        let many = many.join("\n");
        assert_eq!(told(&mut changes, &many, false).len(), 1 + SERIES);
        let more = "a{n=\"new\"} 1\na{n=\"5\"} 2\n";
        assert_eq!(told(&mut changes, more, false).len(), 2);
    }
}
