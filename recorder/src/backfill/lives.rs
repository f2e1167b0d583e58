//! Owns the following of one object through the past: back from a version to the one before, and to
//! its deletion by halves. Refuses to go on where an answer contradicts what is known.

use super::found::{Found, FoundEvent, Stop};
use super::history::{History, Reply, Sight};
use super::work::Work;
use kubereel_format::EventType;

/// One object that is followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
    /// It was there before the gap.
    pub(super) is_old: bool,
}

/// The history, the gap, and what was found in it so far.
pub(super) struct Search<'a, H> {
    pub(super) history: &'a mut H,
    pub(super) work: &'a Work,
    pub(super) found: &'a mut Found,
}

impl<H: History> Search<'_, H> {
    /// Reads every version of an object below one of them, back to its creation or the gap's begin.
    pub(super) async fn back(&mut self, object: Followed<'_>, from: u128) -> Result<(), Stop> {
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
                            Err(Stop::Odd)
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
                Some(_) | None => return Err(Stop::Odd),
            }
        }
    }

    /// Notes that an object began with a version, if it was not there before the gap.
    fn began(&mut self, object: Followed<'_>, version: u128) {
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
        object: Followed<'_>,
        low: u128,
        high: u128,
        seen: Option<Sight>,
    ) -> Result<Sight, Stop> {
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
                Err(Stop::Lost) => {
                    low = middle;
                    last = None;
                    is_lost = true;
                }
                Err(stop) => return Err(stop),
            }
        }
        let last = match last {
            Some(last) => last,
            None if is_lost => return Err(Stop::Lost),
            // It was never looked at: so its last version is the one before the gap.
            None => self.sight(object, low).await?.ok_or(Stop::Odd)?,
        };
        self.found.keep(FoundEvent {
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
    pub(super) fn keep(&mut self, sight: Sight) -> Result<(), Stop> {
        self.found.keep(FoundEvent {
            namespace: sight.namespace,
            name: sight.name,
            uid: sight.uid,
            version: sight.version,
            kind: EventType::Modified,
            body: Some(sight.body),
        })
    }

    /// Looks at one object at a revision; `None` if it was not there, or another one of its name.
    async fn sight(&mut self, object: Followed<'_>, at: u128) -> Result<Option<Sight>, Stop> {
        if self.found.is_lost(at) {
            return Err(Stop::Lost);
        }
        let reply = self.history.object(object.namespace, object.name, at);
        let reply = reply.await;
        let sights = self.told(reply, at)?;
        let of_name = |sight: &Sight| {
            sight.namespace == object.namespace && sight.name == object.name && sight.version <= at
        };
        if !sights.iter().all(of_name) || sights.len() > 1 {
            return Err(Stop::Odd);
        }
        Ok(sights.into_iter().find(|sight| sight.uid == object.uid))
    }

    /// Takes a reply for its objects.
    pub(super) fn told(&mut self, reply: Reply, at: u128) -> Result<Vec<Sight>, Stop> {
        match reply {
            Reply::Sights(sights) => Ok(sights),
            Reply::Lost => {
                self.found.lost(at);
                Err(Stop::Lost)
            }
            Reply::Refused(words) => Err(Stop::Over(words)),
            Reply::Spent(words) => Err(Stop::Over(words.to_owned())),
        }
    }
}
