//! A page of a list that is read, each item as it arrives.
//!
//! Invariants:
//! * An item that is longer than [`LONG_ITEM`] is read on only with a permit.
//! * A page is whole only if its JSON is: a cut may look like a clean end.

use crate::number::len64;
use crate::server::{Failure, HttpAnswer};
use crate::watch::state::ListPage;
use crate::wire::{ListMeta, ListPiece, ListSplitter};
use kubereel_format::EndCause;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// The longest silence of a page, in seconds.
const SILENT_SECS: u64 = 60;

/// An item of more bytes than this needs a permit before more of it is read.
const LONG_ITEM: usize = 2 * 1024 * 1024;

/// A page that is read.
pub(super) struct PageReading<'p> {
    answer: HttpAnswer,
    splitter: ListSplitter,
    bytes: u64,
    items: u64,
    permits: &'p Semaphore,
    long_item: Option<SemaphorePermit<'p>>,
}

/// A page that was read whole.
pub(super) struct WholePage {
    meta: ListMeta,
    bytes: u64,
    items: u64,
}

impl WholePage {
    /// Returns the end of the page.
    pub(super) fn end(&self) -> ListPage<'_> {
        ListPage {
            version: &self.meta.version,
            token: &self.meta.token,
            bytes: self.bytes,
            items: self.items,
        }
    }
}

/// How a page ended.
pub(super) enum PageEnd {
    /// In order.
    Whole(WholePage),
    /// In the middle.
    Broken(EndCause, String),
}

impl<'p> PageReading<'p> {
    pub(super) fn new(answer: HttpAnswer, permits: &'p Semaphore) -> Self {
        Self {
            answer,
            splitter: ListSplitter::new(),
            bytes: 0,
            items: 0,
            permits,
            long_item: None,
        }
    }

    /// Waits for bytes, and adds their pieces; returns the end of the page if it has ended.
    pub(super) async fn next(&mut self, pieces: &mut Vec<ListPiece>) -> Option<PageEnd> {
        if self.splitter.buffered() < LONG_ITEM {
            self.long_item = None;
        } else if self.long_item.is_none() {
            self.long_item = self.permits.acquire().await.ok();
        }
        let silence = Duration::from_secs(SILENT_SECS);
        let chunk = match timeout(silence, self.answer.chunk()).await {
            Ok(Ok(Some(chunk))) => chunk,
            Ok(Ok(None)) => return Some(self.end()),
            Ok(Err(Failure { words, .. })) => return Some(PageEnd::Broken(EndCause::Cut, words)),
            Err(_) => {
                let words = format!("silent for {SILENT_SECS} s");
                return Some(PageEnd::Broken(EndCause::Idle, words));
            }
        };
        self.bytes = self.bytes.saturating_add(len64(chunk.len()));
        let before = pieces.len();
        self.splitter.push(&chunk, pieces);
        let new = pieces.iter().skip(before);
        let items = new.filter(|piece| matches!(piece, ListPiece::Item(_)));
        self.items += len64(items.count());
        None
    }

    fn end(&mut self) -> PageEnd {
        match std::mem::replace(&mut self.splitter, ListSplitter::new()).finish() {
            Some(meta) => PageEnd::Whole(WholePage {
                meta,
                bytes: self.bytes,
                items: self.items,
            }),
            None => PageEnd::Broken(
                EndCause::Unreadable,
                "the answer is not a complete list".to_owned(),
            ),
        }
    }
}
