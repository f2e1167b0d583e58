//! Owns a list under way: which objects it showed, how they differ from what was known, and the gap
//! that it closes. Refuses to move the position before the list is complete.

use super::{Goal, Output, Position, Step, Stream};
use crate::watch::head::Head;
use crate::watch::known::Uid;
use crate::watch::version::Version;
use kubereel_format::{
    AnomalyKind, EventType, Evidence, GapCause, ListMethod, MAX_LIST_PAGE, Stamp,
};
use std::cmp::Ordering;

/// How many bytes a page should have at most.
const PAGE_BYTES: u64 = 4 * 1024 * 1024;

/// The smallest page that is asked for.
const MIN_PAGE: u32 = 10;

/// How often a streamed list may break before pages are asked for.
const MAX_BROKEN_STREAMS: u8 = 3;

/// How long to wait for a list that can be used, in milliseconds.
const UNUSABLE_LIST_MILLIS: u64 = 60_000;

/// A list under way.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) method: ListMethod,
    version: Option<Version>,
    pub(super) token: Option<String>,
    objects: u64,
    /// The versions it showed that are later than the position.
    later: u64,
    differences: u64,
    /// Not every item could be read, so that absence proves nothing.
    has_unreadable: bool,
    pub(super) broken_streams: u8,
}

/// The end of one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    /// The list's version; empty if it has none.
    pub(crate) version: &'a str,
    /// The token for the next page; empty on the last.
    pub(crate) token: &'a str,
    /// How many bytes the page had.
    pub(crate) bytes: u64,
    /// How many items it had.
    pub(crate) items: u64,
}

impl Stream {
    pub(super) fn list_step(&mut self) -> Step {
        self.begin_review();
        let method = if self.traits.can_watch_list {
            ListMethod::WatchList
        } else {
            ListMethod::Pages
        };
        let (broken_streams, differences) = self
            .listing
            .as_ref()
            .map_or((0, 0), |list| (list.broken_streams, list.differences));
        let goes_on = self
            .listing
            .as_ref()
            .is_some_and(|list| list.token.is_some() && list.method == method);
        if !goes_on {
            self.known.begin_list();
            self.listing = Some(Listing {
                method,
                version: None,
                token: None,
                objects: 0,
                later: 0,
                differences,
                has_unreadable: false,
                broken_streams,
            });
        }
        if method == ListMethod::WatchList {
            return Step::WatchList {
                timeout_secs: self.long_watch_secs(),
            };
        }
        Step::Page {
            limit: Some(self.page_limit),
            token: self.listing.as_ref().and_then(|list| list.token.clone()),
        }
    }

    /// An object of the list came: an item of a page, or an ADDED before the end of the initial
    /// objects.
    pub(crate) fn item(&mut self, head: &Head<'_>, at: Stamp, out: &mut Vec<Output>) {
        self.hear(at, out);
        let version = Version::parse(&head.version);
        if head.name.is_empty() {
            out.push(Output::Anomaly {
                kind: AnomalyKind::Nameless,
                detail: String::new(),
            });
        }
        let is_first = self.goal == Goal::List(None);
        let is_later = match (&version, &self.position) {
            (Some(version), Some(position)) => {
                version.order(&position.version) == Some(Ordering::Greater)
            }
            _ => false,
        };
        let mut differences = 0;
        match self.known.get(&head.namespace, &head.name).cloned() {
            Some(old) if old.uid.text() == head.uid => {
                if old.version == version {
                    self.known.mark(&head.namespace, &head.name);
                } else {
                    differences = 1;
                    self.remember(&head.namespace, &head.name, Some(&old));
                    out.push(write(EventType::Modified, Evidence::Listed));
                    self.known
                        .put(&head.namespace, &head.name, old.uid, version);
                }
            }
            old => {
                self.remember(&head.namespace, &head.name, old.as_ref());
                if let Some(object) = old {
                    differences += 1;
                    out.push(Output::Infer {
                        namespace: head.namespace.to_string(),
                        name: head.name.to_string(),
                        object,
                        version: head.version.to_string(),
                    });
                }
                differences += 1;
                let evidence = if is_first {
                    Evidence::Initial
                } else {
                    Evidence::Listed
                };
                out.push(write(EventType::Added, evidence));
                let uid = Uid::new(&head.uid);
                self.known.put(&head.namespace, &head.name, uid, version);
            }
        }
        if let Some(listing) = &mut self.listing {
            listing.objects += 1;
            listing.later += u64::from(is_later);
            listing.differences += differences;
        }
    }

    /// Something of the list could not be read: what it does not show may still be there.
    pub(crate) fn unreadable_item(&mut self) {
        if let Some(listing) = &mut self.listing {
            listing.has_unreadable = true;
        }
        self.spoil_review();
    }

    /// A page has ended in order.
    pub(crate) fn page(&mut self, page: Page<'_>, at: Stamp, out: &mut Vec<Output>) {
        self.hear(at, out);
        self.adapt_limit(page);
        let Some(listing) = &mut self.listing else {
            return;
        };
        // Every page is of the first one's snapshot.
        if listing.version.is_none() {
            listing.version = Version::parse(page.version);
        }
        if !page.token.is_empty() {
            listing.token = Some(page.token.to_owned());
            return;
        }
        match listing.version.take() {
            Some(version) => self.finish_list(version, at, out),
            None => self.unusable_list(at, out),
        }
    }

    fn unusable_list(&mut self, at: Stamp, out: &mut Vec<Output>) {
        self.listing = None;
        self.not_covered(
            kubereel_format::NotCoveredReason::Failing,
            "its lists have no resourceVersion",
            out,
        );
        self.backoff.delay(at.elapsed, UNUSABLE_LIST_MILLIS);
    }

    fn adapt_limit(&mut self, page: Page<'_>) {
        let Some(per_item) = page.bytes.checked_div(page.items) else {
            return;
        };
        let fitting = PAGE_BYTES / per_item.max(1);
        let fitting = u32::try_from(fitting).unwrap_or(MAX_LIST_PAGE);
        self.page_limit = fitting.clamp(MIN_PAGE, MAX_LIST_PAGE);
    }

    /// The list is complete as of `version`.
    pub(super) fn finish_list(&mut self, version: Version, at: Stamp, out: &mut Vec<Output>) {
        let Some(mut listing) = self.listing.take() else {
            return;
        };
        let text = version.to_string();
        if !listing.has_unreadable {
            for (namespace, name, object) in self.known.take_unseen() {
                self.remember(&namespace, &name, Some(&object));
                listing.differences += 1;
                out.push(Output::Infer {
                    namespace,
                    name,
                    object,
                    version: text.clone(),
                });
            }
        }
        let before = self.position.take();
        if let Goal::List(Some(cause)) = self.goal {
            self.declare_gap(before.as_ref(), &version, cause, &listing, at, out);
        }
        out.push(Output::Synced {
            version: text,
            method: listing.method,
            objects: listing.objects,
        });
        self.connection.highest = version.number();
        self.position = Some(Position {
            version,
            at: at.wall,
        });
        self.goal = Goal::Watch;
        self.deleted_here.clear();
        self.expiry = None;
        self.unreadable_at = None;
        self.is_reopened = false;
        self.was_unavailable = false;
        self.short_watches = 0;
        self.backoff.reset();
    }

    fn declare_gap(
        &mut self,
        before: Option<&Position>,
        version: &Version,
        cause: GapCause,
        listing: &Listing,
        at: Stamp,
        out: &mut Vec<Output>,
    ) {
        let distance = before.and_then(|before| {
            let to = version.number()?;
            to.checked_sub(before.version.number()?)
        });
        let has_fallen =
            before.is_some_and(|before| version.order(&before.version) == Some(Ordering::Less));
        let cause = if has_fallen {
            out.push(Output::VersionFell);
            GapCause::NewEpoch
        } else {
            cause
        };
        let review = self.end_review(cause);
        // Where many deletions share a version, versions bound nothing.
        let missing_at_most = distance
            .filter(|_| self.traits.is_cached && cause != GapCause::NewEpoch)
            .and_then(|distance| u64::try_from(distance).ok())
            .map(|distance| distance.saturating_sub(listing.later));
        out.push(Output::Gap {
            // Of deletions that share the position's version, some may be missing.
            from: before.map(|before| self.resume_from(&before.version).to_string()),
            to: version.to_string(),
            from_time: before.map_or(at.wall, |before| before.at),
            to_time: at.wall,
            cause,
            missing_at_most,
            differences: listing.differences,
            review: review.filter(|_| !has_fallen),
        });
    }

    /// A streamed list broke off. What it showed is recorded; it begins again.
    pub(super) fn break_list(&mut self, was_silent: bool) {
        let Some(listing) = &mut self.listing else {
            return;
        };
        listing.token = None;
        if listing.method == ListMethod::WatchList {
            listing.broken_streams = listing.broken_streams.saturating_add(1);
            if was_silent || listing.broken_streams >= MAX_BROKEN_STREAMS {
                self.traits.can_watch_list = false;
            }
        }
    }

    /// The server does not stream lists.
    pub(super) fn use_pages(&mut self) {
        self.traits.can_watch_list = false;
    }

    /// The snapshot behind the pages is gone; larger pages need fewer of them.
    pub(super) fn restart_pages(&mut self) {
        if let Some(listing) = &mut self.listing {
            listing.token = None;
        }
        self.page_limit = self.page_limit.saturating_mul(4).min(MAX_LIST_PAGE);
    }
}

fn write(kind: EventType, evidence: Evidence) -> Output {
    Output::Write {
        kind,
        evidence,
        uid: None,
    }
}
