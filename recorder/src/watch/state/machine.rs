//! The state of one resource's watch and its transitions.
//!
//! The parent module lists the invariants. The transitions are grouped by what they handle: lists,
//! watches, refusals and ends, the second connection, and gaps. Each group begins with the rule
//! that it maintains.

use crate::known::{KnownObject, KnownObjects, Uid};
use crate::number::len64;
use crate::version::ResourceVersion;
use crate::watch::state::backoff::{Backoff, LONGEST_MILLIS};
use crate::watch::state::output::{GapBefore, GapReview, WatchOutput, WatchStep};
use crate::wire::ObjectHead;
use kubereel_format::{
    AnomalyKind, Elapsed, EndCause, EventType, Evidence, GapCause, ListMethod, MAX_LIST_PAGE,
    NotCoveredReason, RecordedAt, Stamp,
};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

/// How the server of a resource behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerTraits {
    /// Whether the resource is served from a watch cache: then bookmarks arrive, and no two changes
    /// share a version.
    ///
    /// `events` is not: Events expire in bulk, so that many deletions have one version.
    pub(crate) is_cached: bool,
    /// Whether the server's version streams lists.
    pub(crate) can_watch_list: bool,
}

/// The end of an unbroken chain of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchPosition {
    /// The last version that was received or proven.
    pub(crate) version: ResourceVersion,
    /// When data was last received.
    pub(crate) at: RecordedAt,
}

/// The state of a resource at the start of its stream, and what is left at its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResumeState {
    /// The position of the recording, if it ever was complete.
    pub(crate) position: Option<WatchPosition>,
    /// The objects that were live at the position.
    pub(crate) known: KnownObjects,
    /// The objects that are known to be deleted at exactly the version of the position.
    pub(crate) deleted_here: Vec<Uid>,
    /// The events that an earlier run had read back of a gap before it was killed.
    pub(crate) read_back: ReadBefore,
}

/// Events that were read back and written before their gap was noted: uid, version, and whether it
/// is a deletion.
pub(crate) type ReadBefore = BTreeSet<(Box<str>, Box<str>, bool)>;

/// Why a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchOrigin {
    /// The resource appeared in this run, or was found at its start.
    Fresh,
    /// An earlier run recorded it.
    Reopened,
    /// An earlier run recorded another cluster, or an older state of this one.
    NewEpoch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchGoal {
    /// The next request is a list; with a cause, the time before it is a gap.
    List(Option<GapCause>),
    /// The next request is a watch from the position.
    Watch,
}

/// The state of the current connection.
#[derive(Clone, Copy, Debug, Default)]
struct ConnectionProgress {
    opened: Option<Elapsed>,
    requested_secs: u32,
    has_received: bool,
    highest: Option<u128>,
    /// The highest version of an event or a bookmark on it, also of those that were recorded
    /// already.
    reached: Option<u128>,
    has_reported_unusable: bool,
}

/// One resource's stream.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and none excludes another"
)]
pub(crate) struct WatchState {
    traits: ServerTraits,
    known: KnownObjects,
    position: Option<WatchPosition>,
    /// The objects deleted at exactly the version of the position.
    deleted_here: Vec<Uid>,
    goal: WatchGoal,
    listing: Option<ListProgress>,
    /// The objects as they were before the gap that the list will end.
    before: Option<GapBefore>,
    connection: ConnectionProgress,
    /// The successor of the current connection.
    successor: Option<SuccessorProgress>,
    /// The data at hand comes from the successor: the two have changed places.
    is_on_successor: bool,
    /// The events written since two connections may deliver the same events.
    seen: Option<RecordedEvents>,
    successor_backoff: Backoff,
    /// An event without a numeric version arrived: duplicates of it cannot be recognized.
    has_unusable: bool,
    /// The shortest requested duration of a watch, in seconds, unless there is a reason for a short
    /// one.
    long_secs: u32,
    backoff: Backoff,
    expiry: Option<HistoryExpiry>,
    /// No recorder ran between the position and now.
    is_reopened: bool,
    uncovered: Option<NotCoveredReason>,
    was_unavailable: bool,
    failing_since: Option<Elapsed>,
    unreadable_at: Option<ResourceVersion>,
    /// When an unreadable line last led to a list.
    unreadable_listed: Option<Elapsed>,
    /// The last watch ended in order, and since then the server has answered nothing but 404.
    ended_in_order: bool,
    /// The number of short watches that must end in order before long ones are requested.
    short_watches: u8,
    silent_idles: u8,
    page_limit: u32,
}

impl WatchState {
    /// Creates a stream. `seed` makes its delays differ from those of other streams.
    pub(crate) fn new(
        traits: ServerTraits,
        memory: ResumeState,
        origin: WatchOrigin,
        seed: u64,
    ) -> Self {
        // A resource that ended without objects and appears again starts from nothing: a resume
        // from the old position would claim an unbroken chain over a time in which it was not
        // served.
        let memory = if origin == WatchOrigin::Fresh && memory.known.is_empty() {
            ResumeState::default()
        } else {
            memory
        };
        let has_memory = memory.position.is_some();
        let goal = match origin {
            // Versions of another cluster are not comparable with these: a watch from a future
            // version is answered with 200 and silence, so the position must not be used.
            WatchOrigin::NewEpoch if has_memory => WatchGoal::List(Some(GapCause::NewEpoch)),
            WatchOrigin::Fresh | WatchOrigin::Reopened if has_memory => WatchGoal::Watch,
            WatchOrigin::Fresh | WatchOrigin::Reopened | WatchOrigin::NewEpoch => {
                WatchGoal::List(None)
            }
        };
        Self {
            traits,
            known: memory.known,
            position: memory.position,
            // With a watch cache no two deletions share a version, so the position alone says what
            // was delivered.
            deleted_here: if traits.is_cached {
                Vec::new()
            } else {
                memory.deleted_here
            },
            goal,
            listing: None,
            before: None,
            connection: ConnectionProgress::default(),
            successor: None,
            is_on_successor: false,
            seen: None,
            successor_backoff: Backoff::new(seed.rotate_left(32)),
            has_unusable: false,
            long_secs: LONG_SECS,
            backoff: Backoff::new(seed),
            expiry: None,
            is_reopened: origin == WatchOrigin::Reopened,
            uncovered: None,
            was_unavailable: origin == WatchOrigin::Fresh && has_memory,
            failing_since: None,
            unreadable_at: None,
            unreadable_listed: None,
            ended_in_order: false,
            // A resumed position may be old. A short watch gets a bookmark within seconds, before
            // compaction takes the history after the position.
            short_watches: if has_memory { SHORT_WATCHES } else { 0 },
            silent_idles: 0,
            page_limit: MAX_LIST_PAGE,
        }
    }

    /// Returns the next request, or how long to wait.
    pub(crate) fn step(&mut self, now: Elapsed) -> WatchStep {
        if let Some(micros) = self.backoff.remaining(now) {
            return WatchStep::Wait { micros };
        }
        match (self.goal, &self.position) {
            (WatchGoal::Watch, Some(position)) => WatchStep::Watch {
                from: self.resume_from(&position.version),
                timeout_secs: self.watch_secs(),
            },
            (WatchGoal::Watch, None) => {
                // Without a position there is nothing to resume from: only a list gives the state.
                self.goal = WatchGoal::List(None);
                self.list_step()
            }
            (WatchGoal::List(_), _) => self.list_step(),
        }
    }

    /// Returns the version from which a watch resumes.
    ///
    /// If deletions share the version of the position, some of them may still be missing: the watch
    /// resumes one version earlier.
    fn resume_from(&self, version: &ResourceVersion) -> ResourceVersion {
        if self.deleted_here.is_empty() {
            return version.clone();
        }
        version.previous().unwrap_or_else(|| version.clone())
    }

    /// A request succeeded at `now`; it asked for `requested_secs`.
    pub(crate) fn answered(
        &mut self,
        now: Elapsed,
        requested_secs: u32,
        out: &mut Vec<WatchOutput>,
    ) {
        self.connection = ConnectionProgress {
            opened: Some(now),
            requested_secs,
            ..ConnectionProgress::default()
        };
        // The connection begins at the position, so it does not repeat recorded events.
        self.seen = None;
        self.successor = None;
        if self.uncovered.take().is_some() {
            self.was_unavailable = true;
            out.push(WatchOutput::CoveredAgain);
        }
    }

    /// Returns how long the current connection may be silent, in seconds.
    pub(crate) fn idle_secs(&self) -> u32 {
        if self.listing.is_some() {
            return LIST_IDLE_SECS;
        }
        // A half-open connection stays silent for ever. Bookmarks bound the silence of a live one;
        // without them only the requested duration does.
        if self.traits.is_cached && self.silent_idles < MAX_SILENT_IDLES {
            return IDLE_SECS;
        }
        self.connection.requested_secs.saturating_add(GRACE_SECS)
    }

    /// The cluster is another one, or an older state of it: no position of before is valid.
    pub(crate) fn new_epoch(&mut self) {
        if self.position.is_some() {
            self.goal = WatchGoal::List(Some(GapCause::NewEpoch));
        }
        self.listing = None;
        self.before = None;
        self.expiry = None;
        self.deleted_here.clear();
        self.seen = None;
        self.successor = None;
        self.backoff.reset();
    }

    /// Returns the live objects.
    pub(crate) const fn known(&self) -> &KnownObjects {
        &self.known
    }

    /// Returns the position.
    pub(crate) fn position(&self) -> Option<&WatchPosition> {
        self.position.as_ref()
    }

    /// Returns whether the chain is unbroken up to the present.
    pub(crate) fn is_synced(&self) -> bool {
        self.goal == WatchGoal::Watch && self.position.is_some()
    }

    /// Returns whether the recording follows the resource: the chain is unbroken, and the server
    /// answers a watch.
    pub(crate) fn is_following(&self) -> bool {
        self.is_synced() && self.connection.opened.is_some()
    }

    /// Returns whether a list is due or being read.
    pub(crate) fn wants_list(&self) -> bool {
        !self.is_synced()
    }

    /// Returns whether the resource cannot be recorded for now.
    pub(crate) fn is_uncovered(&self) -> bool {
        self.uncovered.is_some()
    }

    /// The resource is no longer served, as of a version of the cluster.
    ///
    /// If the chain does not reach that version, the rest is a gap.
    pub(crate) fn gone(
        &mut self,
        version: &ResourceVersion,
        at: Stamp,
        out: &mut Vec<WatchOutput>,
    ) {
        let Some(position) = self.position.take() else {
            return;
        };
        // Nothing existed that could have changed, and the last watch ended in order: the server
        // ended it because it no longer serves the resource.
        if self.known.is_empty() && self.ended_in_order {
            return;
        }
        self.known.begin_list();
        let vanished = self.known.take_unseen();
        let differences = len64(vanished.len());
        for (namespace, name, object) in vanished {
            out.push(WatchOutput::Infer {
                namespace,
                name,
                object,
                version: version.to_string(),
            });
        }
        let distance = version
            .number()
            .zip(position.version.number())
            .and_then(|(to, from)| u64::try_from(to.checked_sub(from)?).ok());
        out.push(WatchOutput::Gap {
            from: Some(position.version.to_string()),
            to: version.to_string(),
            from_time: position.at,
            to_time: at.wall,
            cause: GapCause::Unavailable,
            missing_at_most: distance.filter(|_| self.traits.is_cached),
            differences,
            review: None,
        });
    }

    /// Ends the stream and returns the state for a later one.
    pub(crate) fn into_memory(self) -> ResumeState {
        ResumeState {
            position: self.position,
            known: self.known,
            deleted_here: self.deleted_here,
            read_back: ReadBefore::new(),
        }
    }

    /// Data arrived on the current connection.
    fn note_received(&mut self, at: Stamp, out: &mut Vec<WatchOutput>) {
        self.connection.has_received = true;
        if self.listing.is_none() {
            // During a list, data does not reset the delay: a list that always breaks off after its
            // first item is a failing one.
            self.backoff.reset();
        }
        self.failing_since = None;
        if self.goal == WatchGoal::Watch {
            if let Some(position) = &mut self.position {
                // The end of the connection bounds a later gap: everything up to the last received
                // byte was observed.
                position.at = at.wall;
            }
            self.is_reopened = false;
            self.was_unavailable = false;
            if let Some(expiry) = self.expiry.take() {
                out.push(WatchOutput::HistoryFound {
                    tries: expiry.tries,
                });
            }
        }
    }
}

/// The shortest duration of a long watch, in seconds.
pub(crate) const LONG_SECS: u32 = 240;

/// How many short watches follow an end that was not in order.
///
/// A server sends a bookmark shortly before the end of a watch. A short watch therefore updates the
/// position of a quiet resource before the next server restarts.
const SHORT_WATCHES: u8 = 2;

/// The longest silence of a streamed list, in seconds; after it the server is taken for one that
/// does not stream lists.
const LIST_IDLE_SECS: u32 = 30;

/// The longest silence of a watch with bookmarks, in seconds: the server sends one about every
/// minute.
const IDLE_SECS: u32 = 90;

/// How many silences in a row show that a resource has no bookmarks.
const MAX_SILENT_IDLES: u8 = 2;

/// How long a watch may last beyond its requested duration, in seconds.
const GRACE_SECS: u32 = 20;

/// The bytes of a page at most.
const PAGE_BYTES: u64 = 4 * 1024 * 1024;

/// The smallest page limit.
const MIN_PAGE: u32 = 10;

/// How often a streamed list may break before pages are requested.
const MAX_BROKEN_STREAMS: u8 = 3;

/// The delay after a list that cannot be used, in milliseconds.
const UNUSABLE_LIST_MILLIS: u64 = 60_000;

/// A list that is being read.
#[derive(Debug)]
struct ListProgress {
    method: ListMethod,
    version: Option<ResourceVersion>,
    token: Option<String>,
    objects: u64,
    /// How many of its objects have a version after the position.
    later: u64,
    differences: u64,
    /// Some item could not be read, so an absent object may still exist.
    has_unreadable: bool,
    broken_streams: u8,
}

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

// Lists. Each object of a list is written at once. The position moves when the list is complete,
// never before: a list that breaks off must not count as the end of a chain.
impl WatchState {
    fn list_step(&mut self) -> WatchStep {
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
        let continues = self
            .listing
            .as_ref()
            .is_some_and(|list| list.token.is_some() && list.method == method);
        if !continues {
            self.known.begin_list();
            self.listing = Some(ListProgress {
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
            return WatchStep::WatchList {
                timeout_secs: self.long_watch_secs(),
            };
        }
        WatchStep::Page {
            limit: Some(self.page_limit),
            token: self.listing.as_ref().and_then(|list| list.token.clone()),
        }
    }

    /// An object of the list arrived: an item of a page, or an ADDED event before the end of the
    /// initial events.
    pub(crate) fn item(&mut self, head: &ObjectHead<'_>, at: Stamp, out: &mut Vec<WatchOutput>) {
        self.note_received(at, out);
        let version = ResourceVersion::parse(&head.version);
        if head.name.is_empty() {
            out.push(WatchOutput::Anomaly {
                kind: AnomalyKind::Nameless,
                detail: String::new(),
            });
        }
        let is_first = self.goal == WatchGoal::List(None);
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
                    out.push(WatchOutput::Infer {
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
            // Each object with a later version explains one revision after the position.
            // `declare_gap` subtracts them from the bound of missing changes.
            listing.later += u64::from(is_later);
            listing.differences += differences;
        }
    }

    /// A part of the list could not be read: an object that the list does not show may still exist.
    pub(crate) fn unreadable_item(&mut self) {
        if let Some(listing) = &mut self.listing {
            listing.has_unreadable = true;
        }
        self.spoil_review();
    }

    /// A page ended in order.
    pub(crate) fn page(&mut self, page: ListPage<'_>, at: Stamp, out: &mut Vec<WatchOutput>) {
        self.note_received(at, out);
        self.adapt_limit(page);
        let Some(listing) = &mut self.listing else {
            return;
        };
        // All pages are of the snapshot of the first one.
        if listing.version.is_none() {
            listing.version = ResourceVersion::parse(page.version);
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

    fn unusable_list(&mut self, at: Stamp, out: &mut Vec<WatchOutput>) {
        self.listing = None;
        self.not_covered(
            NotCoveredReason::Failing,
            "its lists have no resourceVersion",
            out,
        );
        self.backoff.delay(at.elapsed, UNUSABLE_LIST_MILLIS);
    }

    fn adapt_limit(&mut self, page: ListPage<'_>) {
        let Some(per_item) = page.bytes.checked_div(page.items) else {
            return;
        };
        let fitting = PAGE_BYTES / per_item.max(1);
        let fitting = u32::try_from(fitting).unwrap_or(MAX_LIST_PAGE);
        self.page_limit = fitting.clamp(MIN_PAGE, MAX_LIST_PAGE);
    }

    /// The list is complete as of `version`.
    fn finish_list(&mut self, version: ResourceVersion, at: Stamp, out: &mut Vec<WatchOutput>) {
        let Some(mut listing) = self.listing.take() else {
            return;
        };
        let text = version.to_string();
        // Absence from the list proves a deletion only if every item was read.
        if !listing.has_unreadable {
            for (namespace, name, object) in self.known.take_unseen() {
                self.remember(&namespace, &name, Some(&object));
                listing.differences += 1;
                out.push(WatchOutput::Infer {
                    namespace,
                    name,
                    object,
                    version: text.clone(),
                });
            }
        }
        let before = self.position.take();
        if let WatchGoal::List(Some(cause)) = self.goal {
            self.declare_gap(before.as_ref(), &version, cause, &listing, at, out);
        }
        out.push(WatchOutput::Synced {
            version: text,
            method: listing.method,
            objects: listing.objects,
        });
        // The initial ADDED events of a streamed list are synthetic and not in the order of
        // versions: only events after the list must rise.
        self.connection.highest = version.number();
        self.position = Some(WatchPosition {
            version,
            at: at.wall,
        });
        self.goal = WatchGoal::Watch;
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
        before: Option<&WatchPosition>,
        version: &ResourceVersion,
        cause: GapCause,
        listing: &ListProgress,
        at: Stamp,
        out: &mut Vec<WatchOutput>,
    ) {
        let distance = before.and_then(|before| {
            let to = version.number()?;
            to.checked_sub(before.version.number()?)
        });
        let has_fallen =
            before.is_some_and(|before| version.order(&before.version) == Some(Ordering::Less));
        let cause = if has_fallen {
            out.push(WatchOutput::VersionFell);
            GapCause::NewEpoch
        } else {
            cause
        };
        let review = self.end_review(cause);
        // Where deletions share a version, the distance between versions bounds nothing.
        let missing_at_most = distance
            .filter(|_| self.traits.is_cached && cause != GapCause::NewEpoch)
            .and_then(|distance| u64::try_from(distance).ok())
            .map(|distance| distance.saturating_sub(listing.later));
        out.push(WatchOutput::Gap {
            // The gap begins before the position if some deletions of its version may be missing.
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

    /// A streamed list broke off. Its objects are recorded; the list starts again.
    fn break_list(&mut self, was_silent: bool) {
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
    fn use_pages(&mut self) {
        self.traits.can_watch_list = false;
    }

    /// The snapshot behind the pages was compacted. Larger pages need fewer requests, so the next
    /// attempt is quicker.
    fn restart_pages(&mut self) {
        if let Some(listing) = &mut self.listing {
            listing.token = None;
        }
        self.page_limit = self.page_limit.saturating_mul(4).min(MAX_LIST_PAGE);
    }
}

fn write(kind: EventType, evidence: Evidence) -> WatchOutput {
    WatchOutput::Write {
        kind,
        evidence,
        uid: None,
    }
}

// Watches. An event or a bookmark moves the position. An event is written unless exactly this
// version of the object is recorded.
impl WatchState {
    /// An event arrived.
    pub(crate) fn event(
        &mut self,
        kind: EventType,
        head: &ObjectHead<'_>,
        at: Stamp,
        out: &mut Vec<WatchOutput>,
    ) {
        let is_listing = self.listing.is_some();
        if is_listing && kind == EventType::Added {
            // Before the bookmark with `k8s.io/initial-events-end`, ADDED events are the items of
            // the list. Other events are changes during it.
            return self.item(head, at, out);
        }
        self.note_received(at, out);
        let version = ResourceVersion::parse(&head.version);
        let number = version.as_ref().and_then(ResourceVersion::number);
        self.has_unusable |= number.is_none();
        if self.is_on_successor && number.is_none() {
            // Without a numeric version it cannot be recognized as a duplicate. The current
            // connection delivers it too.
            return;
        }
        let old = self.known.get(&head.namespace, &head.name).cloned();
        if is_listing {
            self.remember(&head.namespace, &head.name, old.as_ref());
        }
        if kind != EventType::Deleted {
            self.known.mark(&head.namespace, &head.name);
        }
        // Also an event that is not written proves that its connection has delivered everything
        // before it.
        if self.is_recorded(kind, head, version.as_ref(), old.as_ref()) {
            return self.reach_unless(is_listing, version.as_ref());
        }
        self.check_order(head, version.as_ref(), out);
        let is_current = old.as_ref().is_none_or(|old| {
            old.uid.text() == head.uid || head.uid.is_empty() || is_later(version.as_ref(), old)
        });
        let mut uid = None;
        match (kind, old) {
            (EventType::Deleted, Some(old)) if is_current => {
                if head.uid.is_empty() {
                    uid = Some(old.uid.text());
                }
                infer_replaced(head, old, out);
                self.known.remove(&head.namespace, &head.name);
            }
            (EventType::Added | EventType::Modified, Some(old)) if is_current => {
                let keeps = old.uid.text() == head.uid && !is_later(version.as_ref(), &old);
                if !keeps {
                    infer_replaced(head, old, out);
                    self.keep(head, version.clone());
                }
            }
            (EventType::Added | EventType::Modified, None) => self.keep(head, version.clone()),
            // A late event of an object that was replaced or is unknown: it is written, and the
            // known objects stay as they are.
            (EventType::Deleted | EventType::Added | EventType::Modified, _) => {}
        }
        out.push(WatchOutput::Write {
            kind,
            evidence: Evidence::Live,
            uid,
        });
        if let (false, Some(version)) = (is_listing, version) {
            if let Some(number) = number {
                self.remember_seen(head, number, kind == EventType::Deleted);
            }
            let deleted = (kind == EventType::Deleted).then(|| Uid::new(&head.uid));
            // During a list the position stays: a MODIFIED before the end of the initial events
            // does not prove that the list was complete.
            self.advance(version.clone(), deleted, at);
            self.reach(&version);
        }
    }

    fn reach_unless(&mut self, is_listing: bool, version: Option<&ResourceVersion>) {
        if let (false, Some(version)) = (is_listing, version) {
            self.reach(version);
        }
    }

    fn keep(&mut self, head: &ObjectHead<'_>, version: Option<ResourceVersion>) {
        let uid = Uid::new(&head.uid);
        self.known.put(&head.namespace, &head.name, uid, version);
    }

    /// Returns whether exactly this version of the object is in the file.
    fn is_recorded(
        &self,
        kind: EventType,
        head: &ObjectHead<'_>,
        version: Option<&ResourceVersion>,
        old: Option<&KnownObject>,
    ) -> bool {
        let Some(version) = version else {
            return false;
        };
        if let (Some(seen), Some(number)) = (&self.seen, version.number())
            && seen.has(head, number, kind == EventType::Deleted)
        {
            return true;
        }
        if kind == EventType::Deleted {
            let is_here = self
                .position
                .as_ref()
                .is_some_and(|position| position.version == *version);
            return is_here && self.deleted_here.contains(&Uid::new(&head.uid));
        }
        old.is_some_and(|old| old.uid.text() == head.uid && old.version.as_ref() == Some(version))
    }

    fn check_order(
        &mut self,
        head: &ObjectHead<'_>,
        version: Option<&ResourceVersion>,
        out: &mut Vec<WatchOutput>,
    ) {
        if head.name.is_empty() {
            out.push(WatchOutput::Anomaly {
                kind: AnomalyKind::Nameless,
                detail: format!("resourceVersion {}", head.version),
            });
        }
        let Some(number) = version.and_then(ResourceVersion::number) else {
            // Some servers never send a numeric version: one note for each connection is enough.
            if !self.connection.has_reported_unusable {
                self.connection.has_reported_unusable = true;
                out.push(WatchOutput::Anomaly {
                    kind: AnomalyKind::VersionUnusable,
                    detail: format!("{:?} of {}", head.version, head.name),
                });
            }
            return;
        };
        if self.listing.is_some() {
            return;
        }
        if let Some(highest) = self.connection.highest {
            // Events that expire in bulk share a version. From a watch cache, versions strictly
            // rise.
            let has_risen = number > highest || number == highest && !self.traits.is_cached;
            if !has_risen {
                out.push(WatchOutput::Anomaly {
                    kind: AnomalyKind::VersionNotRising,
                    detail: format!("{number} after {highest}"),
                });
            }
        }
        self.connection.highest = self.connection.highest.max(Some(number));
    }

    fn has_numbers(&self) -> bool {
        let position = self.position.as_ref();
        position.is_some_and(|position| position.version.number().is_some())
    }

    /// The event at hand could not be written: the next version of the object must not count as
    /// recorded.
    pub(crate) fn not_written(&mut self, head: &ObjectHead<'_>) {
        self.known.unwritten(&head.namespace, &head.name);
    }

    /// Moves the position to `version`, unless the position is there or beyond.
    fn advance(&mut self, version: ResourceVersion, deleted: Option<Uid>, at: Stamp) {
        let order = self
            .position
            .as_ref()
            .map(|position| version.order(&position.version));
        match order {
            // A lower version comes from a connection that is behind, or from a server that breaks
            // the order. The chain up to the position stays proven.
            Some(Some(Ordering::Less)) => return,
            // No watch can resume from a version that is not a number.
            Some(None) if version.number().is_none() && self.has_numbers() => return,
            Some(Some(Ordering::Equal)) => {}
            Some(Some(Ordering::Greater) | None) | None => {
                self.deleted_here.clear();
                self.position = Some(WatchPosition {
                    version,
                    at: at.wall,
                });
            }
        }
        // Only without a watch cache can further deletions with this version be missing.
        if let (Some(uid), false) = (deleted, self.traits.is_cached) {
            self.deleted_here.push(uid);
        }
    }

    /// A bookmark arrived.
    pub(crate) fn bookmark(
        &mut self,
        version: &str,
        ends_initial: bool,
        at: Stamp,
        out: &mut Vec<WatchOutput>,
    ) {
        self.note_received(at, out);
        self.silent_idles = 0;
        let Some(version) = ResourceVersion::parse(version) else {
            out.push(WatchOutput::Anomaly {
                kind: AnomalyKind::BookmarkWithoutVersion,
                detail: String::new(),
            });
            return;
        };
        if self.listing.is_some() {
            if ends_initial {
                self.finish_list(version, at, out);
            }
            return;
        }
        out.push(WatchOutput::Bookmark {
            version: version.to_string(),
        });
        self.advance(version.clone(), None, at);
        self.reach(&version);
    }

    /// Takes the version of a list that was read while the current watch ran, and long enough ago.
    /// Where no bookmarks arrive, it replaces a bookmark.
    pub(crate) fn outlived(&mut self, version: &str, at: Stamp) {
        if self.listing.is_some() || self.traits.is_cached {
            return;
        }
        if let Some(version) = ResourceVersion::parse(version) {
            self.advance(version, None, at);
        }
    }
}

fn is_later(version: Option<&ResourceVersion>, old: &KnownObject) -> bool {
    match (version, &old.version) {
        (Some(new), Some(old)) => new
            .order(old)
            .is_none_or(|order| order == Ordering::Greater),
        _ => true,
    }
}

/// Infers the deletion of an object whose name another object has taken, without a DELETED event.
fn infer_replaced(head: &ObjectHead<'_>, old: KnownObject, out: &mut Vec<WatchOutput>) {
    if head.uid.is_empty() || old.uid.text() == head.uid {
        return;
    }
    out.push(WatchOutput::Infer {
        namespace: head.namespace.to_string(),
        name: head.name.to_string(),
        object: old,
        version: head.version.to_string(),
    });
}

/// A failed request, or an ERROR event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerRefusal<'a> {
    /// The status code; 0 if the server sent none.
    pub(crate) code: u16,
    /// The server's Retry-After, in seconds.
    pub(crate) retry_after_secs: Option<u32>,
    /// The server's message.
    pub(crate) message: &'a str,
    /// Whether another server may still have the history.
    pub(crate) others_may_know: bool,
}

/// Consecutive 410 responses.
#[derive(Clone, Copy, Debug)]
struct HistoryExpiry {
    since: Elapsed,
    tries: u32,
}

/// How often, and for how long, a watch is retried after 410.
struct ExpiryPatience {
    tries: u32,
    micros: u64,
}

/// A single server that has lost the history keeps responding with 410.
const ALONE: ExpiryPatience = ExpiryPatience {
    tries: 8,
    micros: 1_000_000,
};

/// With two servers behind one address, each try reaches the other one with even odds: 24 tries
/// miss it once in 16 million times.
const AMONG_OTHERS: ExpiryPatience = ExpiryPatience {
    tries: 24,
    micros: 3_000_000,
};

/// The longest delay between two of these tries, in milliseconds.
const EXPIRED_MILLIS: u64 = 150;

/// The longest Retry-After that is followed, in seconds.
const MAX_RETRY_AFTER_SECS: u32 = 30;

/// How long requests may fail before the resource counts as not covered, in microseconds.
const FAILING_MICROS: u64 = 60_000_000;

/// The delay after a request that is forbidden or not supported, in milliseconds.
const FORBIDDEN_MILLIS: u64 = 30_000;

/// The longest delay between two failing lists, in milliseconds.
const LONGEST_LIST_MILLIS: u64 = 30_000;

/// The longest delay while a resource that was watched is not found, in milliseconds: it must soon
/// be known whether the resource is gone.
const MISSING_MILLIS: u64 = 1_000;

/// How long an unreadable line does not lead to another list after one, in microseconds: what
/// cannot be parsed in a watch cannot be parsed in a list either.
const UNREADABLE_MICROS: u64 = 600_000_000;

/// How many refusals in a row may come from servers that are starting or ending. After that,
/// Retry-After is taken to apply to all servers.
const OTHER_SERVERS: u32 = 4;

/// The delay after a watch that delivered data and ended within a second, in milliseconds.
const SHORT_LIFE_MILLIS: u64 = 50;

/// The shortest life of a watch that counts as established, in microseconds.
const LIVED_MICROS: u64 = 1_000_000;

// Refusals, ends and lost history. Each leads to another request after a delay: no answer ends the
// machine.
impl WatchState {
    /// The server refused the request, or ended the stream with an ERROR event.
    pub(crate) fn refused(
        &mut self,
        refusal: ServerRefusal<'_>,
        now: Elapsed,
        out: &mut Vec<WatchOutput>,
    ) {
        self.connection.opened = None;
        self.ended_in_order &= refusal.code == 404;
        if self.goal == WatchGoal::Watch && refusal.code != 410 {
            self.short_watches = SHORT_WATCHES;
        }
        match refusal.code {
            410 => self.expired(refusal.others_may_know, now),
            // A server that does not stream lists rejects the parameters of the request.
            400 | 422 if self.is_streaming_list() => self.use_pages(),
            // 503 and 504 come from servers that start or are behind, whatever the kind of list:
            // they say nothing about streaming.
            500..=502 | 505..=599 if self.is_streaming_list() => {
                self.break_list(false);
                self.fail(refusal, now, out);
            }
            403 => {
                self.break_list(false);
                self.not_covered(NotCoveredReason::Forbidden, refusal.message, out);
                self.backoff.delay(now, FORBIDDEN_MILLIS);
            }
            405 => {
                self.break_list(false);
                self.not_covered(NotCoveredReason::NoWatch, refusal.message, out);
                self.backoff.delay(now, FORBIDDEN_MILLIS);
            }
            // The server fills its watch cache (429 "storage is (re)initializing"), which takes moments: the
            // delay starts short, whatever Retry-After says.
            429 if refusal.message.contains("initializing") => {
                self.backoff.fail_young(now, LONGEST_LIST_MILLIS);
            }
            _ => self.fail(refusal, now, out),
        }
    }

    fn is_streaming_list(&self) -> bool {
        self.listing.is_some() && self.traits.can_watch_list
    }

    fn fail(&mut self, refusal: ServerRefusal<'_>, now: Elapsed, out: &mut Vec<WatchOutput>) {
        let since = *self.failing_since.get_or_insert(now);
        if now.micros.saturating_sub(since.micros) >= FAILING_MICROS {
            let detail = format!("{} {}", refusal.code, refusal.message);
            self.not_covered(NotCoveredReason::Failing, detail.trim(), out);
        }
        let is_missing = refusal.code == 404;
        if self.position.is_none() {
            // The first objects of a new resource may be written right now: the first retries are
            // quick.
            self.backoff.fail_young(now, LONGEST_LIST_MILLIS);
        } else if is_missing {
            self.backoff.fail_within(now, MISSING_MILLIS);
        } else if self.wants_list() {
            self.backoff.fail_within(now, LONGEST_LIST_MILLIS);
        } else {
            self.backoff.fail_within(now, LONGEST_MILLIS);
        }
        if let Some(secs) = refusal.retry_after_secs
            && !is_missing
            && self.backoff.failures() > OTHER_SERVERS
        {
            // A short Retry-After must not shorten the delay of a list that has failed for long.
            let secs = secs.clamp(1, MAX_RETRY_AFTER_SECS);
            self.backoff.delay_at_least(now, u64::from(secs) * 1_000);
        }
    }

    fn not_covered(&mut self, reason: NotCoveredReason, detail: &str, out: &mut Vec<WatchOutput>) {
        if self.uncovered.replace(reason) != Some(reason) {
            out.push(WatchOutput::NotCovered {
                reason,
                detail: detail.to_owned(),
            });
        }
    }

    /// A server responded 410: the watch is retried on other connections, then the state is listed
    /// again.
    fn expired(&mut self, others_may_know: bool, now: Elapsed) {
        if self.listing.is_some() {
            self.restart_pages();
            self.backoff.fail(now);
            return;
        }
        let expiry = self.expiry.get_or_insert(HistoryExpiry {
            since: now,
            tries: 0,
        });
        expiry.tries = expiry.tries.saturating_add(1);
        let patience = if others_may_know { AMONG_OTHERS } else { ALONE };
        let waited = now.micros.saturating_sub(expiry.since.micros);
        // Only now is the gap declared: retries can still reach a server with the history, and a
        // resumed watch loses nothing.
        if expiry.tries >= patience.tries && waited >= patience.micros {
            self.expiry = None;
            self.goal = WatchGoal::List(Some(self.gap_cause()));
            return;
        }
        // The first retry is immediate: the next connection may reach another server.
        let millis = u64::from(expiry.tries - 1) * 50;
        self.backoff.delay(now, millis.min(EXPIRED_MILLIS));
    }

    fn gap_cause(&self) -> GapCause {
        if self.is_reopened {
            GapCause::RecorderStopped
        } else if self.was_unavailable {
            GapCause::Unavailable
        } else {
            GapCause::Expired
        }
    }

    /// No connection was established.
    pub(crate) fn unreachable(&mut self, now: Elapsed) {
        self.connection.opened = None;
        self.ended_in_order = false;
        self.break_list(false);
        if self.goal == WatchGoal::Watch {
            self.short_watches = SHORT_WATCHES;
        }
        self.backoff.fail(now);
    }

    /// The current connection ended without an ERROR event.
    pub(crate) fn ended(&mut self, cause: EndCause, now: Elapsed) {
        let Some(opened) = self.connection.opened.take() else {
            return;
        };
        self.ended_in_order = cause == EndCause::Clean && self.goal == WatchGoal::Watch;
        if self.listing.is_some() {
            self.break_list(cause == EndCause::Idle);
            self.backoff.fail_within(now, LONGEST_LIST_MILLIS);
            return;
        }
        let lived = now.micros.saturating_sub(opened.micros);
        let asked = u64::from(self.connection.requested_secs).saturating_mul(1_000_000);
        // A server that shuts down ends watches cleanly, but early and without a last bookmark.
        let is_in_order = cause == EndCause::Clean && lived.saturating_add(LIVED_MICROS) >= asked;
        self.short_watches = if is_in_order {
            self.short_watches.saturating_sub(1)
        } else {
            SHORT_WATCHES
        };
        match cause {
            EndCause::Unreadable => return self.unreadable(now),
            EndCause::Idle => self.silent_idles = self.silent_idles.saturating_add(1),
            _ => {}
        }
        if self.connection.has_received || lived >= LIVED_MICROS {
            self.backoff.reset();
            // A watch that lived this long was accepted, so the server has the history after all.
            if self.expiry.is_some() && lived >= 2 * LIVED_MICROS {
                self.expiry = None;
            }
        } else {
            self.backoff.fail(now);
        }
        if lived < LIVED_MICROS && self.backoff.remaining(now).is_none() {
            // A server that ends every watch at once must not be asked in a tight loop.
            self.backoff.delay(now, SHORT_LIFE_MILLIS);
        }
    }

    /// Returns whether the watch continues after an unreadable line: the line was requested again
    /// already, and a list did not help.
    pub(crate) fn passes_unreadable(&mut self, now: Elapsed) -> bool {
        let here = self.position.as_ref().map(|position| &position.version);
        let was_requested_again = here.is_some() && self.unreadable_at.as_ref() == here;
        let was_listed = self
            .unreadable_listed
            .is_some_and(|listed| now.micros.saturating_sub(listed.micros) < UNREADABLE_MICROS);
        self.listing.is_none() && was_requested_again && was_listed
    }

    /// A line could not be parsed. It is requested once more; if it fails again, the chain is
    /// broken and the state is listed.
    fn unreadable(&mut self, now: Elapsed) {
        let here = self.position.as_ref().map(|position| &position.version);
        if here.is_some() && self.unreadable_at.as_ref() == here {
            self.unreadable_listed = Some(now);
            self.goal = WatchGoal::List(Some(GapCause::Unreadable));
        } else {
            self.unreadable_at = here.cloned();
        }
        self.backoff.fail(now);
    }

    /// Returns the duration of the next watch, in seconds.
    fn watch_secs(&mut self) -> u32 {
        if !self.traits.is_cached {
            return self.long_watch_secs();
        }
        match self.short_watches {
            0 => self.long_watch_secs(),
            1 => 20,
            _ => 3,
        }
    }

    #[expect(clippy::expect_used, reason = "the random number is bounded")]
    fn long_watch_secs(&mut self) -> u32 {
        let more = u64::from(self.long_secs / 4) + 1;
        let more = u32::try_from(self.backoff.below(more)).expect("it is below a quarter of a u32");
        self.long_secs.saturating_add(more)
    }
}

/// How many events are remembered to recognize duplicates. Beyond that, the connection that is
/// behind is dropped.
const MAX_SEEN: usize = if cfg!(test) { 12 } else { 16_384 };

/// How long a successor must be open, in microseconds, until it counts as accepted without data: a
/// server that has lost the history responds with 410 at once.
pub(crate) const SETTLE_MICROS: u64 = 1_000_000;

/// How long before the end of a watch its successor is opened at most, in milliseconds.
const LEAD_MILLIS: u64 = 10_000;

/// The successor of the current connection.
#[derive(Debug)]
struct SuccessorProgress {
    /// It delivers everything after this version.
    from: u128,
    connection: ConnectionProgress,
}

/// The events written since two connections may deliver the same events.
#[derive(Debug, Default)]
struct RecordedEvents {
    events: HashSet<(Uid, u128, bool)>,
    /// The remaining connection has delivered all of them once it has reached this version.
    until: Option<u128>,
    /// The successor delivered the last of them.
    is_by_successor: bool,
}

/// Which of two connections continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuccessorVerdict {
    /// Both are read.
    Both,
    /// The successor replaces the current connection.
    TakeOver,
    /// The successor is dropped.
    GiveUp,
}

impl RecordedEvents {
    fn key(head: &ObjectHead<'_>, version: u128, is_deletion: bool) -> (Uid, u128, bool) {
        // Some servers send no uid: their objects are compared by name.
        let uid = if head.uid.is_empty() {
            &head.name
        } else {
            &head.uid
        };
        (Uid::new(uid), version, is_deletion)
    }

    fn has(&self, head: &ObjectHead<'_>, version: u128, is_deletion: bool) -> bool {
        self.events.contains(&Self::key(head, version, is_deletion))
    }
}

// The second connection. Until one of the two has delivered everything that the other one had,
// written events are remembered, so that each event is written once.
impl WatchState {
    /// Requests watches of about `secs` seconds.
    pub(crate) const fn set_watch_secs(&mut self, secs: u32) {
        self.long_secs = secs;
    }

    /// Returns how long after its begin the current connection needs a successor, in microseconds,
    /// if its end is known; `more_micros` earlier than usual.
    pub(crate) fn successor_due(&mut self, more_micros: u64) -> Option<u64> {
        let asked = self.connection.requested_secs;
        if asked < self.long_secs {
            // A short watch ends soon on purpose: its last bookmark is needed.
            return None;
        }
        let lead = LEAD_MILLIS.min(u64::from(self.long_secs) * 1_000 / 3);
        // The jitter keeps streams that began together from reconnecting together.
        let lead = lead * 4 / 5 + self.successor_backoff.below(lead * 2 / 5 + 1);
        let before = (lead * 1_000).saturating_add(more_micros);
        Some((u64::from(asked) * 1_000_000).saturating_sub(before))
    }

    /// Returns the rest of the delay after refused successors, in microseconds.
    pub(crate) fn successor_wait(&self, now: Elapsed) -> Option<u64> {
        self.successor_backoff.remaining(now)
    }

    /// The server will end the current connection: earlier refusals of a successor do not count.
    pub(crate) fn hurry_successor(&mut self) {
        let seed = self.successor_backoff.below(u64::MAX);
        self.successor_backoff = Backoff::new(seed);
    }

    /// Begins a successor if one is possible now: returns the version from which it continues, and
    /// its duration in seconds.
    pub(crate) fn begin_successor(&mut self) -> Option<(ResourceVersion, u32)> {
        let is_watching = self.goal == WatchGoal::Watch && self.listing.is_none();
        if !is_watching || self.has_unusable || self.connection.opened.is_none() {
            return None;
        }
        let version = &self.position.as_ref()?.version;
        let here = version.number()?;
        let from = self.resume_from(version);
        let begin = from.number()?;
        let seen = self.seen.get_or_insert_default();
        seen.until = None;
        let deleted = self.deleted_here.iter().cloned();
        // The successor resumes one version earlier and repeats these deletions.
        seen.events.extend(deleted.map(|uid| (uid, here, true)));
        self.successor = Some(SuccessorProgress {
            from: begin,
            connection: ConnectionProgress::default(),
        });
        Some((from, self.long_watch_secs()))
    }

    /// The request of the successor succeeded: it continues from a version that the position has
    /// reached.
    pub(crate) fn successor_answered(
        &mut self,
        from: &ResourceVersion,
        requested_secs: u32,
        now: Elapsed,
    ) {
        if let (Some(successor), Some(from)) = (&mut self.successor, from.number()) {
            successor.from = from;
            successor.connection.opened = Some(now);
            successor.connection.requested_secs = requested_secs;
        }
    }

    /// Takes what follows as data of the other connection.
    pub(crate) const fn switch(&mut self) {
        if let Some(successor) = &mut self.successor {
            std::mem::swap(&mut self.connection, &mut successor.connection);
            self.is_on_successor = !self.is_on_successor;
        }
    }

    /// Decides between the two connections.
    pub(crate) fn handover(&self, now: Elapsed) -> SuccessorVerdict {
        let (Some(successor), Some(seen)) = (&self.successor, &self.seen) else {
            return SuccessorVerdict::Both;
        };
        let Some(opened) = successor.connection.opened else {
            return SuccessorVerdict::Both;
        };
        let position = self.position.as_ref();
        let here = position.and_then(|position| position.version.number());
        let Some(here) = here.filter(|_| !self.has_unusable) else {
            return SuccessorVerdict::GiveUp;
        };
        let is_settled = now.micros.saturating_sub(opened.micros) >= SETTLE_MICROS;
        // Either the successor has delivered everything up to the position, or it began there and
        // the server did not respond 410.
        let has_reached = successor.connection.reached >= Some(here);
        if has_reached || is_settled && successor.from >= here {
            return SuccessorVerdict::TakeOver;
        }
        match (seen.events.len() >= MAX_SEEN, seen.is_by_successor) {
            (false, _) => SuccessorVerdict::Both,
            // The connection that delivered the last event has delivered every event before it as
            // well.
            (true, true) => SuccessorVerdict::TakeOver,
            (true, false) => SuccessorVerdict::GiveUp,
        }
    }

    /// Returns whether a successor is open.
    pub(crate) fn has_open_successor(&self) -> bool {
        let successor = self.successor.as_ref();
        successor.is_some_and(|successor| successor.connection.opened.is_some())
    }

    /// The current connection ended with this cause, or is dropped: its successor replaces it.
    pub(crate) fn take_over(&mut self, cause: EndCause) {
        let Some(successor) = self.successor.take() else {
            return;
        };
        if cause == EndCause::Idle {
            self.silent_idles = self.silent_idles.saturating_add(1);
        }
        self.connection = successor.connection;
        self.successor_backoff.reset();
        self.keep_one_connection();
    }

    /// The successor was refused, broke off, or is dropped. The current connection continues.
    pub(crate) fn end_successor(&mut self, retry_after_secs: Option<u32>, now: Elapsed) {
        if self.successor.take().is_none() {
            return;
        }
        self.successor_backoff.fail(now);
        if let Some(secs) = retry_after_secs {
            let secs = secs.clamp(1, MAX_RETRY_AFTER_SECS);
            self.successor_backoff.delay(now, u64::from(secs) * 1_000);
        }
        self.keep_one_connection();
    }

    fn keep_one_connection(&mut self) {
        let here = self.position.as_ref();
        let here = here.and_then(|position| position.version.number());
        match (&mut self.seen, here) {
            // The remaining connection may be behind: it repeats events up to the position.
            (Some(seen), Some(_)) => seen.until = here,
            _ => self.seen = None,
        }
        self.forget_seen();
    }

    /// Forgets the written events once the only connection has delivered all of them.
    fn forget_seen(&mut self) {
        let Some(until) = self.seen.as_ref().and_then(|seen| seen.until) else {
            return;
        };
        let Some(reached) = self.connection.reached else {
            return;
        };
        // Where deletions share a version, more of the last one may follow: `deleted_here`
        // recognizes those.
        if reached >= until {
            self.seen = None;
        }
    }

    /// The connection at hand has delivered this version, recorded already or not.
    fn reach(&mut self, version: &ResourceVersion) {
        self.connection.reached = self.connection.reached.max(version.number());
        if self.successor.is_none() {
            self.forget_seen();
        }
    }

    /// Remembers a written event, which the other connection may deliver again.
    fn remember_seen(&mut self, head: &ObjectHead<'_>, version: u128, is_deletion: bool) {
        if let Some(seen) = &mut self.seen {
            seen.events
                .insert(RecordedEvents::key(head, version, is_deletion));
            seen.is_by_successor = self.is_on_successor;
        }
    }
}

// Gaps. While the list that ends a gap is read, the first known state under each differing name is
// remembered: it is where reading back begins.
impl WatchState {
    /// Returns whether the current list ends a gap that can be read back.
    pub(crate) const fn is_reviewing(&self) -> bool {
        self.before.is_some()
    }

    /// Begins to remember, if the list ends a gap whose history the server may have.
    fn begin_review(&mut self) {
        let has_number = self
            .position
            .as_ref()
            .is_some_and(|position| position.version.number().is_some());
        if self.traits.is_cached && has_number && may_be_read_back(self.goal) {
            self.before.get_or_insert_default();
        } else {
            self.before = None;
        }
    }

    /// Remembers the object of a name, the first time that the list differs from it.
    fn remember(&mut self, namespace: &str, name: &str, old: Option<&KnownObject>) {
        if let Some(before) = &mut self.before {
            before.remember(namespace, name, old);
        }
    }

    /// Something of the list could not be read.
    const fn spoil_review(&mut self) {
        if let Some(before) = &mut self.before {
            before.spoil();
        }
    }

    /// Ends the remembering once the list is complete.
    fn end_review(&mut self, cause: GapCause) -> Option<GapReview> {
        let before = self.before.take();
        if !self.traits.is_cached && may_be_read_back(WatchGoal::List(Some(cause))) {
            let why =
                "these objects expire in bulk, many in one revision: none of them is looked for";
            return Some(GapReview::Impossible(why));
        }
        let before = before?;
        if before.is_incomplete() {
            let why = "the list could not be read whole, or differs too much";
            return Some(GapReview::Impossible(why));
        }
        Some(GapReview::Names(before.compared(&self.known)))
    }
}

/// Returns whether the server may still have the history of the gap.
///
/// A gap in which no recorder ran is not read back: its list is written at once. While a gap is
/// read back its events wait in memory, and a recorder that was killed once may be killed again.
const fn may_be_read_back(goal: WatchGoal) -> bool {
    matches!(
        goal,
        WatchGoal::List(Some(GapCause::Expired | GapCause::Unavailable))
    )
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

#[cfg(test)]
#[path = "model_tests.rs"]
mod model_tests;

#[cfg(test)]
#[path = "successor_model_tests.rs"]
mod successor_model_tests;
