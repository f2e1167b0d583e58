//! Owns the order in which a gap is read back: changed objects, new ones, vanished ones, and then the
//! whole lists that rule out what came and went. Refuses to take a few lists for a proof.

use super::found::{Found, Stop};
use super::history::{History, Sight};
use super::lives::{Followed, Search};
use super::work::{Life, Suspect, Work};
use crate::watch::known::Known;

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
pub(crate) async fn read_back<H: History>(
    history: &mut H,
    work: &Work,
    alive: &Known,
    found: &mut Found,
) {
    let ends = work.suspects.iter().filter_map(|one| one.after.as_ref());
    for life in ends.filter(|life| work.spans(life.version)) {
        found.explained.insert(life.version);
    }
    let begins = work.suspects.iter().filter_map(|one| one.before.as_ref());
    found.met.extend(begins.map(|life| life.uid.clone()));
    let mut search = Search {
        history,
        work,
        found,
    };
    for way in [Way::Changed, Way::Created, Way::Vanished] {
        for suspect in &work.suspects {
            let done = match way {
                Way::Changed => search.changed(suspect).await,
                Way::Created => search.created(suspect).await,
                Way::Vanished => search.vanished(suspect).await,
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
enum Way {
    Changed,
    Created,
    Vanished,
}

impl Work {
    fn spans(&self, version: u128) -> bool {
        self.from < version && version <= self.to
    }
}

impl Suspect {
    fn followed<'a>(&'a self, life: &'a Life, is_old: bool) -> Followed<'a> {
        Followed {
            namespace: &self.namespace,
            name: &self.name,
            uid: &life.uid,
            is_old,
        }
    }
}

impl<H: History> Search<'_, H> {
    /// One object, at both ends.
    async fn changed(&mut self, suspect: &Suspect) -> Result<(), Stop> {
        let (Some(before), Some(after)) = (&suspect.before, &suspect.after) else {
            return Ok(());
        };
        if before.uid != after.uid || before.version == after.version {
            return Ok(());
        }
        if before.version > self.work.from || !self.work.spans(after.version) {
            return Err(Stop::Odd);
        }
        let object = suspect.followed(after, true);
        self.back(object, after.version).await
    }

    /// An object that is there only at the end.
    async fn created(&mut self, suspect: &Suspect) -> Result<(), Stop> {
        let Some(after) = &suspect.after else {
            return Ok(());
        };
        let is_old = suspect.before.as_ref();
        if is_old.is_some_and(|before| before.uid == after.uid) {
            return Ok(());
        }
        if !self.work.spans(after.version) {
            return Err(Stop::Odd);
        }
        let object = suspect.followed(after, false);
        self.back(object, after.version).await
    }

    /// An object that is there only at the begin.
    async fn vanished(&mut self, suspect: &Suspect) -> Result<(), Stop> {
        let Some(before) = &suspect.before else {
            return Ok(());
        };
        let after = suspect.after.as_ref();
        if after.is_some_and(|after| after.uid == before.uid) {
            return Ok(());
        }
        if before.version > self.work.from {
            return Err(Stop::Odd);
        }
        let object = suspect.followed(before, true);
        let (low, high) = (self.work.from, self.work.to);
        let last = self.deletion(object, low, high, None).await?;
        self.before_last(object, last).await
    }

    /// An object that came and went: it was seen at a revision in between.
    async fn passing(&mut self, sight: Sight, at: u128) -> Result<(), Stop> {
        let (namespace, name, uid) = (
            sight.namespace.clone(),
            sight.name.clone(),
            sight.uid.clone(),
        );
        let object = Followed {
            namespace: &namespace,
            name: &name,
            uid: &uid,
            is_old: false,
        };
        if !self.work.spans(sight.version) {
            return Err(Stop::Odd);
        }
        let last = self.deletion(object, at, self.work.to, Some(sight)).await?;
        self.before_last(object, last).await
    }

    /// Follows an object back from its last version.
    async fn before_last(&mut self, object: Followed<'_>, last: Sight) -> Result<(), Stop> {
        let version = last.version;
        if version > self.work.from {
            self.keep(last)?;
            self.back(object, version).await?;
        } else if !object.is_old {
            return Err(Stop::Odd);
        }
        Ok(())
    }

    /// Reads whole lists at the revisions that nothing explains; if there are too many of them, a few
    /// between.
    async fn sample(&mut self, alive: &Known) -> Result<(), Stop> {
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
    async fn look(&mut self, at: u128, alive: &Known) -> Result<(), Stop> {
        if self.found.is_lost(at) {
            return Err(Stop::Lost);
        }
        let reply = self.history.all(at).await;
        for sight in self.told(reply, at)? {
            if sight.uid.is_empty() || sight.version > at {
                return Err(Stop::Odd);
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
