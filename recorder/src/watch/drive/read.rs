//! Owns the reading of a watch, and of its successor beside it: chunks become lines, lines go to the
//! intake, and silence has an end. Refuses to read on while the queue is full.

use super::overlap::{Overlap, Turn};
use super::probe::Probe;
use super::{Drive, Interrupt, interrupt};
use crate::server::{Answer, Failure, Server};
use crate::watch::intake::Flow;
use crate::watch::line::{LineSplitter, Piece};
use crate::watch::target::Target;
use bytes::Bytes;
use kubereel_format::{ConnectionId, EndCause, Stamp};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, timeout_at};

/// A line of more bytes than this waits for its turn before more of it is read.
const LONG_LINE: usize = 2 * 1024 * 1024;

/// How a stream came to its end.
pub(super) enum StreamEnd {
    /// Not by a status.
    Ended { cause: EndCause, detail: String },
    /// By a status.
    Refused { code: u16, message: String },
}

/// Of two connections, one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The one under way.
    Lead,
    /// The one that is to take its place.
    Successor,
}

/// A connection that is read.
pub(super) struct Reading {
    pub(super) answer: Answer,
    pub(super) server: Arc<Server>,
    pub(super) id: ConnectionId,
    splitter: LineSplitter,
    long_line: Option<OwnedSemaphorePermit>,
    probe: Probe,
    /// When it was answered.
    pub(super) opened: Instant,
    heard: Instant,
}

/// What happened first.
enum Heard {
    Chunk(Result<Option<Bytes>, Failure>),
    Silence,
    Outlived(String),
    Successor(Turn),
    DefinitionChanged,
}

impl StreamEnd {
    pub(super) fn ended(cause: EndCause, detail: &str) -> Self {
        Self::Ended {
            cause,
            detail: detail.to_owned(),
        }
    }

    fn interrupted(interrupt: Interrupt) -> Self {
        match interrupt {
            Interrupt::Stop => Self::ended(EndCause::Stopped, ""),
            Interrupt::Epoch => Self::ended(EndCause::Stopped, "another cluster"),
        }
    }
}

impl Reading {
    /// Begins.
    pub(super) fn new(
        answer: Answer,
        server: &Arc<Server>,
        id: ConnectionId,
        target: &Target,
    ) -> Self {
        Self {
            answer,
            server: Arc::clone(server),
            id,
            splitter: LineSplitter::new(),
            long_line: None,
            probe: Probe::new(target, server),
            opened: Instant::now(),
            heard: Instant::now(),
        }
    }

    /// Waits for what happens first. Neither connection may keep the other one waiting.
    async fn hear(
        &mut self,
        idle_secs: u32,
        overlap: &mut Overlap,
        changes: &mut watch::Receiver<u32>,
    ) -> Heard {
        let silent = self.heard + Duration::from_secs(u64::from(idle_secs));
        tokio::select! {
            chunk = timeout_at(silent, self.answer.chunk()) => match chunk {
                Ok(chunk) => Heard::Chunk(chunk),
                Err(_) => Heard::Silence,
            },
            version = self.probe.outlived() => Heard::Outlived(version),
            turn = overlap.turn() => Heard::Successor(turn),
            () = changed(changes) => Heard::DefinitionChanged,
        }
    }
}

/// Waits for a change; for ever if nobody is left to tell of one.
async fn changed(changes: &mut watch::Receiver<u32>) {
    if changes.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Drive {
    /// Reads a watch until it ends and no other connection has taken its place. Gives the number of
    /// the last one.
    pub(super) async fn read(
        &mut self,
        mut lead: Reading,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) -> (ConnectionId, StreamEnd) {
        let mut overlap = self.overlap(&lead);
        let mut stop = self.stop.clone();
        let mut epoch = self.epoch.clone();
        loop {
            if !self.intake.stream.wants_list() {
                *list_turn = None;
            }
            let idle_secs = self.intake.stream.idle_secs();
            let heard = tokio::select! {
                biased;
                interrupt = interrupt(&mut stop, &mut epoch) => {
                    self.drop_successor(&mut overlap, EndCause::Stopped, "");
                    return (lead.id, StreamEnd::interrupted(interrupt));
                }
                heard = lead.hear(idle_secs, &mut overlap, &mut self.changes) => heard,
            };
            let at = self.shared.now();
            let end = match heard {
                Heard::Chunk(chunk) => {
                    lead.heard = Instant::now();
                    self.take(&mut lead, chunk, Side::Lead, list_turn).await
                }
                Heard::Silence => {
                    let words = format!("silent for {idle_secs} s");
                    Some(StreamEnd::ended(EndCause::Idle, &words))
                }
                Heard::Outlived(version) => {
                    self.intake.stream.outlived(&version, at);
                    None
                }
                Heard::Successor(turn) => {
                    self.turn(turn, &mut overlap, list_turn).await;
                    None
                }
                Heard::DefinitionChanged => {
                    self.intake.stream.hurry_successor();
                    overlap.hurry();
                    None
                }
            };
            if let Some(end) = end {
                let Some(next) = self.outlives(&mut overlap, &end) else {
                    return (lead.id, end);
                };
                self.shared.fleet.closed(lead.id);
                lead = next;
                overlap.follow(self.overlap(&lead));
            } else if let Some(next) = self.handover(&mut overlap) {
                self.shared.fleet.closed(lead.id);
                lead = next;
                overlap.follow(self.overlap(&lead));
            }
            self.flush().await;
            self.report();
        }
    }

    /// Takes what came on a connection; gives its end if that is what came.
    pub(super) async fn take(
        &mut self,
        reading: &mut Reading,
        chunk: Result<Option<Bytes>, Failure>,
        side: Side,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) -> Option<StreamEnd> {
        let chunk = match chunk {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Some(self.rest(reading, side, EndCause::Clean, "").await),
            Err(failure) => {
                let rest = self.rest(reading, side, EndCause::Cut, &failure.words);
                return Some(rest.await);
            }
        };
        let at = self.shared.now();
        reading.splitter.push(chunk);
        while let Some(piece) = reading.splitter.next_piece() {
            let flow = self.piece(piece, side, at);
            self.settle_gap(list_turn).await;
            // The queue may be full: then nothing more is read until there is room.
            self.flush().await;
            match flow {
                Flow::On => {}
                Flow::Unreadable => return Some(StreamEnd::ended(EndCause::Unreadable, "")),
                Flow::Refused { code, message } => {
                    return Some(StreamEnd::Refused { code, message });
                }
            }
        }
        self.wait_for_room(reading, side).await
    }

    /// Waits for the turn of a long line. A successor does not: it would wait for one that it holds
    /// itself.
    async fn wait_for_room(&self, reading: &mut Reading, side: Side) -> Option<StreamEnd> {
        if reading.splitter.held() < LONG_LINE {
            reading.long_line = None;
            return None;
        }
        if reading.long_line.is_some() {
            return None;
        }
        let turns = Arc::clone(&self.shared.long_lines);
        if side == Side::Lead {
            reading.long_line = turns.acquire_owned().await.ok();
            return None;
        }
        match turns.try_acquire_owned() {
            Ok(turn) => reading.long_line = Some(turn),
            Err(_) => {
                return Some(StreamEnd::ended(EndCause::Clean, "no room for a long line"));
            }
        }
        None
    }

    fn piece(&mut self, piece: Piece, side: Side, at: Stamp) -> Flow {
        if side == Side::Successor {
            let intake = &mut self.intake;
            return intake.on_successor(|intake| take_piece(intake, piece, at));
        }
        take_piece(&mut self.intake, piece, at)
    }

    async fn rest(
        &mut self,
        reading: &mut Reading,
        side: Side,
        cause: EndCause,
        words: &str,
    ) -> StreamEnd {
        let at = self.shared.now();
        let flow = match (reading.splitter.rest(), side) {
            (None, _) => Flow::On,
            (Some(Piece::Line(line)), Side::Lead) => self.intake.rest(&line, at),
            (Some(Piece::Line(line)), Side::Successor) => {
                self.intake.on_successor(|intake| intake.rest(&line, at))
            }
            (Some(piece @ Piece::Part { .. }), side) => self.piece(piece, side, at),
        };
        self.flush().await;
        match flow {
            Flow::Refused { code, message } => StreamEnd::Refused { code, message },
            Flow::On | Flow::Unreadable => StreamEnd::ended(cause, words),
        }
    }
}

fn take_piece(intake: &mut crate::watch::intake::Intake, piece: Piece, at: Stamp) -> Flow {
    match piece {
        Piece::Line(line) => intake.line(&line, at),
        Piece::Part {
            bytes, len_so_far, ..
        } => {
            intake.part(&bytes, len_so_far, at);
            Flow::On
        }
    }
}
