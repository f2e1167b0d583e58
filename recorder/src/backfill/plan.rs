//! The order in which a gap is read back, and what the responses prove. Requests go to a
//! [`ServerHistory`]: `ask` has the real one, the tests have another.
//!
//! Invariants:
//! * The cheapest requests come first: changed objects, new ones, deleted ones, then the whole
//!   lists that rule out objects which were created and deleted inside the gap. When the budget is
//!   spent, the findings up to then count.
//! * An object is followed back from each version to the one before, and its deletion is found by
//!   bisection. A response that contradicts a known fact ends the search for that object, and
//!   nothing is concluded from it.
//! * The gap is reconstructed only if every revision in it is explained by an event or was read as
//!   a whole list. A few lists between are samples, never a proof.
//! * Only numeric versions take part: no other version has a predecessor.

use crate::known::{KnownObject, KnownObjects};
use crate::number::len64;
use kubereel_format::{EventType, GapVerdict};
use std::collections::BTreeSet;

/// An object at one end of the gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GapEndState {
    pub(crate) uid: String,
    /// Its version at that end.
    pub(crate) version: u128,
}

impl GapEndState {
    /// Converts a known object; `None` if it has no uid or no numeric version.
    pub(crate) fn of(known: &KnownObject) -> Option<Self> {
        let uid = known.uid.text();
        let version = known.version.as_ref()?.number()?;
        (!uid.is_empty()).then_some(Self { uid, version })
    }
}

/// A name at which the two ends differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GapSuspect {
    /// Its namespace; empty for cluster-scoped objects.
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The object before the gap.
    pub(crate) before: Option<GapEndState>,
    /// The object after the gap.
    pub(crate) after: Option<GapEndState>,
}

/// A gap to read back: every change after `from`, up to and including `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackfillTask {
    /// The last recorded revision.
    pub(crate) from: u128,
    /// The revision of the list that ended the gap.
    pub(crate) to: u128,
    /// The names at which the ends differ.
    pub(crate) suspects: Vec<GapSuspect>,
    /// The state of some objects at the ends is unknown.
    pub(crate) has_unclear: bool,
}

/// An object at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastObject {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    /// Its version at that revision.
    pub(crate) version: u128,
    /// Its bytes.
    pub(crate) body: Vec<u8>,
}

/// A response of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HistoryReply {
    /// The requested objects.
    Sights(Vec<PastObject>),
    /// That revision is compacted.
    Lost,
    /// The server does not support such requests, or its response cannot be used.
    Refused(String),
    /// The budget is spent.
    Spent(&'static str),
}

/// A resource's history.
pub(crate) trait ServerHistory: Send {
    /// Returns the object of a name at a revision.
    fn object(
        &mut self,
        namespace: &str,
        name: &str,
        at: u128,
    ) -> impl Future<Output = HistoryReply> + Send;

    /// Returns all objects at a revision.
    fn all(&mut self, at: u128) -> impl Future<Output = HistoryReply> + Send;
}

/// How many whole lists are read where they prove that no object was created and deleted.
const MAX_SAMPLES: u128 = 64;

/// Into how many parts the gap is cut if it has too many revisions for a proof: a whole list is
/// read between each two, which finds at least the objects that lived long.
const PARTS: u128 = 8;

/// The largest list that is read where it is only a sample.
const FEW_OBJECTS: usize = 500;

/// Reads a gap back as far as the history answers. `alive` are the objects at its end.
///
/// If the caller drops the future, the findings up to then stay; they prove nothing.
pub(crate) async fn read_back<H: ServerHistory>(
    history: &mut H,
    work: &BackfillTask,
    alive: &KnownObjects,
    found: &mut BackfillResult,
) {
    let ends = work.suspects.iter().filter_map(|one| one.after.as_ref());
    // The last version of each differing object is known from the list: its revision needs no
    // request.
    for life in ends.filter(|life| work.spans(life.version)) {
        found.explained.insert(life.version);
    }
    let begins = work.suspects.iter().filter_map(|one| one.before.as_ref());
    found.met.extend(begins.map(|life| life.uid.clone()));
    let mut search = BackfillSearch {
        history,
        work,
        found,
    };
    for way in [
        SuspectKind::Changed,
        SuspectKind::Created,
        SuspectKind::Vanished,
    ] {
        for suspect in &work.suspects {
            let done = match way {
                SuspectKind::Changed => search.changed(suspect).await,
                SuspectKind::Created => search.created(suspect).await,
                SuspectKind::Vanished => search.vanished(suspect).await,
            };
            if let Err(stop) = done
                && search.found.stopped(stop)
            {
                return;
            }
        }
    }
    if let Err(stop) = search.sample(alive).await {
        search.found.stopped(stop);
    }
}

/// The change of an object, ordered by the cost of following it.
#[derive(Clone, Copy, Debug)]
enum SuspectKind {
    Changed,
    Created,
    Vanished,
}

impl BackfillTask {
    fn spans(&self, version: u128) -> bool {
        self.from < version && version <= self.to
    }
}

impl GapSuspect {
    fn followed<'a>(&'a self, life: &'a GapEndState, is_old: bool) -> BackfilledObject<'a> {
        BackfilledObject {
            namespace: &self.namespace,
            name: &self.name,
            uid: &life.uid,
            is_old,
        }
    }
}

impl<H: ServerHistory> BackfillSearch<'_, H> {
    /// One object, at both ends.
    async fn changed(&mut self, suspect: &GapSuspect) -> Result<(), SearchStop> {
        let (Some(before), Some(after)) = (&suspect.before, &suspect.after) else {
            return Ok(());
        };
        if before.uid != after.uid || before.version == after.version {
            return Ok(());
        }
        if before.version > self.work.from || !self.work.spans(after.version) {
            // The position that the gap begins with contradicts this version.
            return Err(SearchStop::Odd);
        }
        let object = suspect.followed(after, true);
        self.back(object, after.version).await
    }

    /// An object that exists at the end only.
    async fn created(&mut self, suspect: &GapSuspect) -> Result<(), SearchStop> {
        let Some(after) = &suspect.after else {
            return Ok(());
        };
        let is_old = suspect.before.as_ref();
        if is_old.is_some_and(|before| before.uid == after.uid) {
            return Ok(());
        }
        if !self.work.spans(after.version) {
            return Err(SearchStop::Odd);
        }
        let object = suspect.followed(after, false);
        self.back(object, after.version).await
    }

    /// An object that exists at the begin only.
    async fn vanished(&mut self, suspect: &GapSuspect) -> Result<(), SearchStop> {
        let Some(before) = &suspect.before else {
            return Ok(());
        };
        let after = suspect.after.as_ref();
        if after.is_some_and(|after| after.uid == before.uid) {
            return Ok(());
        }
        if before.version > self.work.from {
            return Err(SearchStop::Odd);
        }
        let object = suspect.followed(before, true);
        let (low, high) = (self.work.from, self.work.to);
        let last = self.deletion(object, low, high, None).await?;
        self.before_last(object, last).await
    }

    /// An object that was created and deleted inside the gap: a list between showed it.
    async fn passing(&mut self, sight: PastObject, at: u128) -> Result<(), SearchStop> {
        let (namespace, name, uid) = (
            sight.namespace.clone(),
            sight.name.clone(),
            sight.uid.clone(),
        );
        let object = BackfilledObject {
            namespace: &namespace,
            name: &name,
            uid: &uid,
            is_old: false,
        };
        if !self.work.spans(sight.version) {
            return Err(SearchStop::Odd);
        }
        let last = self.deletion(object, at, self.work.to, Some(sight)).await?;
        self.before_last(object, last).await
    }

    /// Follows an object back from its last version.
    async fn before_last(
        &mut self,
        object: BackfilledObject<'_>,
        last: PastObject,
    ) -> Result<(), SearchStop> {
        let version = last.version;
        if version > self.work.from {
            self.keep(last)?;
            self.back(object, version).await?;
        } else if !object.is_old {
            return Err(SearchStop::Odd);
        }
        Ok(())
    }

    /// Reads whole lists at the unexplained revisions; if there are too many, a few samples.
    async fn sample(&mut self, alive: &KnownObjects) -> Result<(), SearchStop> {
        let (from, to) = (self.work.from, self.work.to);
        if self.found.is_unresolved() || self.found.count_unexplained(self.work) > MAX_SAMPLES {
            if alive.len() > FEW_OBJECTS {
                return Ok(());
            }
            let part = to.saturating_sub(from) / PARTS;
            // Samples find objects that lived long. They prove nothing: `sampled` is not called.
            for place in 1..PARTS {
                let at = from.saturating_add(part.saturating_mul(place));
                if let Err(stop) = self.look(at, alive).await
                    && self.found.stopped(stop)
                {
                    break;
                }
            }
            return Ok(());
        }
        let mut at = from;
        // A creation is a write of one key, so it has a revision of its own. If no event explains a
        // revision, the list at it shows whether an object was created there.
        while at.saturating_add(1) < to {
            at = at.saturating_add(1);
            if !self.found.explained.contains(&at) {
                self.look(at, alive).await?;
            }
        }
        // An object created at the very end is in the list that ended the gap.
        self.found.sampled();
        Ok(())
    }

    /// Reads the whole list at a revision, and follows every unknown object in it.
    async fn look(&mut self, at: u128, alive: &KnownObjects) -> Result<(), SearchStop> {
        if self.found.is_lost(at) {
            return Err(SearchStop::Lost);
        }
        let reply = self.history.all(at).await;
        for sight in self.objects_of(reply, at)? {
            // A version after the requested revision: the server ignored the revision and responded
            // with the present.
            if sight.uid.is_empty() || sight.version > at {
                return Err(SearchStop::Odd);
            }
            let known = alive.get(&sight.namespace, &sight.name);
            let is_known = known.is_some_and(|known| known.uid.text() == sight.uid)
                || !self.found.met.insert(sight.uid.clone());
            if !is_known {
                self.passing(sight, at).await?;
            }
        }
        Ok(())
    }
}

/// One object that is followed.
#[derive(Clone, Copy, Debug)]
struct BackfilledObject<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
    /// It existed before the gap.
    is_old: bool,
}

/// The history, the gap, and the findings so far.
struct BackfillSearch<'a, H> {
    pub(super) history: &'a mut H,
    pub(super) work: &'a BackfillTask,
    pub(super) found: &'a mut BackfillResult,
}

impl<H: ServerHistory> BackfillSearch<'_, H> {
    /// Reads every version of an object below a version, back to its creation or the begin of the
    /// gap.
    pub(super) async fn back(
        &mut self,
        object: BackfilledObject<'_>,
        from: u128,
    ) -> Result<(), SearchStop> {
        let mut version = from;
        loop {
            let Some(at) = version.checked_sub(1).filter(|at| *at > self.work.from) else {
                self.began(object, version);
                return Ok(());
            };
            // The version before `version` is the one that the object has at `version - 1`.
            match self.sight(object, at).await? {
                Some(sight) if sight.version < version => {
                    if sight.version <= self.work.from {
                        return if object.is_old {
                            Ok(())
                        } else {
                            Err(SearchStop::Odd)
                        };
                    }
                    version = sight.version;
                    self.keep(sight)?;
                }
                // This version is the creation.
                None if !object.is_old => {
                    self.began(object, version);
                    return Ok(());
                }
                Some(_) | None => return Err(SearchStop::Odd),
            }
        }
    }

    /// Notes that an object began with a version, unless it existed before the gap.
    fn began(&mut self, object: BackfilledObject<'_>, version: u128) {
        if !object.is_old {
            self.found.began(object.uid, version);
        }
    }

    /// Finds the deletion of an object that exists at `low` and not at `high`, and its last
    /// version.
    ///
    /// The API server never reuses a uid, so the object exists up to its deletion and not after it:
    /// bisection is valid.
    pub(super) async fn deletion(
        &mut self,
        object: BackfilledObject<'_>,
        low: u128,
        high: u128,
        seen: Option<PastObject>,
    ) -> Result<PastObject, SearchStop> {
        let (mut low, mut high, mut last) = (low, high, seen);
        let mut is_lost = false;
        loop {
            let middle = low.midpoint(high);
            // `low` and `high` are neighbours: the object was deleted at `high`.
            if middle <= low || middle >= high {
                break;
            }
            match self.sight(object, middle).await {
                Ok(Some(sight)) => {
                    low = middle;
                    last = Some(sight);
                    is_lost = false;
                }
                Ok(None) => high = middle,
                // The history below is compacted: the deletion may still be found above it.
                Err(SearchStop::Lost) => {
                    low = middle;
                    last = None;
                    is_lost = true;
                }
                Err(stop) => return Err(stop),
            }
        }
        let last = match last {
            Some(last) => last,
            None if is_lost => return Err(SearchStop::Lost),
            // No revision between was read: the last version is the one before the gap.
            None => self.sight(object, low).await?.ok_or(SearchStop::Odd)?,
        };
        self.found.keep(BackfillEvent {
            namespace: object.namespace.to_owned(),
            name: object.name.to_owned(),
            uid: object.uid.to_owned(),
            version: high,
            kind: EventType::Deleted,
            body: None,
        })?;
        Ok(last)
    }

    /// Keeps a version that lies within the gap.
    fn keep(&mut self, sight: PastObject) -> Result<(), SearchStop> {
        self.found.keep(BackfillEvent {
            namespace: sight.namespace,
            name: sight.name,
            uid: sight.uid,
            version: sight.version,
            kind: EventType::Modified,
            body: Some(sight.body),
        })
    }

    /// Reads one object at a revision; `None` if it did not exist, or if another object had its
    /// name.
    async fn sight(
        &mut self,
        object: BackfilledObject<'_>,
        at: u128,
    ) -> Result<Option<PastObject>, SearchStop> {
        if self.found.is_lost(at) {
            return Err(SearchStop::Lost);
        }
        let reply = self.history.object(object.namespace, object.name, at);
        let reply = reply.await;
        let sights = self.objects_of(reply, at)?;
        let of_name = |sight: &PastObject| {
            sight.namespace == object.namespace && sight.name == object.name && sight.version <= at
        };
        if !sights.iter().all(of_name) || sights.len() > 1 {
            return Err(SearchStop::Odd);
        }
        Ok(sights.into_iter().find(|sight| sight.uid == object.uid))
    }

    /// Returns the objects of a response.
    fn objects_of(&mut self, reply: HistoryReply, at: u128) -> Result<Vec<PastObject>, SearchStop> {
        match reply {
            HistoryReply::Sights(sights) => Ok(sights),
            HistoryReply::Lost => {
                self.found.lost(at);
                Err(SearchStop::Lost)
            }
            HistoryReply::Refused(words) => Err(SearchStop::Over(words)),
            HistoryReply::Spent(words) => Err(SearchStop::Over(words.to_owned())),
        }
    }
}

/// The bytes of objects that wait in memory until they are written: 8 MiB.
const MAX_FOUND_BYTES: usize = 8 * 1024 * 1024;

/// An event that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackfillEvent {
    /// The object's namespace.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    /// The version; for a deletion, the revision of the deletion.
    pub(crate) version: u128,
    /// The kind of change. A creation is distinguished from a change when the events are ordered,
    /// and only where it is proven: the history before may be compacted.
    pub(crate) kind: EventType,
    /// The object; `None` for a deletion.
    pub(crate) body: Option<Vec<u8>>,
}

/// Why an object, or all of them, could not be followed to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchStop {
    /// The history is compacted below: other objects may still be read back.
    Lost,
    /// The responses contradict known facts.
    Odd,
    /// No further request is possible.
    Over(String),
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackfillResult {
    /// The events, unordered.
    pub(crate) events: Vec<BackfillEvent>,
    /// Revisions whose changed object of the resource is known.
    explained: BTreeSet<u128>,
    /// Objects that do not exist at the end and were followed already, as far as possible.
    met: BTreeSet<String>,
    /// Versions that are proven to be creations.
    begun: BTreeSet<(String, u128)>,
    bytes: usize,
    /// The history is compacted up to this revision.
    lost_up_to: Option<u128>,
    is_unresolved: bool,
    is_sampled: bool,
    detail: String,
}

/// The verdict of the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackfillVerdict {
    pub(crate) word: GapVerdict,
    /// The number of changes that may be missing.
    pub(crate) missing_at_most: Option<u64>,
    /// Why nothing more was found.
    pub(crate) detail: String,
}

impl BackfillResult {
    fn keep(&mut self, event: BackfillEvent) -> Result<(), SearchStop> {
        let bytes = event.body.as_ref().map_or(0, Vec::len);
        if self.bytes.saturating_add(bytes) > MAX_FOUND_BYTES {
            return Err(SearchStop::Over("too many bytes to hold".to_owned()));
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.explained.insert(event.version);
        self.events.push(event);
        Ok(())
    }

    /// An object of that uid was created with a version.
    fn began(&mut self, uid: &str, version: u128) {
        self.begun.insert((uid.to_owned(), version));
    }

    /// Takes out the versions that are proven to be creations.
    pub(crate) fn take_begun(&mut self) -> BTreeSet<(String, u128)> {
        std::mem::take(&mut self.begun)
    }

    /// Notes that something is unknown. Returns true if no further request is possible.
    fn stopped(&mut self, stop: SearchStop) -> bool {
        self.is_unresolved = true;
        let (words, is_over) = match stop {
            SearchStop::Lost => ("the history does not reach back so far".to_owned(), false),
            SearchStop::Odd => ("an answer contradicts what was recorded".to_owned(), false),
            SearchStop::Over(words) => (words, true),
        };
        if self.detail.is_empty() || is_over {
            self.detail = words;
        }
        is_over
    }

    /// The server has compacted a revision and those before it.
    fn lost(&mut self, at: u128) {
        self.lost_up_to = self.lost_up_to.max(Some(at));
    }

    /// Returns whether a revision is known to be compacted.
    fn is_lost(&self, at: u128) -> bool {
        self.lost_up_to.is_some_and(|lost| at <= lost)
    }

    /// Returns whether something is unknown.
    const fn is_unresolved(&self) -> bool {
        self.is_unresolved
    }

    /// No request is needed.
    pub(crate) fn given_up(&mut self, words: &str) {
        self.stopped(SearchStop::Over(words.to_owned()));
    }

    /// Every revision that no event explains was read.
    fn sampled(&mut self) {
        self.is_sampled = true;
    }

    /// Notes that an event could not be written.
    pub(crate) fn withheld(&mut self, version: u128) {
        self.explained.remove(&version);
        self.is_unresolved = true;
        "an object could not be kept".clone_into(&mut self.detail);
    }

    /// Returns the verdict.
    pub(crate) fn verdict(&self, work: &BackfillTask) -> BackfillVerdict {
        if self.is_sampled && !self.is_unresolved && !work.has_unclear {
            return BackfillVerdict {
                word: GapVerdict::Reconstructed,
                missing_at_most: Some(0),
                detail: String::new(),
            };
        }
        let in_short = if self.lost_up_to.is_some() && self.events.is_empty() {
            GapVerdict::Lost
        } else {
            GapVerdict::Partly
        };
        let detail = match (self.detail.as_str(), work.has_unclear) {
            ("", true) => "not every object has a uid and a version".to_owned(),
            ("", false) => "objects that came and went inside it could not be ruled out".to_owned(),
            (words, _) => words.to_owned(),
        };
        BackfillVerdict {
            word: in_short,
            missing_at_most: u64::try_from(self.count_unexplained(work)).ok(),
            detail,
        }
    }

    /// Counts the unexplained revisions.
    fn count_unexplained(&self, work: &BackfillTask) -> u128 {
        let explained = self.explained.range(work.from.saturating_add(1)..=work.to);
        let explained = u128::from(len64(explained.count()));
        work.to.saturating_sub(work.from).saturating_sub(explained)
    }
}
