//! Owns when and how the metrics are read: every half minute, as they arrive, and once more at the end.
//! Refuses to hold an answer, and to read one without an end.

use super::changes::{Changes, Round};
use super::line::sample;
use crate::clock::Clock;
use crate::entry::Entry;
use crate::quota::Queue;
use crate::server::{Failure, Get, Server};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often the metrics are read.
const EVERY_SECS: u64 = 30;

/// How long one reading may take.
const PATIENCE_SECS: u64 = 20;

/// How long the last one may take: the run waits for it.
const LAST_SECS: u64 = 2;

/// The most bytes of one answer that are read: metrics of a large cluster are some 30 MB.
const MAX_ANSWER: usize = 128 * 1024 * 1024;

/// The longest line that is looked at, in bytes.
const MAX_LINE: usize = 64 * 1024;

/// After so many rounds everything is written once more: ten minutes.
const ALL_ROUNDS: u32 = 20;

/// Reads metrics.
pub(crate) struct Sampler {
    changes: Changes,
    clients: watch::Receiver<Option<Arc<Server>>>,
    queue: Arc<Queue>,
    clock: Clock,
}

impl Sampler {
    /// Reads the metrics of these names.
    pub(crate) fn new(
        names: &[String],
        clients: &watch::Receiver<Option<Arc<Server>>>,
        queue: &Arc<Queue>,
        clock: Clock,
    ) -> Self {
        Self {
            changes: Changes::new(names),
            clients: clients.clone(),
            queue: Arc::clone(queue),
            clock,
        }
    }

    /// Reads until the run is to stop, then once more; not at all without names.
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
                // A reading that is on its way when the run is stopped may still arrive.
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
                    // What came about meanwhile is not known: all is written again.
                    rounds = 0;
                }
            }
            if is_last {
                return;
            }
            let pause = Duration::from_secs(EVERY_SECS);
            // Whoever stops the run, or drops it, ends the pause.
            drop(tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await);
        }
    }

    async fn read(&self, server: &Server, patience_secs: u64) -> Result<Round, Failure> {
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
            let mut round = Round::default();
            let mut lines = Lines::default();
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

    async fn write(&mut self, server: &Server, round: Round, is_all: bool) {
        // One stamp for all of a round: that is how a reader knows it.
        let stamp = self.clock.stamp();
        for note in self.changes.notes(&server.endpoint, round, is_all) {
            self.queue.push(Entry::Note { stamp, note }).await;
        }
    }
}

/// Cuts lines out of what arrives.
#[derive(Debug, Default)]
struct Lines {
    rest: Vec<u8>,
    is_skipping: bool,
}

impl Lines {
    /// Gives every line that a chunk ends; the longest are left out.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_arrive() {
        let text = format!("one 1\n{}\ntwo 2\nunended", "x".repeat(MAX_LINE + 1));
        for size in [1, 3, 1_000, text.len()] {
            let mut lines = Lines::default();
            let mut seen = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                lines.push(chunk, |line| seen.push(line.to_owned()));
            }
            assert_eq!(seen, ["one 1", "two 2"], "{size}");
        }
    }
}
