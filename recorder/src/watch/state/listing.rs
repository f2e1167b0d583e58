//! The list of a resource: how it is requested, and what of it has been read.
//!
//! Invariants:
//! * All pages of a list are of the snapshot of the first one: the version of the list is that of
//!   its first page.
//! * A list that broke off starts again. Its objects are recorded, so the differences that they
//!   showed count for the list that completes it.

use crate::version::ResourceVersion;
use kubereel_format::{ListMethod, MAX_LIST_PAGE};

/// The bytes of a page at most.
const PAGE_BYTES: u64 = 4 * 1024 * 1024;

/// The smallest page limit.
const MIN_PAGE: u32 = 10;

/// How often a streamed list may break before pages are requested.
const MAX_BROKEN_STREAMS: u8 = 3;

/// The end of one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListPage<'a> {
    /// The version of the list; empty if the server sent none.
    pub(crate) version: &'a str,
    /// The continue token; empty on the last page.
    pub(crate) token: &'a str,
    /// The bytes of the page.
    pub(crate) bytes: u64,
    /// The items of the page.
    pub(crate) items: u64,
}

/// What the end of a page means for its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PageVerdict {
    /// Another page follows.
    Continues,
    /// The list is complete as of this version.
    Complete(ResourceVersion),
    /// The list has no version.
    Unusable,
}

/// The totals of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListTotals {
    pub(super) method: ListMethod,
    pub(super) objects: u64,
    /// How many of the objects have a version after the position.
    pub(super) later: u64,
    /// How many differences from the known objects were written.
    pub(super) differences: u64,
    /// Some item could not be read, so an absent object may still exist.
    pub(super) has_unreadable: bool,
}

/// A list that is being read.
#[derive(Debug)]
struct ListProgress {
    totals: ListTotals,
    version: Option<ResourceVersion>,
    token: Option<String>,
    broken_streams: u8,
}

/// The lists of one resource.
#[derive(Debug)]
pub(super) struct ListReading {
    /// Whether the server streams lists.
    can_stream: bool,
    page_limit: u32,
    progress: Option<ListProgress>,
}

impl ListReading {
    /// Creates the state without a list.
    pub(super) const fn new(can_stream: bool) -> Self {
        Self {
            can_stream,
            page_limit: MAX_LIST_PAGE,
            progress: None,
        }
    }

    /// Returns whether a list is being read.
    pub(super) const fn is_open(&self) -> bool {
        self.progress.is_some()
    }

    /// Returns whether a list is being read as a stream.
    pub(super) const fn is_streaming(&self) -> bool {
        self.can_stream && self.is_open()
    }

    /// Continues the list after its last page, or begins it: returns whether it begins.
    pub(super) fn begin(&mut self) -> bool {
        let method = if self.can_stream {
            ListMethod::WatchList
        } else {
            ListMethod::Pages
        };
        let before = self.progress.take();
        let continues = before
            .as_ref()
            .is_some_and(|list| list.token.is_some() && list.totals.method == method);
        if continues {
            self.progress = before;
            return false;
        }
        let (broken_streams, differences) = before.map_or((0, 0), |list| {
            (list.broken_streams, list.totals.differences)
        });
        self.progress = Some(ListProgress {
            totals: ListTotals {
                method,
                objects: 0,
                later: 0,
                differences,
                has_unreadable: false,
            },
            version: None,
            token: None,
            broken_streams,
        });
        true
    }

    /// Returns the limit and the token of the next page; `None` if the list is streamed.
    pub(super) fn next_page(&self) -> Option<(u32, Option<String>)> {
        let token = || self.progress.as_ref()?.token.clone();
        (!self.can_stream).then(|| (self.page_limit, token()))
    }

    /// Counts an object of the list.
    pub(super) fn count(&mut self, is_later: bool, differences: u64) {
        if let Some(list) = &mut self.progress {
            list.totals.objects += 1;
            list.totals.later += u64::from(is_later);
            list.totals.differences += differences;
        }
    }

    /// A part of the list could not be read.
    pub(super) const fn unreadable(&mut self) {
        if let Some(list) = &mut self.progress {
            list.totals.has_unreadable = true;
        }
    }

    /// A page ended in order.
    pub(super) fn page_ended(&mut self, page: ListPage<'_>) -> PageVerdict {
        self.adapt_limit(page);
        let Some(list) = &mut self.progress else {
            return PageVerdict::Continues;
        };
        if list.version.is_none() {
            list.version = ResourceVersion::parse(page.version);
        }
        if !page.token.is_empty() {
            list.token = Some(page.token.to_owned());
            return PageVerdict::Continues;
        }
        let version = list.version.take();
        version.map_or(PageVerdict::Unusable, PageVerdict::Complete)
    }

    fn adapt_limit(&mut self, page: ListPage<'_>) {
        let Some(per_item) = page.bytes.checked_div(page.items) else {
            return;
        };
        let fitting = PAGE_BYTES / per_item.max(1);
        let fitting = u32::try_from(fitting).unwrap_or(MAX_LIST_PAGE);
        self.page_limit = fitting.clamp(MIN_PAGE, MAX_LIST_PAGE);
    }

    /// Ends the list, complete or not, and returns its totals.
    pub(super) fn end(&mut self) -> Option<ListTotals> {
        self.progress.take().map(|list| list.totals)
    }

    /// The list broke off. Its objects are recorded; the list starts again.
    pub(super) fn broke_off(&mut self, was_silent: bool) {
        let Some(list) = &mut self.progress else {
            return;
        };
        list.token = None;
        if list.totals.method == ListMethod::WatchList {
            list.broken_streams = list.broken_streams.saturating_add(1);
            if was_silent || list.broken_streams >= MAX_BROKEN_STREAMS {
                self.use_pages();
            }
        }
    }

    /// The server does not stream lists.
    pub(super) const fn use_pages(&mut self) {
        self.can_stream = false;
    }

    /// The snapshot behind the pages was compacted. Larger pages need fewer requests, so the next
    /// attempt is quicker.
    pub(super) fn snapshot_expired(&mut self) {
        if let Some(list) = &mut self.progress {
            list.token = None;
        }
        self.page_limit = self.page_limit.saturating_mul(4).min(MAX_LIST_PAGE);
    }
}
