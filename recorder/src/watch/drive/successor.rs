//! Owns what a successor's steps mean for the two connections: who is asked, who is read, who goes on.
//! Refuses to end the connection under way for a successor that is not at least as good.

use super::Drive;
use super::overlap::{Asked, Open, Overlap, Request, Turn};
use super::read::{Reading, Side, StreamEnd};
use crate::watch::intake::cause_of;
use crate::watch::state::Handover;
use crate::watch::target::Role;
use kubereel_format::EndCause;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// How long a watch of Events is read on after a list of the present at most, in milliseconds: by then
/// everything up to there has come. It comes within milliseconds.
const OUTLIVE_MILLIS: u64 = 10_000;

/// What is told of a connection that has a successor.
const TAKEN_OVER: &str = "its successor has taken over";

impl Drive {
    /// Begins to wait for the time at which the connection under way needs a successor.
    pub(super) fn overlap(&mut self, lead: &Reading) -> Overlap {
        let more = self.outlive().unwrap_or_default();
        let more = u64::try_from(more.as_micros()).unwrap_or(u64::MAX);
        Overlap::new(lead.opened, self.intake.stream.successor_due(more))
    }

    /// Tells for how long a list of the present must be outlived, where no bookmarks move the position:
    /// the history from there on may be lost already.
    fn outlive(&self) -> Option<Duration> {
        let millis = OUTLIVE_MILLIS.min(u64::from(self.shared.watch_secs) * 1_000 / 3);
        (self.intake.target.role == Role::Events).then(|| Duration::from_millis(millis))
    }

    /// Takes a step towards a successor, or what it brings.
    pub(super) async fn turn(
        &mut self,
        turn: Turn,
        overlap: &mut Overlap,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) {
        match turn {
            Turn::Due => {
                let now = self.shared.clock.elapsed();
                if let Some(micros) = self.intake.stream.successor_wait(now) {
                    return overlap.later(Some(micros));
                }
                // Events wait for nobody: they have no bookmarks to fall back on, and there are no others of
                // their kind.
                let turns = (self.intake.target.role != Role::Events)
                    .then(|| Arc::clone(&self.shared.successors));
                overlap.queue(async move { turns?.acquire_owned().await.ok() });
            }
            Turn::Begin(permit) => self.begin(permit, overlap),
            Turn::Asked(asked) => self.asked(*asked, overlap),
            Turn::Outlived => {
                if let Some(open) = overlap.take_held() {
                    let at = self.shared.now();
                    self.intake.stream.outlived(&open.from.to_string(), at);
                    self.open(open, overlap);
                }
            }
            Turn::Chunk(chunk) => {
                let Some(reading) = overlap.reading() else {
                    return;
                };
                let end = self.take(reading, chunk, Side::Successor, list_turn).await;
                if let Some(end) = end {
                    let (cause, words) = told(&end);
                    if let StreamEnd::Refused { code, .. } = end {
                        self.count(code);
                    }
                    self.drop_successor(overlap, cause, words);
                }
            }
            Turn::Settled => {}
        }
    }

    fn begin(&mut self, permit: Option<OwnedSemaphorePermit>, overlap: &mut Overlap) {
        let Some(server) = self.clients.borrow().clone() else {
            return overlap.later(None);
        };
        // The successor is asked for what the resource is by now, in the version in which it is stored.
        if let Ok(info) = self.descriptions.try_recv() {
            let at = self.shared.now();
            self.intake.describe(info, at);
        }
        let Some((from, timeout_secs)) = self.intake.stream.begin_successor() else {
            return overlap.later(None);
        };
        let request = Request {
            id: self.shared.numbers.connection(),
            from,
            timeout_secs,
            outlive: self.outlive(),
        };
        let target = self.intake.target.clone();
        overlap.asking(permit, request.ask(target, server));
    }

    fn asked(&mut self, asked: Asked, overlap: &mut Overlap) {
        let Asked {
            request,
            server,
            answer,
        } = asked;
        let answer = match answer {
            Ok(answer) if answer.status == 200 && answer.is_json() => answer,
            Ok(answer) => {
                if answer.status == 401 {
                    self.shared.refuse(server.generation);
                }
                self.count(answer.status);
                let words = format!("status {}", answer.status);
                return self.no_successor(overlap, answer.retry_after_secs(), &words);
            }
            Err(failure) => {
                if failure.may_need_new_client() {
                    self.shared.refuse(server.generation);
                }
                return self.no_successor(overlap, None, &failure.words);
            }
        };
        let target = &self.intake.target;
        let open = Open {
            reading: Reading::new(answer, &server, request.id, target),
            from: request.from,
            timeout_secs: request.timeout_secs,
        };
        match request.outlive {
            Some(outlive) => overlap.hold(open, outlive),
            None => self.open(Box::new(open), overlap),
        }
    }

    fn open(&mut self, open: Box<Open>, overlap: &mut Overlap) {
        let at = self.shared.now();
        let (id, secs) = (open.reading.id, open.timeout_secs);
        self.intake.successor_connected(id, &open.from, secs, at);
        self.shared.fleet.opened(id, at.elapsed);
        overlap.open(open);
    }

    fn count(&self, code: u16) {
        if code == 410 {
            self.shared.health.count_expired();
        }
    }

    fn no_successor(&mut self, overlap: &mut Overlap, retry_after_secs: Option<u32>, words: &str) {
        let at = self.shared.now();
        tracing::debug!(
            resource = self.intake.target.info.qualified(),
            words,
            "no successor: the watch goes on"
        );
        let cause = EndCause::Unreachable;
        self.intake
            .successor_ended(cause, words, retry_after_secs, at);
        overlap.later(self.intake.stream.successor_wait(at.elapsed));
    }

    /// Lets the successor go, however far it has come. The connection under way goes on, if it can.
    pub(super) fn drop_successor(&mut self, overlap: &mut Overlap, cause: EndCause, words: &str) {
        let at = self.shared.now();
        if let Some(reading) = overlap.take_reading() {
            self.shared.fleet.closed(reading.id);
        }
        self.intake.successor_ended(cause, words, None, at);
        overlap.later(self.intake.stream.successor_wait(at.elapsed));
    }

    /// The connection under way has come to its end: gives its successor, if that is open. Where a line
    /// could not be read, it is asked for once more instead.
    pub(super) fn outlives(&mut self, overlap: &mut Overlap, end: &StreamEnd) -> Option<Reading> {
        let (cause, words) = told(end);
        let goes_on = self.intake.stream.has_open_successor() && cause != EndCause::Unreadable;
        let Some(reading) = overlap.take_reading_if(goes_on) else {
            self.drop_successor(overlap, EndCause::Clean, "its predecessor has ended");
            return None;
        };
        if let StreamEnd::Refused { code, .. } = end {
            self.count(*code);
        }
        let at = self.shared.now();
        self.touch.ended(cause);
        self.broke = Some(at.elapsed);
        self.intake.take_over(cause, words, at);
        let path = self.intake.target.path();
        self.touch.connected(&reading.server, &path);
        Some(reading)
    }

    /// Gives the successor if it may take over by now.
    pub(super) fn handover(&mut self, overlap: &mut Overlap) -> Option<Reading> {
        let at = self.shared.now();
        match self.intake.stream.handover(at.elapsed) {
            Handover::Both => None,
            Handover::GiveUp => {
                self.drop_successor(overlap, EndCause::Clean, "its predecessor is ahead");
                None
            }
            Handover::TakeOver => {
                let reading = overlap.take_reading()?;
                self.intake.take_over(EndCause::Clean, TAKEN_OVER, at);
                Some(reading)
            }
        }
    }
}

fn told(end: &StreamEnd) -> (EndCause, &str) {
    match end {
        StreamEnd::Ended { cause, detail } => (*cause, detail),
        StreamEnd::Refused { code, message } => (cause_of(*code), message),
    }
}
