//! Every change that etcd made, held against what a reel keeps.
//!
//! It owns the verdict: recorded, before the recorder's first list, inside a gap that the reel
//! declares, or lost. It refuses any other excuse, and it never asks the recorder.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use kubereel_format::{EventType, Gap, GapVerdict, Note, Reel, ResourceId, Seq};

use super::etcd_key::{EtcdKey, ObjectKey};
use super::watch::{Change, ChangeKind};

/// What became of etcd's changes in a reel.
#[derive(Debug, Default)]
pub struct Account {
    /// They are in the reel, with their revision and kind.
    pub recorded: Vec<Change>,
    /// They are not, and were made before the first list of their resource was complete.
    pub before: usize,
    /// They are not, and lie inside a gap of their resource.
    pub in_gaps: Vec<Change>,
    /// They are of a resource that the recorder never came to list.
    pub unlisted: Vec<Change>,
    /// They are not, and nothing says so.
    pub lost: Vec<Change>,
    /// They are of keys that no API shows.
    pub without_api: usize,
}

/// One resource of the reel.
#[derive(Debug, Default)]
struct Kept {
    group: String,
    first_list: Option<u128>,
    gaps: Vec<Gap>,
    between: Vec<Between>,
    /// Namespace, name, revision and kind.
    events: BTreeMap<(String, String, u128), Vec<EventType>>,
}

impl Kept {
    fn listed(&mut self, rv: Option<u128>) {
        if self.first_list.is_none() {
            self.first_list = rv;
        }
        if let Some(last) = self.between.last_mut()
            && last.to.is_none()
        {
            last.to = rv;
        }
    }

    fn left(&mut self, said: Seq) {
        let ends = self.gaps.iter().filter_map(|gap| gap.to_rv.parse().ok());
        let after = ends.chain(self.first_list).max();
        if let Some(after) = after
            && self.between.last().is_none_or(|last| last.to.is_some())
        {
            let to = None;
            self.between.push(Between { said, after, to });
        }
    }

    /// The last that is known of a life is its last record.
    fn last_before(&mut self, seq: Seq, rv: u128) {
        for one in &mut self.between {
            if seq < one.said {
                one.after = one.after.max(rv);
            }
        }
    }

    fn is_between(&self, revision: u128) -> bool {
        self.between.iter().any(|one| one.holds(revision))
    }
}

/// Between two lives of a resource: the reel says that it is not covered, up to the next first list.
#[derive(Debug)]
struct Between {
    said: Seq,
    after: u128,
    to: Option<u128>,
}

impl Between {
    fn holds(&self, revision: u128) -> bool {
        self.after < revision && self.to.is_none_or(|to| revision <= to)
    }
}

impl Account {
    /// Judges every change.
    ///
    /// # Errors
    /// When the reel is damaged, or a key is of no known form.
    pub fn of(reel: &Reel, changes: &[Change]) -> Result<Self> {
        ensure!(reel.damage().is_empty(), "damaged: {:?}", reel.damage());
        let kept = kept(reel);
        let mut account = Self::default();
        for change in changes {
            let key = match change.etcd_key() {
                EtcdKey::Object(key) => key,
                EtcdKey::WithoutApi => {
                    account.without_api += 1;
                    continue;
                }
                EtcdKey::Unknown => anyhow::bail!("what is {}?", change.key),
            };
            let resources: Vec<&Kept> = kept
                .get(&key.resource)
                .into_iter()
                .flatten()
                .filter(|kept| key.group.is_none() || key.group.as_ref() == Some(&kept.group))
                .collect();
            account.judge(change, &key, &resources);
        }
        Ok(account)
    }

    fn judge(&mut self, change: &Change, key: &ObjectKey, resources: &[&Kept]) {
        let revision = u128::from(change.revision);
        let kind = match change.kind {
            ChangeKind::Created => EventType::Added,
            ChangeKind::Updated => EventType::Modified,
            ChangeKind::Deleted => EventType::Deleted,
        };
        let place = (
            key.namespace.clone().unwrap_or_default(),
            key.name.clone(),
            revision,
        );
        let is_recorded = |kept: &&&Kept| {
            let kinds = kept.events.get(&place);
            kinds.is_some_and(|kinds| kinds.contains(&kind))
        };
        let is_in_gap = |kept: &&Kept| kept.gaps.iter().any(|gap| spans(gap, revision));
        let first_list = resources.iter().filter_map(|kept| kept.first_list).min();
        if resources.iter().any(|kept| is_recorded(&kept)) {
            self.recorded.push(change.clone());
        } else if first_list.is_some_and(|first| revision <= first)
            || resources.iter().any(|kept| kept.is_between(revision))
        {
            self.before += 1;
        } else if first_list.is_none() {
            self.unlisted.push(change.clone());
        } else if resources.iter().any(is_in_gap) {
            self.in_gaps.push(change.clone());
        } else {
            self.lost.push(change.clone());
        }
    }

    /// Fails with what was lost, if anything was.
    ///
    /// # Errors
    /// When anything was.
    pub fn check(&self) -> Result<()> {
        let first: Vec<_> = self.lost.iter().take(30).collect();
        ensure!(
            first.is_empty(),
            "{} of {} changes are lost, first {first:#?}",
            self.lost.len(),
            self.lost.len() + self.recorded.len() + self.in_gaps.len()
        );
        Ok(())
    }
}

fn kept(reel: &Reel) -> BTreeMap<String, Vec<Kept>> {
    let mut kept: BTreeMap<ResourceId, (String, Kept)> = BTreeMap::new();
    for entry in reel.notes() {
        match &entry.note {
            Note::Resource(info) => {
                let (_, resource) = kept
                    .entry(info.id)
                    .or_insert_with(|| (info.plural.clone(), Kept::default()));
                resource.group.clone_from(&info.group);
            }
            Note::Synced { resource, rv, .. } => {
                if let Some((_, resource)) = kept.get_mut(resource) {
                    resource.listed(rv.parse().ok());
                }
            }
            Note::NotCovered { group, plural, .. } => {
                for (name, resource) in kept.values_mut() {
                    if name == plural && resource.group == *group {
                        resource.left(entry.seq);
                    }
                }
            }
            Note::Gap(gap) => {
                if let Some((_, resource)) = kept.get_mut(&gap.resource) {
                    resource.gaps.push(gap.clone());
                }
            }
            // Nothing may be missing in it.
            Note::GapJudged {
                gap,
                verdict: GapVerdict::Reconstructed,
                ..
            } => {
                for (_, resource) in kept.values_mut() {
                    resource.gaps.retain(|known| known.id != *gap);
                }
            }
            _ => {}
        }
    }
    for seq in (0..reel.end().0).map(Seq) {
        let (Some(head), Some(rv)) = (reel.head(seq), reel.rv_of(seq)) else {
            continue;
        };
        let place = usize::try_from(head.object.0).unwrap_or(usize::MAX);
        let Some(object) = reel.objects().get(place) else {
            continue;
        };
        if let Some((_, resource)) = kept.get_mut(&object.key.resource) {
            let key = &object.key;
            resource.last_before(seq, rv);
            let place = (key.namespace.clone(), key.name.clone(), rv);
            resource.events.entry(place).or_default().push(head.kind);
        }
    }
    let mut by_plural: BTreeMap<String, Vec<Kept>> = BTreeMap::new();
    for (plural, resource) in kept.into_values() {
        by_plural.entry(plural).or_default().push(resource);
    }
    by_plural
}

/// Whether a revision lies after the gap's first bound, up to and including the second.
fn spans(gap: &Gap, revision: u128) -> bool {
    let from = gap.from_rv.as_ref().and_then(|rv| rv.parse().ok());
    let to = gap.to_rv.parse().ok();
    from.is_none_or(|from: u128| from < revision) && to.is_some_and(|to: u128| revision <= to)
}
