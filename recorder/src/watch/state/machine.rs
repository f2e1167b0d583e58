//! The state of one resource's watch and its transitions. See the invariants in the parent module.

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

/// How a resource's server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerTraits {
    /// Whether it is served from a watch cache: bookmarks come, versions are not shared.
    ///
    /// `events` are not: they expire in bulk, many deletions with one version.
    pub(crate) is_cached: bool,
    /// Whether the server is of a version that streams lists.
    pub(crate) can_watch_list: bool,
}

/// The end of an unbroken chain of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchPosition {
    /// The last version received or proven.
    pub(crate) version: ResourceVersion,
    /// When something was last received.
    pub(crate) at: RecordedAt,
}

/// What is known of a resource when its stream begins, and what is left when it ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResumeState {
    /// Where the recording stood, if it ever was complete.
    pub(crate) position: Option<WatchPosition>,
    /// The objects that were alive then.
    pub(crate) known: KnownObjects,
    /// The objects that are known to have been deleted at exactly the position's version.
    pub(crate) deleted_here: Vec<Uid>,
    /// What an earlier run had read back of a gap when it was killed.
    pub(crate) read_back: ReadBefore,
}

/// Events that were read back and written before their gap was: uid, version, and whether it is a
/// deletion.
pub(crate) type ReadBefore = BTreeSet<(Box<str>, Box<str>, bool)>;

/// Why a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchOrigin {
    /// This run has seen the resource appear, or found it at its start.
    Fresh,
    /// An earlier run recorded it.
    Reopened,
    /// Another cluster, or an older state of it, was recorded before.
    NewEpoch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchGoal {
    /// The state must be read; what was before it is a gap if a cause is given.
    List(Option<GapCause>),
    /// The chain goes on.
    Watch,
}

/// What is to be known of the connection under way.
#[derive(Clone, Copy, Debug, Default)]
struct ConnectionProgress {
    opened: Option<Elapsed>,
    asked_secs: u32,
    heard: bool,
    highest: Option<u128>,
    /// The highest version of an event or a bookmark on it, whether that was news or not.
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
    /// The objects deleted at exactly the position's version.
    deleted_here: Vec<Uid>,
    goal: WatchGoal,
    listing: Option<ListProgress>,
    /// What stood before the gap that the list will end.
    before: Option<GapBefore>,
    connection: ConnectionProgress,
    /// The connection that is to take the place of the one under way.
    successor: Option<SuccessorProgress>,
    /// What is at hand comes from the successor: the two have changed places.
    is_on_successor: bool,
    /// What was written since two connections may bring the same.
    seen: Option<RecordedEvents>,
    successor_backoff: Backoff,
    /// Something came whose version is not a number.
    has_unusable: bool,
    /// How long a watch is to last at least, in seconds, unless there is a reason for a short one.
    long_secs: u32,
    backoff: Backoff,
    expiry: Option<HistoryExpiry>,
    /// No recorder ran between the position and now.
    is_reopened: bool,
    uncovered: Option<NotCoveredReason>,
    was_unavailable: bool,
    failing_since: Option<Elapsed>,
    unreadable_at: Option<ResourceVersion>,
    /// When a list was decided on because of a line that stayed unreadable.
    unreadable_listed: Option<Elapsed>,
    /// The server has answered this stream, so that what is remembered may be true again.
    was_answered: bool,
    /// The last watch ended in order, and nothing but "not found" has been heard since.
    ended_in_order: bool,
    /// The number of short watches that still have to end in order before long ones are requested.
    short_watches: u8,
    silent_idles: u8,
    page_limit: u32,
}

impl WatchState {
    /// Begins a stream. `seed` makes its delays differ from those of others.
    pub(crate) fn new(
        traits: ServerTraits,
        memory: ResumeState,
        origin: WatchOrigin,
        seed: u64,
    ) -> Self {
        // A resource that came to its end before it vanished begins anew.
        let memory = if origin == WatchOrigin::Fresh && memory.known.is_empty() {
            ResumeState::default()
        } else {
            memory
        };
        let has_memory = memory.position.is_some();
        let goal = match origin {
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
            // Only where versions are shared can others have been deleted with them.
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
            was_answered: false,
            ended_in_order: false,
            short_watches: if has_memory { SHORT_WATCHES } else { 0 },
            silent_idles: 0,
            page_limit: MAX_LIST_PAGE,
        }
    }

    /// Returns what to do now.
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
                // Without a position to resume from there is only the list.
                self.goal = WatchGoal::List(None);
                self.list_step()
            }
            (WatchGoal::List(_), _) => self.list_step(),
        }
    }

    /// Returns the version from which a watch continues.
    ///
    /// Where many deletions share a version, some of them may still be missing: it goes back by one.
    fn resume_from(&self, version: &ResourceVersion) -> ResourceVersion {
        if self.deleted_here.is_empty() {
            return version.clone();
        }
        version.previous().unwrap_or_else(|| version.clone())
    }

    /// A request was answered with success at `now`, asked to last `asked_secs`.
    pub(crate) fn answered(&mut self, now: Elapsed, asked_secs: u32, out: &mut Vec<WatchOutput>) {
        self.connection = ConnectionProgress {
            opened: Some(now),
            asked_secs,
            ..ConnectionProgress::default()
        };
        // It begins at the position: nothing written comes again.
        self.seen = None;
        self.successor = None;
        self.was_answered = true;
        if self.uncovered.take().is_some() {
            self.was_unavailable = true;
            out.push(WatchOutput::CoveredAgain);
        }
    }

    /// Returns how long the connection under way may be silent, in seconds.
    pub(crate) fn idle_secs(&self) -> u32 {
        if self.listing.is_some() {
            return LIST_IDLE_SECS;
        }
        if self.traits.is_cached && self.silent_idles < MAX_SILENT_IDLES {
            return IDLE_SECS;
        }
        self.connection.asked_secs.saturating_add(GRACE_SECS)
    }

    /// The cluster is another one, or an older state of it: nothing is resumed.
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

    /// Returns the position, for those who compare it.
    pub(crate) fn position(&self) -> Option<&WatchPosition> {
        self.position.as_ref()
    }

    /// Returns whether the chain is unbroken up to the present.
    pub(crate) fn is_synced(&self) -> bool {
        self.goal == WatchGoal::Watch && self.position.is_some()
    }

    /// Returns whether the recording follows the resource: the chain is unbroken, and the server has
    /// answered since this stream began.
    pub(crate) fn is_following(&self) -> bool {
        self.is_synced() && self.was_answered
    }

    /// Returns whether a list is to be read or under way.
    pub(crate) fn wants_list(&self) -> bool {
        !self.is_synced()
    }

    /// Returns whether the resource cannot be recorded for now.
    pub(crate) fn is_uncovered(&self) -> bool {
        self.uncovered.is_some()
    }

    /// The resource is no longer served, as of a version of the cluster.
    ///
    /// If the chain does not reach to its end, what is missing is a gap up to there.
    pub(crate) fn gone(
        &mut self,
        version: &ResourceVersion,
        at: Stamp,
        out: &mut Vec<WatchOutput>,
    ) {
        let Some(position) = self.position.take() else {
            return;
        };
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

    /// Ends the stream and gives what a later one needs.
    pub(crate) fn into_memory(self) -> ResumeState {
        ResumeState {
            position: self.position,
            known: self.known,
            deleted_here: self.deleted_here,
            read_back: ReadBefore::new(),
        }
    }

    /// Something came in on the connection under way.
    fn hear(&mut self, at: Stamp, out: &mut Vec<WatchOutput>) {
        self.connection.heard = true;
        if self.listing.is_none() {
            // A list that always breaks off after its first item is a failing one.
            self.backoff.reset();
        }
        self.failing_since = None;
        if self.goal == WatchGoal::Watch {
            if let Some(position) = &mut self.position {
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

/// How long a watch is to last at least, in seconds.
pub(crate) const LONG_SECS: u32 = 240;

/// How many short watches follow an end that was not in order.
///
/// A server sends a bookmark shortly before a watch's end, so that a short one brings a quiet
/// resource's position up to date before the next server restarts.
const SHORT_WATCHES: u8 = 2;

/// How long a list that streams may be silent before it is taken as not supported, in seconds.
const LIST_IDLE_SECS: u32 = 30;

/// How long a watch with bookmarks may be silent, in seconds: they come about each minute.
const IDLE_SECS: u32 = 90;

/// How many silences in a row show that a resource has no bookmarks.
const MAX_SILENT_IDLES: u8 = 2;

/// How long past its asked end a watch may last, in seconds.
const GRACE_SECS: u32 = 20;

/// How many bytes a page should have at most.
const PAGE_BYTES: u64 = 4 * 1024 * 1024;

/// The smallest page that is requested.
const MIN_PAGE: u32 = 10;

/// How often a streamed list may break before pages are requested.
const MAX_BROKEN_STREAMS: u8 = 3;

/// How long to wait for a list that can be used, in milliseconds.
const UNUSABLE_LIST_MILLIS: u64 = 60_000;

/// A list under way.
#[derive(Debug)]
struct ListProgress {
    method: ListMethod,
    version: Option<ResourceVersion>,
    token: Option<String>,
    objects: u64,
    /// The versions it showed that are later than the position.
    later: u64,
    differences: u64,
    /// Not every item could be read, so that absence proves nothing.
    has_unreadable: bool,
    broken_streams: u8,
}

/// The end of one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListPage<'a> {
    /// The list's version; empty if it has none.
    pub(crate) version: &'a str,
    /// The token for the next page; empty on the last.
    pub(crate) token: &'a str,
    /// How many bytes the page had.
    pub(crate) bytes: u64,
    /// How many items it had.
    pub(crate) items: u64,
}

// Lists. What a list shows is written at once; the position moves when it is complete, never before.
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
        let goes_on = self
            .listing
            .as_ref()
            .is_some_and(|list| list.token.is_some() && list.method == method);
        if !goes_on {
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

    /// An object of the list came: an item of a page, or an ADDED before the end of the initial
    /// objects.
    pub(crate) fn item(&mut self, head: &ObjectHead<'_>, at: Stamp, out: &mut Vec<WatchOutput>) {
        self.hear(at, out);
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
    pub(crate) fn page(&mut self, page: ListPage<'_>, at: Stamp, out: &mut Vec<WatchOutput>) {
        self.hear(at, out);
        self.adapt_limit(page);
        let Some(listing) = &mut self.listing else {
            return;
        };
        // Every page is of the first one's snapshot.
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
        // Where many deletions share a version, versions bound nothing.
        let missing_at_most = distance
            .filter(|_| self.traits.is_cached && cause != GapCause::NewEpoch)
            .and_then(|distance| u64::try_from(distance).ok())
            .map(|distance| distance.saturating_sub(listing.later));
        out.push(WatchOutput::Gap {
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

    /// The snapshot behind the pages is gone; larger pages need fewer of them.
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

// Watches. An event or a bookmark moves the position; an object at hand is written unless exactly this
// version of it is recorded.
impl WatchState {
    /// An event came.
    pub(crate) fn event(
        &mut self,
        kind: EventType,
        head: &ObjectHead<'_>,
        at: Stamp,
        out: &mut Vec<WatchOutput>,
    ) {
        let is_listing = self.listing.is_some();
        if is_listing && kind == EventType::Added {
            return self.item(head, at, out);
        }
        self.hear(at, out);
        let version = ResourceVersion::parse(&head.version);
        let number = version.as_ref().and_then(ResourceVersion::number);
        self.has_unusable |= number.is_none();
        if self.is_on_successor && number.is_none() {
            // Nobody could tell it from the same on the other connection, which brings it too.
            return;
        }
        let old = self.known.get(&head.namespace, &head.name).cloned();
        if is_listing {
            self.remember(&head.namespace, &head.name, old.as_ref());
        }
        if kind != EventType::Deleted {
            self.known.mark(&head.namespace, &head.name);
        }
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
            // A late word about an object that another one has replaced, or that is unknown.
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

    /// Returns whether exactly this version of the object is in the file already.
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
            // Some servers never send one; once for each connection is enough.
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

    /// The object at hand could not be written: whatever shows it again is news.
    pub(crate) fn not_written(&mut self, head: &ObjectHead<'_>) {
        self.known.unwritten(&head.namespace, &head.name);
    }

    /// Moves the position to `version`, unless it is there or beyond.
    fn advance(&mut self, version: ResourceVersion, deleted: Option<Uid>, at: Stamp) {
        let order = self
            .position
            .as_ref()
            .map(|position| version.order(&position.version));
        match order {
            Some(Some(Ordering::Less)) => return,
            // No watch can resume from what is not a version.
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
        // Only where versions are shared can more of this one be missing.
        if let (Some(uid), false) = (deleted, self.traits.is_cached) {
            self.deleted_here.push(uid);
        }
    }

    /// A bookmark came.
    pub(crate) fn bookmark(
        &mut self,
        version: &str,
        ends_initial: bool,
        at: Stamp,
        out: &mut Vec<WatchOutput>,
    ) {
        self.hear(at, out);
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

    /// A list read while the watch under way was running, and long enough before now, was at
    /// `version`: where no bookmarks come, this stands for one.
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

/// An object that another one has replaced under its name is gone, even without a DELETED event.
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

/// A request that was not answered with success, or an ERROR event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerRefusal<'a> {
    /// The status code; 0 if it names none.
    pub(crate) code: u16,
    /// How long the server asks to wait, in seconds.
    pub(crate) retry_after_secs: Option<u32>,
    /// The server's words.
    pub(crate) message: &'a str,
    /// Whether there is reason to believe that another server still has the history.
    pub(crate) others_may_know: bool,
}

/// A run of answers that the history is lost.
#[derive(Clone, Copy, Debug)]
struct HistoryExpiry {
    since: Elapsed,
    tries: u32,
}

/// How often, and for how long, the history is requested before it is given up.
struct ExpiryPatience {
    tries: u32,
    micros: u64,
}

/// A server that has lost the history will keep answering so.
const ALONE: ExpiryPatience = ExpiryPatience {
    tries: 8,
    micros: 1_000_000,
};

/// With two servers behind one address each try finds the other one with even odds: 24 tries miss it
/// once in 16 million times.
const AMONG_OTHERS: ExpiryPatience = ExpiryPatience {
    tries: 24,
    micros: 3_000_000,
};

/// The longest delay between two such tries, in milliseconds.
const EXPIRED_MILLIS: u64 = 150;

/// The longest that a server's wish to wait is honoured, in seconds.
const MAX_RETRY_AFTER_SECS: u32 = 30;

/// How long a server may fail before the resource counts as not covered, in microseconds.
const FAILING_MICROS: u64 = 60_000_000;

/// How long to wait before asking again for what is forbidden or not offered, in milliseconds.
const FORBIDDEN_MILLIS: u64 = 30_000;

/// The longest delay between two lists that fail, in milliseconds.
const LONGEST_LIST_MILLIS: u64 = 30_000;

/// The longest delay while a resource that was watched is not found, in milliseconds: whether it is
/// gone is to be known soon.
const MISSING_MILLIS: u64 = 1_000;

/// How long a line that stays unreadable is a reason for a list no more after it was one, in
/// microseconds: what cannot be parsed in a watch cannot be parsed in a list either.
const UNREADABLE_MICROS: u64 = 600_000_000;

/// How many refusals in a row may come from servers that are only just starting or ending. After
/// that the server's wish to wait is taken for all of them.
const OTHER_SERVERS: u32 = 4;

/// The pause after a watch that brought something and ended within a second, in milliseconds.
const SHORT_LIFE_MILLIS: u64 = 50;

/// A watch that lives this long, in microseconds, was a watch.
const LIVED_MICROS: u64 = 1_000_000;

// Refusals, ends and lost history. Each leads to a next request after a delay.
impl WatchState {
    /// The server refused, by a status or by an ERROR event that ended the stream.
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
            400 | 422 if self.is_streaming_list() => self.use_pages(),
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
            // Its cache is being filled: that is over in a moment.
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
            // Its first objects may be written right now: asked soon at first, then ever less.
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
            // A wish for a shorter wait does not hurry a list that has failed for long.
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

    /// A server reports the history as lost: others are asked, then the state is read anew.
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
        if expiry.tries >= patience.tries && waited >= patience.micros {
            self.expiry = None;
            self.goal = WatchGoal::List(Some(self.gap_cause()));
            return;
        }
        // The first goes out at once: the next connection may well reach another server.
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

    /// No connection came about.
    pub(crate) fn unreachable(&mut self, now: Elapsed) {
        self.connection.opened = None;
        self.ended_in_order = false;
        self.break_list(false);
        if self.goal == WatchGoal::Watch {
            self.short_watches = SHORT_WATCHES;
        }
        self.backoff.fail(now);
    }

    /// The connection under way ended, not by an ERROR event.
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
        let asked = u64::from(self.connection.asked_secs).saturating_mul(1_000_000);
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
        if self.connection.heard || lived >= LIVED_MICROS {
            self.backoff.reset();
            if self.expiry.is_some() && lived >= 2 * LIVED_MICROS {
                self.expiry = None;
            }
        } else {
            self.backoff.fail(now);
        }
        if lived < LIVED_MICROS && self.backoff.remaining(now).is_none() {
            // A server that ends every watch at once is not asked without a pause.
            self.backoff.delay(now, SHORT_LIFE_MILLIS);
        }
    }

    /// Returns whether the stream after a line that cannot be read is read on: it was requested again
    /// already, and a list did not help.
    pub(crate) fn passes_unreadable(&mut self, now: Elapsed) -> bool {
        let here = self.position.as_ref().map(|position| &position.version);
        let was_asked = here.is_some() && self.unreadable_at.as_ref() == here;
        let was_listed = self
            .unreadable_listed
            .is_some_and(|listed| now.micros.saturating_sub(listed.micros) < UNREADABLE_MICROS);
        self.listing.is_none() && was_asked && was_listed
    }

    /// A line could not be understood. It is requested once more; then the end is not trusted.
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

    /// Returns how long the next watch is to last, in seconds.
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

/// How many events may be remembered, so that none is written twice. With more, the connection that
/// is behind is let go.
const MAX_SEEN: usize = if cfg!(test) { 12 } else { 16_384 };

/// How long a successor must be open, in microseconds, until it counts as accepted though nothing
/// came: a server that has lost the history answers so at once.
pub(crate) const SETTLE_MICROS: u64 = 1_000_000;

/// How long before the end of a watch its successor is opened at most, in milliseconds.
const LEAD_MILLIS: u64 = 10_000;

/// A connection that is to take the place of the one under way.
#[derive(Debug)]
struct SuccessorProgress {
    /// Everything behind this version comes on it.
    from: u128,
    connection: ConnectionProgress,
}

/// What was written since two connections may bring the same.
#[derive(Debug, Default)]
struct RecordedEvents {
    events: HashSet<(Uid, u128, bool)>,
    /// The connection that is left has brought all of them once it has reached this version.
    until: Option<u128>,
    /// The successor brought the last of them.
    is_by_successor: bool,
}

/// What is to become of two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuccessorVerdict {
    /// Both are read on.
    Both,
    /// The successor takes over.
    TakeOver,
    /// The successor is let go.
    GiveUp,
}

impl RecordedEvents {
    fn key(head: &ObjectHead<'_>, version: u128, is_deletion: bool) -> (Uid, u128, bool) {
        // Some servers send no uid; one of two names is as good.
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

// The second connection. Until one of the two has brought all that the other one had, events are
// remembered, so that none is written twice.
impl WatchState {
    /// Asks for watches of about `secs` seconds.
    pub(crate) const fn ask_for(&mut self, secs: u32) {
        self.long_secs = secs;
    }

    /// Returns how long after its begin the connection under way needs a successor, in microseconds,
    /// if its end is known. `more_micros` earlier than usual.
    pub(crate) fn successor_due(&mut self, more_micros: u64) -> Option<u64> {
        let asked = self.connection.asked_secs;
        if asked < self.long_secs {
            // A short one ends soon for the sake of its last bookmark.
            return None;
        }
        let lead = LEAD_MILLIS.min(u64::from(self.long_secs) * 1_000 / 3);
        // Streams that began together are not to reconnect together.
        let lead = lead * 4 / 5 + self.successor_backoff.below(lead * 2 / 5 + 1);
        let before = (lead * 1_000).saturating_add(more_micros);
        Some((u64::from(asked) * 1_000_000).saturating_sub(before))
    }

    /// Returns how long to wait after successors that were refused, in microseconds, if at all.
    pub(crate) fn successor_wait(&self, now: Elapsed) -> Option<u64> {
        self.successor_backoff.remaining(now)
    }

    /// The server behind the connection under way will end it: refusals of before do not count.
    pub(crate) fn hurry_successor(&mut self) {
        let seed = self.successor_backoff.below(u64::MAX);
        self.successor_backoff = Backoff::new(seed);
    }

    /// Begins a successor, if there may be one now: returns the version from which it continues, and how
    /// long it is to last, in seconds.
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
        seen.events.extend(deleted.map(|uid| (uid, here, true)));
        self.successor = Some(SuccessorProgress {
            from: begin,
            connection: ConnectionProgress::default(),
        });
        Some((from, self.long_watch_secs()))
    }

    /// The successor's request was answered with success: it continues from a version, which the
    /// position has reached.
    pub(crate) fn successor_answered(
        &mut self,
        from: &ResourceVersion,
        asked_secs: u32,
        now: Elapsed,
    ) {
        if let (Some(successor), Some(from)) = (&mut self.successor, from.number()) {
            successor.from = from;
            successor.connection.opened = Some(now);
            successor.connection.asked_secs = asked_secs;
        }
    }

    /// Lets what follows be taken as from the other connection.
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
        let has_reached = successor.connection.reached >= Some(here);
        if has_reached || is_settled && successor.from >= here {
            return SuccessorVerdict::TakeOver;
        }
        match (seen.events.len() >= MAX_SEEN, seen.is_by_successor) {
            (false, _) => SuccessorVerdict::Both,
            // The connection that brought the last one has brought all before it as well.
            (true, true) => SuccessorVerdict::TakeOver,
            (true, false) => SuccessorVerdict::GiveUp,
        }
    }

    /// Returns whether a successor is open.
    pub(crate) fn has_open_successor(&self) -> bool {
        let successor = self.successor.as_ref();
        successor.is_some_and(|successor| successor.connection.opened.is_some())
    }

    /// The connection under way has ended so, or is let go: its successor stands in its place.
    pub(crate) fn take_over(&mut self, cause: EndCause) {
        let Some(successor) = self.successor.take() else {
            return;
        };
        if cause == EndCause::Idle {
            self.silent_idles = self.silent_idles.saturating_add(1);
        }
        self.connection = successor.connection;
        self.successor_backoff.reset();
        self.one_is_left();
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
        self.one_is_left();
    }

    fn one_is_left(&mut self) {
        let here = self.position.as_ref();
        let here = here.and_then(|position| position.version.number());
        match (&mut self.seen, here) {
            (Some(seen), Some(_)) => seen.until = here,
            _ => self.seen = None,
        }
        self.forget_seen();
    }

    /// Forgets what was written, once the only connection has brought all of it.
    fn forget_seen(&mut self) {
        let Some(until) = self.seen.as_ref().and_then(|seen| seen.until) else {
            return;
        };
        let Some(reached) = self.connection.reached else {
            return;
        };
        // Where versions are shared, more deletions of the last one may come: those of the position's
        // version are known anyway.
        if reached >= until {
            self.seen = None;
        }
    }

    /// The connection at hand has brought this version, whether that was news or not.
    fn reach(&mut self, version: &ResourceVersion) {
        self.connection.reached = self.connection.reached.max(version.number());
        if self.successor.is_none() {
            self.forget_seen();
        }
    }

    /// An event is written: it may come once more.
    fn remember_seen(&mut self, head: &ObjectHead<'_>, version: u128, is_deletion: bool) {
        if let Some(seen) = &mut self.seen {
            seen.events
                .insert(RecordedEvents::key(head, version, is_deletion));
            seen.is_by_successor = self.is_on_successor;
        }
    }
}

// Gaps. While the list that ends one is read, what stood before is remembered, once for each name.
impl WatchState {
    /// Returns whether the list that is to be read or under way ends a gap that can be read back.
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

    /// Remembers what stood under a name, the first time that it is found to differ.
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

    /// Ends the remembering, once the list is complete.
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

/// Returns whether the server may still know what happened.
///
/// Not what passed while no recorder ran: what a list shows then is written at once. While something is
/// read back it would wait in memory, and who was killed once may be killed again.
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
