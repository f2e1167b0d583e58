//! The order in which a gap is read back, and what the answers prove. Requests come from a [`ServerHistory`]:
//! `ask` has the real one, the tests one of their own.
//!
//! Invariants:
//! * The cheapest questions come first: changed objects, new ones, vanished ones, then the whole lists that
//!   rule out objects that came and went. When the budget is spent, what was found until then counts.
//! * An object is followed back from a version to the one before, and to its deletion by bisection. An
//!   answer that contradicts what is known ends the search for that object; nothing is concluded from it.
//! * The gap is called reconstructed only if every revision in it is explained by an event or was read as a
//!   whole list. A few lists between are samples, never a proof.
//! * Only versions that are numbers take part: no other version has a "before".

use crate::known::{KnownObject, KnownObjects};
use crate::number::len64;
use kubereel_format::{EventType, GapVerdict};
use std::collections::BTreeSet;

/// One object's state at an end of the gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GapEndState {
    pub(crate) uid: String,
    /// Its version there.
    pub(crate) version: u128,
}

impl GapEndState {
    /// Takes what a stream knows; `None` if it has no uid or no version that is a number.
    pub(crate) fn of(known: &KnownObject) -> Option<Self> {
        let uid = known.uid.text();
        let version = known.version.as_ref()?.number()?;
        (!uid.is_empty()).then_some(Self { uid, version })
    }
}

/// A name under which the two ends differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GapSuspect {
    /// Its namespace; empty for cluster-scoped objects.
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// What stood there before the gap.
    pub(crate) before: Option<GapEndState>,
    /// What stands there after it.
    pub(crate) after: Option<GapEndState>,
}

/// A gap to be read back: all that happened after `from`, up to and including `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackfillTask {
    /// The last revision that is known.
    pub(crate) from: u128,
    /// The revision of the list that ended the gap.
    pub(crate) to: u128,
    /// What differs.
    pub(crate) suspects: Vec<GapSuspect>,
    /// Some states at the ends could not be determined.
    pub(crate) has_unclear: bool,
}

/// An object as it was at some revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastObject {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    /// The version that it had then.
    pub(crate) version: u128,
    /// Its bytes.
    pub(crate) body: Vec<u8>,
}

/// What a history answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HistoryReply {
    /// What there was.
    Sights(Vec<PastObject>),
    /// That part of the history is gone.
    Lost,
    /// The server does not answer such questions, or not so that the answer could be used.
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

/// How many whole lists are read where they prove that nothing came and went.
const MAX_SAMPLES: u128 = 64;

/// How many parts the gap is cut into where there are too many revisions for a proof: a whole list is
/// read between each two, so that at least what lived long is found.
const PARTS: u128 = 8;

/// The most objects in a list that is read where it proves nothing.
const FEW_OBJECTS: usize = 500;

/// Reads back what happened in a gap, as far as the history answers. `alive` is what is there at the
/// gap's end.
///
/// Whoever stops waiting keeps what was found until then; it proves nothing.
pub(crate) async fn read_back<H: ServerHistory>(
    history: &mut H,
    work: &BackfillTask,
    alive: &KnownObjects,
    found: &mut BackfillResult,
) {
    let ends = work.suspects.iter().filter_map(|one| one.after.as_ref());
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

/// What became of an object, from the cheapest to follow to the dearest.
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
            return Err(SearchStop::Odd);
        }
        let object = suspect.followed(after, true);
        self.back(object, after.version).await
    }

    /// An object that is there only at the end.
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

    /// An object that is there only at the begin.
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

    /// An object that came and went: it was seen at a revision in between.
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

    /// Reads whole lists at the revisions that nothing explains; if there are too many of them, a few
    /// between.
    async fn sample(&mut self, alive: &KnownObjects) -> Result<(), SearchStop> {
        let (from, to) = (self.work.from, self.work.to);
        if self.found.is_unresolved() || self.found.count_unexplained(self.work) > MAX_SAMPLES {
            if alive.len() > FEW_OBJECTS {
                return Ok(());
            }
            let part = to.saturating_sub(from) / PARTS;
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
        while at.saturating_add(1) < to {
            at = at.saturating_add(1);
            if !self.found.explained.contains(&at) {
                self.look(at, alive).await?;
            }
        }
        // What was created at the very end is in the list that ended the gap.
        self.found.sampled();
        Ok(())
    }

    /// Reads the whole list at a revision, and follows what is unknown in it.
    async fn look(&mut self, at: u128, alive: &KnownObjects) -> Result<(), SearchStop> {
        if self.found.is_lost(at) {
            return Err(SearchStop::Lost);
        }
        let reply = self.history.all(at).await;
        for sight in self.told(reply, at)? {
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
    /// It was there before the gap.
    is_old: bool,
}

/// The history, the gap, and what was found in it so far.
struct BackfillSearch<'a, H> {
    pub(super) history: &'a mut H,
    pub(super) work: &'a BackfillTask,
    pub(super) found: &'a mut BackfillResult,
}

impl<H: ServerHistory> BackfillSearch<'_, H> {
    /// Reads every version of an object below one of them, back to its creation or the gap's begin.
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
                // It was created with the version that is known.
                None if !object.is_old => {
                    self.began(object, version);
                    return Ok(());
                }
                Some(_) | None => return Err(SearchStop::Odd),
            }
        }
    }

    /// Notes that an object began with a version, if it was not there before the gap.
    fn began(&mut self, object: BackfilledObject<'_>, version: u128) {
        if !object.is_old {
            self.found.began(object.uid, version);
        }
    }

    /// Finds the deletion of an object that was there at `low` and is gone at `high`, and its last
    /// version.
    ///
    /// A uid is never used again: it is there up to its deletion, and not after it.
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
                // What happened before is lost: the deletion may still be found behind it.
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
            // It was never looked at: so its last version is the one before the gap.
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

    /// Looks at one object at a revision; `None` if it was not there, or another one of its name.
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
        let sights = self.told(reply, at)?;
        let of_name = |sight: &PastObject| {
            sight.namespace == object.namespace && sight.name == object.name && sight.version <= at
        };
        if !sights.iter().all(of_name) || sights.len() > 1 {
            return Err(SearchStop::Odd);
        }
        Ok(sights.into_iter().find(|sight| sight.uid == object.uid))
    }

    /// Takes a reply for its objects.
    fn told(&mut self, reply: HistoryReply, at: u128) -> Result<Vec<PastObject>, SearchStop> {
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

/// How many bytes of objects wait in memory until they are written: 8 MiB.
const MAX_FOUND_BYTES: usize = 8 * 1024 * 1024;

/// An event that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackfillEvent {
    /// The object's namespace.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
    /// The version; for a deletion, the revision of that.
    pub(crate) version: u128,
    /// What happened. A creation is told from a change where the events are put in order, and only where
    /// it is proven: what came before may be lost.
    pub(crate) kind: EventType,
    /// The object; `None` for a deletion.
    pub(crate) body: Option<Vec<u8>>,
}

/// Why an object or all of them could not be followed to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchStop {
    /// The history does not reach back so far: others may be read back nevertheless.
    Lost,
    /// The answers contradict what is known.
    Odd,
    /// Nothing more is to be asked.
    Over(String),
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackfillResult {
    /// The events, in no order.
    pub(crate) events: Vec<BackfillEvent>,
    /// The revisions whose changed object of the resource is known.
    explained: BTreeSet<u128>,
    /// The objects that are not there at the end and were followed already, as far as they could be.
    met: BTreeSet<String>,
    /// The versions with which objects began, where that is proven.
    begun: BTreeSet<(String, u128)>,
    bytes: usize,
    /// The history is gone up to here.
    lost_up_to: Option<u128>,
    is_unresolved: bool,
    is_sampled: bool,
    detail: String,
}

/// What the findings come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackfillVerdict {
    pub(crate) word: GapVerdict,
    /// How many changes may be missing.
    pub(crate) missing_at_most: Option<u64>,
    /// Why no more was found.
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

    /// An object of that uid began with a version.
    fn began(&mut self, uid: &str, version: u128) {
        self.begun.insert((uid.to_owned(), version));
    }

    /// Takes out the versions with which objects began, where that is proven.
    pub(crate) fn take_begun(&mut self) -> BTreeSet<(String, u128)> {
        std::mem::take(&mut self.begun)
    }

    /// Notes that something could not be determined. Returns true if no further request is to be made.
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

    /// The server has no history of a revision any more, nor of those before.
    fn lost(&mut self, at: u128) {
        self.lost_up_to = self.lost_up_to.max(Some(at));
    }

    /// Returns whether that is known of a revision.
    fn is_lost(&self, at: u128) -> bool {
        self.lost_up_to.is_some_and(|lost| at <= lost)
    }

    /// Returns whether something could not be determined.
    const fn is_unresolved(&self) -> bool {
        self.is_unresolved
    }

    /// Nothing is to be asked after all.
    pub(crate) fn given_up(&mut self, words: &str) {
        self.stopped(SearchStop::Over(words.to_owned()));
    }

    /// Every revision that no found event explains was looked at.
    fn sampled(&mut self) {
        self.is_sampled = true;
    }

    /// Notes that an event could not be written after all.
    pub(crate) fn withheld(&mut self, version: u128) {
        self.explained.remove(&version);
        self.is_unresolved = true;
        "an object could not be kept".clone_into(&mut self.detail);
    }

    /// Judges.
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

    /// Counts the revisions that nothing explains.
    fn count_unexplained(&self, work: &BackfillTask) -> u128 {
        let explained = self.explained.range(work.from.saturating_add(1)..=work.to);
        let explained = u128::from(len64(explained.count()));
        work.to.saturating_sub(work.from).saturating_sub(explained)
    }
}
