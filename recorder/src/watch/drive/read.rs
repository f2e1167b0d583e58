//! Owns the reading of one watch: chunks become lines, lines go to the intake, and silence has an end.
//! Refuses to read on while the queue is full.

use super::probe::Probe;
use super::{Drive, Interrupt, interrupt};
use crate::server::{Answer, Server};
use crate::watch::intake::Flow;
use crate::watch::line::{LineSplitter, Piece};
use kubereel_format::{EndCause, Stamp};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, SemaphorePermit};

/// A line of more bytes than this waits for its turn before more of it is read.
const LONG_LINE: usize = 2 * 1024 * 1024;

/// How a stream came to its end.
pub(super) enum StreamEnd {
    /// Not by a status.
    Ended { cause: EndCause, detail: String },
    /// By a status.
    Refused { code: u16, message: String },
}

impl StreamEnd {
    fn ended(cause: EndCause, detail: &str) -> Self {
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

impl Drive {
    /// Reads a watch until it ends.
    pub(super) async fn read(
        &mut self,
        mut answer: Answer,
        server: &Arc<Server>,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) -> StreamEnd {
        let shared = Arc::clone(&self.shared);
        let mut splitter = LineSplitter::new();
        let mut long_line: Option<SemaphorePermit<'_>> = None;
        let mut probe = Probe::new(&self.intake.target, server);
        let mut stop = self.stop.clone();
        let mut epoch = self.epoch.clone();
        loop {
            if !self.intake.stream.wants_list() {
                *list_turn = None;
            }
            let idle = u64::from(self.intake.stream.idle_secs());
            let chunk = tokio::select! {
                biased;
                interrupt = interrupt(&mut stop, &mut epoch) => return StreamEnd::interrupted(interrupt),
                chunk = tokio::time::timeout(Duration::from_secs(idle), answer.chunk()) => chunk,
                version = probe.outlived() => {
                    let at = self.shared.now();
                    self.intake.stream.outlived(&version, at);
                    continue;
                }
            };
            let at = shared.now();
            let chunk = match chunk {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => return self.rest(&mut splitter, EndCause::Clean, "").await,
                Ok(Err(failure)) => {
                    return self
                        .rest(&mut splitter, EndCause::Cut, &failure.words)
                        .await;
                }
                Err(_) => return StreamEnd::ended(EndCause::Idle, &format!("silent for {idle} s")),
            };
            splitter.push(chunk);
            while let Some(piece) = splitter.next_piece() {
                let flow = self.piece(piece, at);
                self.settle_gap(list_turn).await;
                // The queue may be full: then nothing more is read until there is room.
                self.flush().await;
                match flow {
                    Flow::On => {}
                    Flow::Unreadable => return StreamEnd::ended(EndCause::Unreadable, ""),
                    Flow::Refused { code, message } => {
                        return StreamEnd::Refused { code, message };
                    }
                }
            }
            self.report();
            if splitter.held() < LONG_LINE {
                long_line = None;
            } else if long_line.is_none() {
                long_line = shared.long_lines.acquire().await.ok();
            }
        }
    }

    fn piece(&mut self, piece: Piece, at: Stamp) -> Flow {
        match piece {
            Piece::Line(line) => self.intake.line(&line, at),
            Piece::Part {
                bytes, len_so_far, ..
            } => {
                self.intake.part(&bytes, len_so_far, at);
                Flow::On
            }
        }
    }

    async fn rest(
        &mut self,
        splitter: &mut LineSplitter,
        cause: EndCause,
        words: &str,
    ) -> StreamEnd {
        let at = self.shared.now();
        let flow = match splitter.rest() {
            None => Flow::On,
            Some(Piece::Line(line)) => self.intake.rest(&line, at),
            Some(piece @ Piece::Part { .. }) => self.piece(piece, at),
        };
        self.flush().await;
        match flow {
            Flow::Refused { code, message } => StreamEnd::Refused { code, message },
            Flow::On | Flow::Unreadable => StreamEnd::ended(cause, words),
        }
    }
}
