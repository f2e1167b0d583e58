//! Owns the time between probes and the way of their notes to the file. Refuses to wait for room
//! there: a probe that is late says less than the next one.

use super::ask::{Found, Question};
use super::tell::{Answer, Telling};
use crate::entry::Entry;
use crate::server::Server;
use crate::watch::context::Shared;
use crate::watch::version::Version;
use kubereel_format::{Elapsed, Note, Stamp};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often the history is asked for: so closely is every change's time bounded.
const EVERY_MILLIS: u64 = 2_000;

/// How often while no answer comes: so closely is the end of an outage bounded.
const RETRY_MILLIS: u64 = 1_000;

/// How many notes of outages may wait for room in the queue; beyond these, outages are not told.
const MAX_WAITING: usize = 64;

/// Asks, round after round.
pub(crate) struct Prober {
    shared: Arc<Shared>,
    question: Question,
    /// The client that was asked last.
    generation: u64,
    telling: Telling,
    waiting: VecDeque<(Stamp, Note)>,
    /// The outage of now is not told, and neither is its end.
    is_untold: bool,
    /// Becomes true with the first probe, answered or not.
    asked: watch::Sender<bool>,
}

impl Prober {
    /// Makes one, which tells when it has asked once.
    pub(crate) fn new(shared: Arc<Shared>, asked: watch::Sender<bool>) -> Self {
        Self {
            shared,
            asked,
            question: Question::default(),
            generation: 0,
            telling: Telling::default(),
            waiting: VecDeque::new(),
            is_untold: false,
        }
    }

    /// Asks until it is dropped.
    pub(crate) async fn run(mut self) {
        let mut clients = self.shared.clients.clone();
        loop {
            let server = clients.wait_for(Option::is_some).await.ok();
            let Some(server) = server.and_then(|server| server.clone()) else {
                return;
            };
            let asked = self.shared.clock.elapsed();
            self.round(&server, asked).await;
            self.flush();
            self.asked.send_replace(true);
            self.shared.health.set_out(self.telling.is_failing());
            let every = if self.telling.is_failing() {
                RETRY_MILLIS
            } else {
                EVERY_MILLIS
            };
            let spent = self
                .shared
                .clock
                .elapsed()
                .micros
                .saturating_sub(asked.micros);
            let pause = Duration::from_millis(every).saturating_sub(Duration::from_micros(spent));
            tokio::time::sleep(pause).await;
        }
    }

    async fn round(&mut self, server: &Server, sent: Elapsed) {
        if self.generation != server.generation {
            self.generation = server.generation;
            // Another user may list something else.
            self.question = Question::default();
        }
        let left = self.telling.ask(&server.endpoint);
        self.outage(self.shared.now(), left);
        let epoch = *self.shared.epoch.borrow();
        let found = self.question.ask(server).await;
        let stamp = self.shared.now();
        match found {
            Found::Failed(class, error) => {
                let note = self.telling.failed(class, &error, sent, stamp.elapsed);
                if note.is_some() {
                    let endpoint = &server.endpoint;
                    tracing::warn!(endpoint, class = class.as_str(), "the API is out");
                }
                self.outage(stamp, note);
            }
            Found::Answered(revision) => {
                let note = self.telling.answered();
                if note.is_some() {
                    tracing::info!(endpoint = server.endpoint, "the API answers again");
                }
                self.outage(stamp, note);
                self.shared.health.probed(stamp.elapsed);
                if let Some((revision, path)) = revision {
                    self.revision(epoch, revision, path, sent, stamp);
                }
            }
        }
    }

    fn revision(
        &mut self,
        epoch: u32,
        revision: Version,
        path: &'static str,
        sent: Elapsed,
        stamp: Stamp,
    ) {
        // Another cluster may have been found while the answer was on its way.
        if *self.shared.epoch.borrow() != epoch {
            return;
        }
        let answer = Answer {
            epoch,
            revision,
            sent,
            stamp,
        };
        if self.telling.has_fallen(&answer) {
            self.shared.discovery.ask();
            return;
        }
        let revisions = self.shared.discovery.revisions();
        revisions.reached(epoch, &answer.revision, || path.to_owned());
        if let Some(note) = self.telling.probed(&answer)
            && self.waiting.is_empty()
            && self.shared.queue.try_push(Entry::Note { stamp, note })
        {
            self.telling.told(answer);
        }
    }

    /// Lets the note of an outage wait for its turn.
    fn outage(&mut self, stamp: Stamp, note: Option<Note>) {
        let Some(note) = note else {
            return;
        };
        if matches!(note, Note::OutageBegan { .. }) {
            self.is_untold = self.waiting.len() >= MAX_WAITING;
        }
        if !self.is_untold {
            self.waiting.push_back((stamp, note));
        }
        self.flush();
    }

    fn flush(&mut self) {
        while let Some((stamp, note)) = self.waiting.front() {
            let entry = Entry::Note {
                stamp: *stamp,
                note: note.clone(),
            };
            if !self.shared.queue.try_push(entry) {
                return;
            }
            self.waiting.pop_front();
        }
    }
}
