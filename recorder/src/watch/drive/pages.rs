//! Owns the reading of a list in pages, item after item as it arrives. Refuses to choose the page:
//! the stream does.

use super::{Drive, HEAD_SECS};
use crate::server::{Answer, Failure, Get};
use crate::watch::split::{ListPiece, ListSplitter};
use crate::watch::state::Page;
use kubereel_format::{ConnectionId, EndCause, ListMethod};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, SemaphorePermit};

/// How long a page may be silent, in seconds.
const SILENT_SECS: u64 = 60;

/// An item of more bytes than this waits for its turn before more of it is read.
const LONG_ITEM: usize = 2 * 1024 * 1024;

/// The list under way: all its pages count as one connection.
#[derive(Debug, Default)]
pub(super) struct Pages {
    connection: Option<ConnectionId>,
}

/// How a page ended.
enum PageEnd {
    /// In order.
    Whole(ListSplitter, Size),
    /// In the middle.
    Broken(EndCause, String),
}

/// How large a page was.
#[derive(Clone, Copy, Default)]
struct Size {
    bytes: u64,
    items: u64,
}

impl Drive {
    pub(super) async fn page(
        &mut self,
        limit: Option<u32>,
        token: Option<&str>,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) {
        let Some(server) = self.server().await else {
            return;
        };
        if token.is_none() {
            self.pages.connection = None;
        }
        let id = match self.pages.connection {
            Some(id) => id,
            None => self.shared.numbers.connection(),
        };
        let target = self.intake.target.page(limit, token);
        let get = server.get(Get::json(&target, HEAD_SECS));
        let Some(answer) = self.unless_interrupted(get).await else {
            return;
        };
        let Some(answer) = self.accept(&server, id, answer).await else {
            // Refused or out of reach: if the list goes on, it is told of as a new connection.
            if self.intake.connection().is_none() {
                self.pages.connection = None;
            }
            return;
        };
        let at = self.shared.now();
        if self.intake.connection() == Some(id) {
            self.intake.page_answered(at);
        } else {
            self.intake.connected(id, None, ListMethod::Pages, 0, at);
        }
        self.pages.connection = Some(id);
        let end = self.unless_interrupted_page(answer).await;
        let at = self.shared.now();
        match end {
            PageEnd::Broken(cause, words) => self.break_off(cause, &words),
            PageEnd::Whole(splitter, size) => match splitter.finish() {
                None => self.break_off(EndCause::Unreadable, "the answer is no whole list"),
                Some(meta) => {
                    self.intake.page(
                        Page {
                            version: &meta.version,
                            token: &meta.token,
                            bytes: size.bytes,
                            items: size.items,
                        },
                        at,
                    );
                    self.settle_gap(list_turn).await;
                    if meta.token.is_empty() {
                        self.break_off(EndCause::Clean, "");
                    }
                }
            },
        }
    }

    fn break_off(&mut self, cause: EndCause, words: &str) {
        let at = self.shared.now();
        self.pages.connection = None;
        self.intake.ended(cause, words, at);
    }

    async fn unless_interrupted_page(&mut self, mut answer: Answer) -> PageEnd {
        let shared = std::sync::Arc::clone(&self.shared);
        let mut splitter = ListSplitter::new();
        let mut pieces = Vec::new();
        let mut size = Size::default();
        let mut long_item: Option<SemaphorePermit<'_>> = None;
        loop {
            let chunk = tokio::time::timeout(Duration::from_secs(SILENT_SECS), answer.chunk());
            let chunk = match self.unless_interrupted(chunk).await {
                None => return PageEnd::Broken(EndCause::Stopped, String::new()),
                Some(Err(_)) => {
                    let words = format!("silent for {SILENT_SECS} s");
                    return PageEnd::Broken(EndCause::Idle, words);
                }
                Some(Ok(Err(Failure { words, .. }))) => {
                    return PageEnd::Broken(EndCause::Cut, words);
                }
                Some(Ok(Ok(None))) => return PageEnd::Whole(splitter, size),
                Some(Ok(Ok(Some(chunk)))) => chunk,
            };
            let at = shared.now();
            let len = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
            size.bytes = size.bytes.saturating_add(len);
            splitter.push(&chunk, &mut pieces);
            for piece in pieces.drain(..) {
                match piece {
                    ListPiece::Item(item) => {
                        size.items += 1;
                        self.intake.item(&item, at);
                    }
                    ListPiece::Part {
                        bytes, len_so_far, ..
                    } => self.intake.part(&bytes, len_so_far, at),
                }
                self.flush().await;
            }
            if splitter.held() < LONG_ITEM {
                long_item = None;
            } else if long_item.is_none() {
                long_item = shared.long_lines.acquire().await.ok();
            }
        }
    }
}
