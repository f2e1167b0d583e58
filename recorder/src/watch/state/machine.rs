//! The state of one resource's watch and its transitions.
//!
//! The parent module lists the invariants. The transitions are grouped by what they handle: lists,
//! watches, refusals and ends, and the second connection. Each group begins with the rule that it
//! maintains. What has rules of its own is a type beside this one.

use crate::known::{KnownObject, KnownObjects, Uid};
use crate::version::ResourceVersion;
use crate::watch::state::availability::{Availability, ServerRefusal};
use crate::watch::state::backoff::{Backoff, LONGEST_MILLIS, retry_after_millis};
use crate::watch::state::chain::{WatchChain, WatchPosition};
use crate::watch::state::connections::{Connections, LIVED_MICROS, SuccessorVerdict};
use crate::watch::state::expiry::{ExpiryVerdict, HistoryExpiry};
use crate::watch::state::listing::{ListPage, ListReading, ListTotals, PageVerdict};
use crate::watch::state::output::{WatchOutput, WatchStep};
use crate::watch::state::review::GapBefore;
use crate::watch::state::unreadable::UnreadableLines;
use crate::wire::ObjectHead;
use kubereel_format::{
    AnomalyKind, Elapsed, EndCause, EventType, Evidence, GapCause, NotCoveredReason, Stamp,
};
use std::cmp::Ordering;
use std::collections::BTreeSet;

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

/// One resource's stream.
#[derive(Debug)]
pub(crate) struct WatchState {
    known: KnownObjects,
    chain: WatchChain,
    goal: WatchGoal,
    listing: ListReading,
    /// The objects as they were before the gap that the list will end.
    before: GapBefore,
    connections: Connections,
    backoff: Backoff,
    expiry: HistoryExpiry,
    availability: Availability,
    unreadable: UnreadableLines,
    /// The last watch ended in order, and since then the server has answered nothing but 404.
    ended_in_order: bool,
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
        let interruption = match origin {
            WatchOrigin::Reopened => Some(GapCause::RecorderStopped),
            WatchOrigin::Fresh if has_memory => Some(GapCause::Unavailable),
            WatchOrigin::Fresh | WatchOrigin::NewEpoch => None,
        };
        let mut connections = Connections::new(traits.is_cached, seed.rotate_left(32));
        if has_memory {
            // A resumed position may be old. A short watch gets a bookmark within seconds, before
            // compaction takes the history after the position.
            connections.want_bookmark();
        }
        Self {
            known: memory.known,
            chain: WatchChain::new(traits.is_cached, memory.position, memory.deleted_here),
            goal,
            listing: ListReading::new(traits.can_watch_list),
            before: GapBefore::default(),
            connections,
            backoff: Backoff::new(seed),
            expiry: HistoryExpiry::after(interruption),
            availability: Availability::default(),
            unreadable: UnreadableLines::default(),
            ended_in_order: false,
        }
    }

    /// Returns the next request, or how long to wait.
    pub(crate) fn step(&mut self, now: Elapsed) -> WatchStep {
        if let Some(micros) = self.backoff.remaining(now) {
            return WatchStep::Wait { micros };
        }
        match (self.goal, self.chain.resume_from()) {
            (WatchGoal::Watch, Some(from)) => WatchStep::Watch {
                from,
                timeout_secs: self.connections.watch_secs(),
            },
            (WatchGoal::Watch, None) => {
                // Without a position there is nothing to resume from: only a list gives the state.
                self.goal = WatchGoal::List(None);
                self.list_step(None)
            }
            (WatchGoal::List(cause), _) => self.list_step(cause),
        }
    }

    /// A request succeeded at `now`; it asked for `requested_secs`.
    pub(crate) fn answered(
        &mut self,
        now: Elapsed,
        requested_secs: u32,
        out: &mut Vec<WatchOutput>,
    ) {
        self.connections.opened(now, requested_secs);
        if self.availability.answered() {
            self.expiry.was_unavailable();
            out.push(WatchOutput::CoveredAgain);
        }
    }

    /// Returns how long the current connection may be silent, in seconds.
    pub(crate) const fn idle_secs(&self) -> u32 {
        if self.listing.is_open() {
            return LIST_IDLE_SECS;
        }
        self.connections.idle_secs()
    }

    /// The cluster is another one, or an older state of it: no position of before is valid.
    pub(crate) fn new_epoch(&mut self) {
        if self.position().is_some() {
            self.goal = WatchGoal::List(Some(GapCause::NewEpoch));
        }
        self.listing.end();
        self.before = GapBefore::default();
        self.expiry.forget_run();
        self.chain.forget_deletions();
        self.connections.forget_second();
        self.backoff.reset();
    }

    /// Returns the live objects.
    pub(crate) const fn known(&self) -> &KnownObjects {
        &self.known
    }

    /// Returns the position.
    pub(crate) const fn position(&self) -> Option<&WatchPosition> {
        self.chain.end()
    }

    /// Returns whether the chain is unbroken up to the present.
    pub(crate) fn is_synced(&self) -> bool {
        self.goal == WatchGoal::Watch && self.position().is_some()
    }

    /// Returns whether the recording follows the resource: the chain is unbroken, and the server
    /// answers a watch.
    pub(crate) fn is_following(&self) -> bool {
        self.is_synced() && self.connections.is_open()
    }

    /// Returns whether a list is due or being read.
    pub(crate) fn wants_list(&self) -> bool {
        !self.is_synced()
    }

    /// Returns whether the resource cannot be recorded for now.
    pub(crate) const fn is_uncovered(&self) -> bool {
        self.availability.is_uncovered()
    }

    /// Returns whether the current list ends a gap that can be read back.
    pub(crate) const fn is_reviewing(&self) -> bool {
        self.before.is_open()
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
        let missing_at_most = self.chain.changes_until(version);
        let Some(position) = self.chain.take_end() else {
            return;
        };
        // Nothing existed that could have changed, and the last watch ended in order: the server
        // ended it because it no longer serves the resource.
        if self.known.is_empty() && self.ended_in_order {
            return;
        }
        self.known.begin_list();
        let differences = self.infer_unseen(version, out);
        out.push(WatchOutput::Gap {
            from: Some(position.version.to_string()),
            to: version.to_string(),
            from_time: position.at,
            to_time: at.wall,
            cause: GapCause::Unavailable,
            missing_at_most,
            differences,
            review: None,
        });
    }

    /// Infers the deletions of the objects that the current list did not show, and returns their
    /// number.
    fn infer_unseen(&mut self, version: &ResourceVersion, out: &mut Vec<WatchOutput>) -> u64 {
        let mut differences = 0;
        for (namespace, name, object) in self.known.take_unseen() {
            self.before.remember(&namespace, &name, Some(&object));
            differences += 1;
            out.push(WatchOutput::Infer {
                namespace,
                name,
                object,
                version: version.to_string(),
            });
        }
        differences
    }

    /// Ends the stream and returns the state for a later one.
    pub(crate) fn into_memory(self) -> ResumeState {
        let (position, deleted_here) = self.chain.into_parts();
        ResumeState {
            position,
            known: self.known,
            deleted_here,
            read_back: ReadBefore::new(),
        }
    }

    /// Data arrived on the current connection.
    fn note_received(&mut self, at: Stamp, out: &mut Vec<WatchOutput>) {
        self.connections.received();
        if !self.listing.is_open() {
            // During a list, data does not reset the delay: a list that always breaks off after its
            // first item is a failing one.
            self.backoff.reset();
        }
        self.availability.received();
        if self.goal == WatchGoal::Watch {
            self.chain.received(at.wall);
            if let Some(tries) = self.expiry.observed() {
                out.push(WatchOutput::HistoryFound { tries });
            }
        }
    }
}

/// The longest silence of a streamed list, in seconds; after it the server is taken for one that
/// does not stream lists.
const LIST_IDLE_SECS: u32 = 30;

/// The delay after a list that cannot be used, in milliseconds.
const UNUSABLE_LIST_MILLIS: u64 = 60_000;

// Lists. Each object of a list is written at once. The position moves when the list is complete,
// never before: a list that breaks off must not count as the end of a chain.
impl WatchState {
    fn list_step(&mut self, cause: Option<GapCause>) -> WatchStep {
        self.before.begin(cause, &self.chain);
        if self.listing.begin() {
            self.known.begin_list();
        }
        match self.listing.next_page() {
            Some((limit, token)) => WatchStep::Page {
                limit: Some(limit),
                token,
            },
            None => WatchStep::WatchList {
                timeout_secs: self.connections.long_watch_secs(),
            },
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
        // Each object with a later version explains one revision after the position. `declare_gap`
        // subtracts them from the bound of missing changes.
        let order = version
            .as_ref()
            .and_then(|version| self.chain.order(version));
        let is_later = order == Some(Ordering::Greater);
        let mut differences = 0;
        match self.known.get(&head.namespace, &head.name).cloned() {
            Some(old) if old.uid.text() == head.uid => {
                if old.version == version {
                    self.known.mark(&head.namespace, &head.name);
                } else {
                    differences = 1;
                    self.before
                        .remember(&head.namespace, &head.name, Some(&old));
                    out.push(write(EventType::Modified, Evidence::Listed));
                    self.keep(head, version);
                }
            }
            old => {
                self.before
                    .remember(&head.namespace, &head.name, old.as_ref());
                if let Some(object) = old {
                    differences += 1;
                    out.push(replaced(head, object));
                }
                differences += 1;
                let evidence = if is_first {
                    Evidence::Initial
                } else {
                    Evidence::Listed
                };
                out.push(write(EventType::Added, evidence));
                self.keep(head, version);
            }
        }
        self.listing.count(is_later, differences);
    }

    /// A part of the list could not be read: an object that the list does not show may still exist.
    pub(crate) fn unreadable_item(&mut self) {
        self.listing.unreadable();
        self.before.spoil();
    }

    /// A page ended in order.
    pub(crate) fn page(&mut self, page: ListPage<'_>, at: Stamp, out: &mut Vec<WatchOutput>) {
        self.note_received(at, out);
        match self.listing.page_ended(page) {
            PageVerdict::Continues => {}
            PageVerdict::Complete(version) => self.finish_list(version, at, out),
            PageVerdict::Unusable => {
                self.listing.end();
                let why = "its lists have no resourceVersion";
                self.availability
                    .not_covered(NotCoveredReason::Failing, why, out);
                self.backoff.delay(at.elapsed, UNUSABLE_LIST_MILLIS);
            }
        }
    }

    /// The list is complete as of `version`.
    fn finish_list(&mut self, version: ResourceVersion, at: Stamp, out: &mut Vec<WatchOutput>) {
        let Some(mut list) = self.listing.end() else {
            return;
        };
        // Absence from the list proves a deletion only if every item was read.
        if !list.has_unreadable {
            list.differences += self.infer_unseen(&version, out);
        }
        if let WatchGoal::List(Some(cause)) = self.goal {
            self.declare_gap(&version, cause, list, at, out);
        }
        out.push(WatchOutput::Synced {
            version: version.to_string(),
            method: list.method,
            objects: list.objects,
        });
        self.connections.listed(version.number());
        self.chain.begin(version, at.wall);
        self.goal = WatchGoal::Watch;
        self.expiry = HistoryExpiry::default();
        self.unreadable.list_ended();
        self.backoff.reset();
    }

    fn declare_gap(
        &mut self,
        version: &ResourceVersion,
        cause: GapCause,
        list: ListTotals,
        at: Stamp,
        out: &mut Vec<WatchOutput>,
    ) {
        let has_fallen = self.chain.order(version) == Some(Ordering::Less);
        let cause = if has_fallen {
            out.push(WatchOutput::VersionFell);
            GapCause::NewEpoch
        } else {
            cause
        };
        let review = self.before.end(cause, &self.chain, &self.known);
        let missing_at_most = self
            .chain
            .changes_until(version)
            .filter(|_| cause != GapCause::NewEpoch)
            .map(|distance| distance.saturating_sub(list.later));
        out.push(WatchOutput::Gap {
            // The gap begins before the position if some deletions of its version may be missing.
            from: self.chain.resume_from().map(|from| from.to_string()),
            to: version.to_string(),
            from_time: self.position().map_or(at.wall, |before| before.at),
            to_time: at.wall,
            cause,
            missing_at_most,
            differences: list.differences,
            review: review.filter(|_| !has_fallen),
        });
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
        let is_listing = self.listing.is_open();
        if is_listing && kind == EventType::Added {
            // Before the bookmark with `k8s.io/initial-events-end`, ADDED events are the items of
            // the list. Other events are changes during it.
            return self.item(head, at, out);
        }
        self.note_received(at, out);
        let version = ResourceVersion::parse(&head.version);
        let number = version.as_ref().and_then(ResourceVersion::number);
        if !self.connections.may_write(number) {
            // The current connection delivers it too.
            return;
        }
        let old = self.known.get(&head.namespace, &head.name).cloned();
        if is_listing {
            self.before
                .remember(&head.namespace, &head.name, old.as_ref());
        }
        if kind != EventType::Deleted {
            self.known.mark(&head.namespace, &head.name);
        }
        // Also an event that is not written proves that its connection has delivered everything
        // before it.
        if self.is_recorded(kind, head, version.as_ref(), old.as_ref()) {
            if !is_listing {
                self.connections.reach(number);
            }
            return;
        }
        self.check_order(head, number, out);
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
                self.connections
                    .written(head, number, kind == EventType::Deleted);
            }
            let deleted = (kind == EventType::Deleted).then(|| Uid::new(&head.uid));
            // During a list the position stays: a MODIFIED before the end of the initial events
            // does not prove that the list was complete.
            self.chain.advance(version, deleted, at.wall);
            self.connections.reach(number);
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
        let is_deletion = kind == EventType::Deleted;
        if let Some(number) = version.number()
            && self.connections.has_seen(head, number, is_deletion)
        {
            return true;
        }
        if is_deletion {
            return self.chain.has_deletion(&Uid::new(&head.uid), version);
        }
        old.is_some_and(|old| old.uid.text() == head.uid && old.version.as_ref() == Some(version))
    }

    fn check_order(
        &mut self,
        head: &ObjectHead<'_>,
        number: Option<u128>,
        out: &mut Vec<WatchOutput>,
    ) {
        if head.name.is_empty() {
            out.push(WatchOutput::Anomaly {
                kind: AnomalyKind::Nameless,
                detail: format!("resourceVersion {}", head.version),
            });
        }
        let is_listing = self.listing.is_open();
        out.extend(self.connections.check_order(head, number, is_listing));
    }

    /// The event at hand could not be written: the next version of the object must not count as
    /// recorded.
    pub(crate) fn not_written(&mut self, head: &ObjectHead<'_>) {
        self.known.unwritten(&head.namespace, &head.name);
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
        self.connections.bookmarked();
        let Some(version) = ResourceVersion::parse(version) else {
            out.push(WatchOutput::Anomaly {
                kind: AnomalyKind::BookmarkWithoutVersion,
                detail: String::new(),
            });
            return;
        };
        if self.listing.is_open() {
            if ends_initial {
                self.finish_list(version, at, out);
            }
            return;
        }
        out.push(WatchOutput::Bookmark {
            version: version.to_string(),
        });
        self.connections.reach(version.number());
        self.chain.advance(version, None, at.wall);
    }

    /// Takes the version of a list that was read while the current watch ran, and long enough ago.
    /// Where no bookmarks arrive, it replaces a bookmark.
    pub(crate) fn outlived(&mut self, version: &str, at: Stamp) {
        if self.listing.is_open() || self.chain.is_cached() {
            return;
        }
        if let Some(version) = ResourceVersion::parse(version) {
            self.chain.advance(version, None, at.wall);
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
    if !head.uid.is_empty() && old.uid.text() != head.uid {
        out.push(replaced(head, old));
    }
}

fn replaced(head: &ObjectHead<'_>, object: KnownObject) -> WatchOutput {
    WatchOutput::Infer {
        namespace: head.namespace.to_string(),
        name: head.name.to_string(),
        object,
        version: head.version.to_string(),
    }
}

/// The delay after a request that is forbidden or not supported, in milliseconds.
const FORBIDDEN_MILLIS: u64 = 30_000;

/// The longest delay between two failing lists, in milliseconds.
const LONGEST_LIST_MILLIS: u64 = 30_000;

/// The longest delay while a resource that was watched is not found, in milliseconds: it must soon
/// be known whether the resource is gone.
const MISSING_MILLIS: u64 = 1_000;

/// How many refusals in a row may come from servers that are starting or ending. After that,
/// Retry-After is taken to apply to all servers.
const OTHER_SERVERS: u32 = 4;

/// The delay after a watch that delivered data and ended within a second, in milliseconds.
const SHORT_LIFE_MILLIS: u64 = 50;

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
        self.connections.refused();
        self.ended_in_order &= refusal.code == 404;
        if self.goal == WatchGoal::Watch && refusal.code != 410 {
            self.connections.want_bookmark();
        }
        match refusal.code {
            410 => self.expired(refusal.others_may_know, now),
            // A server that does not stream lists rejects the parameters of the request.
            400 | 422 if self.listing.is_streaming() => self.listing.use_pages(),
            // 503 and 504 come from servers that start or are behind, whatever the kind of list:
            // they say nothing about streaming.
            500..=502 | 505..=599 if self.listing.is_streaming() => {
                self.listing.broke_off(false);
                self.fail(refusal, now, out);
            }
            403 => {
                self.listing.broke_off(false);
                self.availability
                    .not_covered(NotCoveredReason::Forbidden, refusal.message, out);
                self.backoff.delay(now, FORBIDDEN_MILLIS);
            }
            405 => {
                self.listing.broke_off(false);
                self.availability
                    .not_covered(NotCoveredReason::NoWatch, refusal.message, out);
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

    fn fail(&mut self, refusal: ServerRefusal<'_>, now: Elapsed, out: &mut Vec<WatchOutput>) {
        self.availability.failed(refusal, now, out);
        let is_missing = refusal.code == 404;
        if self.position().is_none() {
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
            self.backoff.delay_at_least(now, retry_after_millis(secs));
        }
    }

    /// A server responded 410: the watch is retried on other connections, then the state is listed
    /// again.
    fn expired(&mut self, others_may_know: bool, now: Elapsed) {
        if self.listing.is_open() {
            self.listing.snapshot_expired();
            self.backoff.fail(now);
            return;
        }
        match self.expiry.count(others_may_know, now) {
            ExpiryVerdict::RetryAfterMillis(millis) => self.backoff.delay(now, millis),
            ExpiryVerdict::GiveUp(cause) => self.goal = WatchGoal::List(Some(cause)),
        }
    }

    /// No connection was established.
    pub(crate) fn unreachable(&mut self, now: Elapsed) {
        self.connections.refused();
        self.ended_in_order = false;
        self.listing.broke_off(false);
        if self.goal == WatchGoal::Watch {
            self.connections.want_bookmark();
        }
        self.backoff.fail(now);
    }

    /// The current connection ended without an ERROR event.
    pub(crate) fn ended(&mut self, cause: EndCause, now: Elapsed) {
        let is_listing = self.listing.is_open();
        let Some(connection) = self.connections.ended(cause, is_listing, now) else {
            return;
        };
        self.ended_in_order = cause == EndCause::Clean && self.goal == WatchGoal::Watch;
        if is_listing {
            self.listing.broke_off(cause == EndCause::Idle);
            self.backoff.fail_within(now, LONGEST_LIST_MILLIS);
            return;
        }
        if cause == EndCause::Unreadable {
            if self.unreadable.ended(self.chain.version(), now) {
                self.goal = WatchGoal::List(Some(GapCause::Unreadable));
            }
            self.backoff.fail(now);
            return;
        }
        let lived = connection.lived_micros;
        if connection.has_received || lived >= LIVED_MICROS {
            self.backoff.reset();
            // A watch that lived this long was accepted, so the server has the history after all.
            if lived >= 2 * LIVED_MICROS {
                self.expiry.forget_run();
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
    pub(crate) fn passes_unreadable(&self, now: Elapsed) -> bool {
        let here = self.chain.version();
        !self.listing.is_open() && self.unreadable.passes(here, now)
    }
}

// The second connection, which exists only beside a watch.
impl WatchState {
    /// Returns what needs nothing else of the state: durations, delays, and which of the two is
    /// read.
    pub(crate) const fn connections(&mut self) -> &mut Connections {
        &mut self.connections
    }

    /// Begins a successor if one is possible now: returns the version from which it continues, and
    /// its duration in seconds.
    pub(crate) fn begin_successor(&mut self) -> Option<(ResourceVersion, u32)> {
        if self.goal != WatchGoal::Watch || self.listing.is_open() {
            return None;
        }
        self.connections.begin_successor(&self.chain)
    }

    /// Decides between the two connections.
    pub(crate) fn handover(&self, now: Elapsed) -> SuccessorVerdict {
        self.connections.handover(self.chain.number(), now)
    }

    /// The current connection ended with this cause, or is dropped: its successor replaces it.
    pub(crate) fn take_over(&mut self, cause: EndCause) {
        self.connections.take_over(cause, self.chain.number());
    }

    /// The successor was refused, broke off, or is dropped. The current connection continues.
    pub(crate) fn end_successor(&mut self, retry_after_secs: Option<u32>, now: Elapsed) {
        let here = self.chain.number();
        self.connections.end_successor(retry_after_secs, here, now);
    }
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
