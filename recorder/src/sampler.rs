//! Samples named metrics of the API servers every half minute and at the end. Writes changed
//! series, and all series after a time without a reading.
//!
//! A response is parsed line by line as it arrives, never buffered as a whole, and bounded. Values
//! stay the server's text.

use crate::clock::Clock;
use crate::queue::{Queue, QueueEntry};
use crate::server::{ApiServer, Failure, Get};
use kubereel_format::Note;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The interval of the readings.
const EVERY_SECS: u64 = 30;

/// The timeout of one reading.
const PATIENCE_SECS: u64 = 20;

/// The timeout of the last reading: the end of the run waits for it.
const LAST_SECS: u64 = 2;

/// The longest part of a response that is read, in bytes: the metrics of a large cluster are about
/// 30 MB.
const MAX_ANSWER: usize = 128 * 1024 * 1024;

/// The longest line that is parsed, in bytes.
const MAX_LINE: usize = 64 * 1024;

/// All series are written again after this number of rounds: ten minutes.
const ALL_ROUNDS: u32 = 20;

/// Reads metrics.
pub(crate) struct Sampler {
    changes: MetricChanges,
    clients: watch::Receiver<Option<Arc<ApiServer>>>,
    queue: Arc<Queue>,
    clock: Clock,
}

impl Sampler {
    /// Creates a sampler for these names.
    pub(crate) fn new(
        names: &[String],
        clients: &watch::Receiver<Option<Arc<ApiServer>>>,
        queue: &Arc<Queue>,
        clock: Clock,
    ) -> Self {
        Self {
            changes: MetricChanges::new(names),
            clients: clients.clone(),
            queue: Arc::clone(queue),
            clock,
        }
    }

    /// Samples until the run stops, then once more. Without names it does nothing.
    pub(crate) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        if self.changes.is_idle() {
            return;
        }
        let mut rounds = 0_u32;
        loop {
            let is_last = *stop.borrow();
            let server = self.clients.borrow().clone();
            let Some(server) = server else {
                if is_last {
                    return;
                }
                tokio::select! {
                    _ = stop.wait_for(|stop| *stop) => {}
                    _ = self.clients.changed() => {}
                }
                continue;
            };
            let patience = if is_last { LAST_SECS } else { PATIENCE_SECS };
            let mut stopped = stop.clone();
            let reading = self.read(&server, patience);
            let read = if is_last {
                Some(reading.await)
            } else {
                // A response that is in transit when the run is stopped may still arrive.
                let late = async {
                    drop(stopped.wait_for(|stop| *stop).await);
                    tokio::time::sleep(Duration::from_secs(LAST_SECS)).await;
                };
                tokio::select! {
                    read = reading => Some(read),
                    () = late => None,
                }
            };
            match read {
                None => continue,
                Some(Ok(round)) => {
                    let is_all = is_last || rounds.is_multiple_of(ALL_ROUNDS);
                    rounds = rounds.wrapping_add(1);
                    self.write(&server, round, is_all).await;
                }
                Some(Err(failure)) => {
                    tracing::warn!(error = failure.words, "the metrics cannot be read");
                    // Changes of the meantime are unknown: all series are written again.
                    rounds = 0;
                }
            }
            if is_last {
                return;
            }
            let pause = Duration::from_secs(EVERY_SECS);
            // Stopping or dropping the run ends the pause.
            drop(tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await);
        }
    }

    async fn read(&self, server: &ApiServer, patience_secs: u64) -> Result<SampleRound, Failure> {
        let get = Get {
            target: "/metrics",
            accept: "text/plain;version=0.0.4",
            etag: None,
            patience_secs,
        };
        let reading = async {
            let mut answer = server.get(get).await?;
            if answer.status != 200 {
                let words = format!("/metrics: {}", answer.status);
                return Err(Failure::other(words));
            }
            let mut round = SampleRound::default();
            let mut lines = MetricLines::default();
            let mut bytes = 0_usize;
            while let Some(chunk) = answer.chunk().await? {
                bytes = bytes.saturating_add(chunk.len());
                if bytes > MAX_ANSWER {
                    let words = format!("/metrics: longer than {MAX_ANSWER} bytes");
                    return Err(Failure::other(words));
                }
                lines.push(&chunk, |line| {
                    if let Some(sample) = sample(line) {
                        self.changes.take(&mut round, sample);
                    }
                });
            }
            Ok(round)
        };
        tokio::time::timeout(Duration::from_secs(patience_secs), reading)
            .await
            .unwrap_or_else(|_| Err(Failure::timeout(patience_secs)))
    }

    async fn write(&mut self, server: &ApiServer, round: SampleRound, is_all: bool) {
        // One stamp for a whole round: readers recognize the round by it.
        let stamp = self.clock.stamp();
        for note in self.changes.notes(&server.endpoint, round, is_all) {
            self.queue.push(QueueEntry::Note { stamp, note }).await;
        }
    }
}

/// Cuts received bytes into lines.
#[derive(Debug, Default)]
struct MetricLines {
    rest: Vec<u8>,
    is_skipping: bool,
}

impl MetricLines {
    /// Returns every line that a chunk completes; lines that are too long are skipped.
    fn push(&mut self, chunk: &[u8], mut each: impl FnMut(&str)) {
        let mut parts = chunk.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            if self.rest.len().saturating_add(part.len()) > MAX_LINE {
                self.is_skipping = true;
                self.rest.clear();
            } else if !self.is_skipping {
                self.rest.extend_from_slice(part);
            }
            if parts.peek().is_some() {
                if let (false, Ok(line)) = (self.is_skipping, std::str::from_utf8(&self.rest)) {
                    each(line);
                }
                self.rest.clear();
                self.is_skipping = false;
            }
        }
    }
}

/// The largest number of followed series.
const SERIES: usize = 2_000;

/// The longest labels and the longest value that are stored, in bytes.
const WORD_BYTES: usize = 1_024;

/// The start time of the responding process, which every round writes. It identifies the server
/// where several share an address, and shows that a series without a note has not changed.
const STARTED: &str = "process_start_time_seconds";

/// Endpoint, name and labels.
type MetricSeries = (String, String, String);

/// The last written sample.
#[derive(Debug, Default)]
struct MetricChanges {
    names: BTreeSet<String>,
    written: BTreeMap<MetricSeries, String>,
}

/// The samples of the current round.
#[derive(Debug, Default)]
struct SampleRound {
    started: Option<String>,
    samples: Vec<(String, String, String)>,
}

impl MetricChanges {
    /// Creates one for these metrics.
    fn new(names: &[String]) -> Self {
        Self {
            names: names.iter().cloned().collect(),
            written: BTreeMap::new(),
        }
    }

    /// Returns whether no metric is followed.
    fn is_idle(&self) -> bool {
        self.names.is_empty()
    }

    /// Takes a sample if its metric is followed.
    fn take(&self, round: &mut SampleRound, sample: MetricSample<'_>) {
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

    /// Returns the notes of a whole round: the start of the server's process, and the changed
    /// series.
    fn notes(&mut self, address: &str, round: SampleRound, is_all: bool) -> Vec<Note> {
        let started = round.started.unwrap_or_else(|| "unknown".to_owned());
        // Behind one address there may be several servers, each with its own counters.
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

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MetricSample<'a> {
    /// The metric's name.
    name: &'a str,
    /// Its labels, without braces.
    labels: &'a str,
    value: &'a str,
}

/// Parses a line; `None` for comments and lines that are not samples.
fn sample(line: &str) -> Option<MetricSample<'_>> {
    let line = line.trim();
    let end = line.find(|letter: char| letter == '{' || letter.is_whitespace())?;
    let (name, rest) = line.split_at(end);
    if name.is_empty() || name.starts_with('#') {
        return None;
    }
    let (labels, rest) = match rest.strip_prefix('{') {
        None => ("", rest),
        Some(rest) => {
            let end = closing_brace(rest)?;
            (rest.get(..end)?, rest.get(end + 1..)?)
        }
    };
    // A timestamp may follow; the recorder's own time is used.
    let value = rest.split_whitespace().next()?;
    Some(MetricSample {
        name,
        labels,
        value,
    })
}

/// Finds the brace that ends the labels: the first one outside of quotes.
fn closing_brace(text: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'}' if !is_quoted => return Some(place),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_arrive() {
        let text = format!("one 1\n{}\ntwo 2\nunended", "x".repeat(MAX_LINE + 1));
        for size in [1, 3, 1_000, text.len()] {
            let mut lines = MetricLines::default();
            let mut seen = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                lines.push(chunk, |line| seen.push(line.to_owned()));
            }
            assert_eq!(seen, ["one 1", "two 2"], "{size}");
        }
    }

    fn note_texts(changes: &mut MetricChanges, text: &str, is_all: bool) -> Vec<String> {
        let mut round = SampleRound::default();
        for sample in text.lines().filter_map(sample) {
            changes.take(&mut round, sample);
        }
        let notes = changes.notes("https://a:1", round, is_all).into_iter();
        let note_texts = notes.map(|note| match note {
            Note::Sampled {
                endpoint,
                name,
                labels,
                value,
            } => format!("{endpoint} {name}{{{labels}}} {value}"),
            other => panic!("{other:?}"),
        });
        note_texts.collect()
    }

    #[test]
    fn a_round_tells_what_changed_of_the_server_that_answered() {
        let mut changes = MetricChanges::new(&["a_total".to_owned()]);
        let first = "process_start_time_seconds 5\na_total{x=\"y\"} 0\nb_total 7\n";
        let began = "https://a:1#5 process_start_time_seconds{} 5";
        let zero = "https://a:1#5 a_total{x=\"y\"} 0";
        assert_eq!(note_texts(&mut changes, first, false), [began, zero]);
        assert_eq!(note_texts(&mut changes, first, false), [began]);
        assert_eq!(note_texts(&mut changes, first, true), [began, zero]);
        let moved = first.replace("} 0", "} 2");
        let expected = [began, "https://a:1#5 a_total{x=\"y\"} 2"];
        assert_eq!(note_texts(&mut changes, &moved, false), expected);
        // Another server behind the same address has its own counters.
        let other = first.replace("seconds 5", "seconds 9");
        let expected = [
            "https://a:1#9 process_start_time_seconds{} 9",
            "https://a:1#9 a_total{x=\"y\"} 0",
        ];
        assert_eq!(note_texts(&mut changes, &other, false), expected);
    }

    #[test]
    fn series_are_bounded() {
        let mut changes = MetricChanges::new(&["a".to_owned()]);
        let many: Vec<String> = (0..3_000).map(|n| format!("a{{n=\"{n}\"}} 1")).collect();
        let many = many.join("\n");
        assert_eq!(note_texts(&mut changes, &many, false).len(), 1 + SERIES);
        let more = "a{n=\"new\"} 1\na{n=\"5\"} 2\n";
        assert_eq!(note_texts(&mut changes, more, false).len(), 2);
    }

    #[test]
    fn a_line_is_a_name_labels_and_a_value() {
        for (line, expected) in [
            ("up 1", Some(("up", "", "1"))),
            (
                "a_total{b=\"c\"} 1.5e+06 123",
                Some(("a_total", "b=\"c\"", "1.5e+06")),
            ),
            (
                "a{b=\"}\\\"}\",c=\"d\"} NaN\r",
                Some(("a", "b=\"}\\\"}\",c=\"d\"", "NaN")),
            ),
            ("# TYPE up gauge", None),
            ("a{b=\"c} 1", None),
            ("alone", None),
            ("a{b=\"c\"}", None),
            ("", None),
        ] {
            let found = sample(line).map(|one| (one.name, one.labels, one.value));
            assert_eq!(found, expected, "{line:?}");
        }
    }
}
