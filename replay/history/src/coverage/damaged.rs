//! The loss by damage, as times and resources: in the reel itself, and in the damaged reel from
//! which it was recovered.

use super::unobserved::UnobservedReason;
use crate::counttext::number;
use crate::select::ObjectFilter;
use crate::tables::{ReelTables, before, count_of};
use crate::timetext::ClockZone;
use kubereel_format::{Damage, Loss, Note, ObjectId, ObjectKeyRef, RecordedAt, ResourceId, Seq};
use std::collections::BTreeSet;

/// A damaged place of a reel, or of the one from which it was recovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedSpan {
    /// The place, the cause, and the records.
    pub damage: Damage,
    /// When the first lost record was received, or the last one before it.
    pub from: RecordedAt,
    /// When the last lost record was received, or the first one after it.
    pub to: RecordedAt,
    /// The resources of the lost records, if they are known; empty if any resource may be among
    /// them.
    pub resources: BTreeSet<ResourceId>,
    /// If only bodies are lost, the objects whose versions these are.
    objects: BTreeSet<ObjectId>,
    /// The number of lost records, if it is known.
    pub records: Option<u64>,
    /// Whether an earlier file lost them: this file is whole there.
    pub is_recovered: bool,
}

impl DamagedSpan {
    /// Finds all damage of a reel.
    pub(crate) fn all(tables: &ReelTables) -> Vec<Self> {
        let damage = tables.reel().damage().iter();
        let mut all: Vec<Self> = damage.map(|damage| Self::of(tables, damage)).collect();
        for entry in tables.reel().notes() {
            if let Note::Unreadable {
                from,
                to,
                records,
                resources,
                cause,
            } = &entry.note
            {
                let damage = Damage {
                    place: "the file that this one was recovered from".to_owned(),
                    cause: cause.clone(),
                    loss: Loss::Records {
                        first: entry.seq,
                        last: Some(entry.seq),
                    },
                };
                all.push(Self {
                    damage,
                    from: *from,
                    to: *to,
                    resources: resources.iter().copied().collect(),
                    objects: BTreeSet::new(),
                    records: *records,
                    is_recovered: true,
                });
            }
        }
        all
    }

    fn of(tables: &ReelTables, damage: &Damage) -> Self {
        let reel = tables.reel();
        let (from, to) = match damage.loss {
            Loss::Nothing | Loss::Unknown => (tables.start(), tables.end()),
            Loss::Records { first, last } => {
                let to = last.map(|last| Seq(last.0.saturating_add(1)));
                (
                    before(first).map_or(tables.start(), |seq| tables.wall_of(seq)),
                    to.map_or(tables.end(), |seq| tables.wall_of(seq)),
                )
            }
            Loss::Bodies { first, last } => (tables.wall_of(first), tables.wall_of(last)),
        };
        let objects: BTreeSet<ObjectId> = match damage.loss {
            Loss::Bodies { first, last } => (first.0..=last.0)
                .filter(|seq| reel.is_unreadable(Seq(*seq)))
                .filter_map(|seq| reel.object_of(Seq(seq)))
                .collect(),
            _ => BTreeSet::new(),
        };
        let keys = objects.iter().filter_map(|object| tables.key_of(*object));
        let resources = keys.map(|key| key.resource).collect();
        Self {
            damage: damage.clone(),
            from,
            to: to.max(from),
            resources,
            objects,
            records: reel.lost_in(damage.loss),
            is_recovered: false,
        }
    }

    /// Returns why what it took was not observed.
    pub(super) fn reason(&self) -> UnobservedReason {
        let Damage { place, cause, .. } = &self.damage;
        if self.is_recovered {
            let cause = cause.clone();
            return UnobservedReason::LostBeforeRecovery { cause };
        }
        let place = format!("{place}: {cause}");
        UnobservedReason::Damaged { place }
    }

    /// Returns whether records of a resource may be lost.
    pub(super) fn concerns(&self, resource: ResourceId) -> bool {
        match self.damage.loss {
            Loss::Nothing => false,
            Loss::Bodies { .. } => self.resources.contains(&resource),
            _ => self.resources.is_empty() || self.resources.contains(&resource),
        }
    }

    /// Returns the objects of a resource of which versions are lost; `None` if lost records may be of any.
    pub(super) fn objects_of<'a>(
        &'a self,
        tables: &'a ReelTables,
        resource: ResourceId,
    ) -> Option<impl Iterator<Item = ObjectKeyRef<'a>>> {
        let keys = self.objects.iter();
        let keys = keys.filter_map(|object| tables.key_of(*object));
        let is_of_bodies = matches!(self.damage.loss, Loss::Bodies { .. });
        is_of_bodies.then(|| keys.filter(move |key| key.resource == resource))
    }

    /// Returns whether records of objects of a resource that match a filter may be lost, or versions of them are.
    pub(crate) fn concerns_any(
        &self,
        tables: &ReelTables,
        resource: ResourceId,
        filter: &ObjectFilter<'_>,
    ) -> bool {
        match self.objects_of(tables, resource) {
            Some(mut keys) => keys.any(|key| filter.takes(key.namespace, key.name)),
            None => self.concerns(resource),
        }
    }

    /// Returns whether a state of a resource after all records below `cut`, as of a time, may lack lost records.
    pub(super) fn hides(
        &self,
        tables: &ReelTables,
        resource: ResourceId,
        (cut, filter): (Option<(Seq, RecordedAt)>, &ObjectFilter<'_>),
        listed: impl Iterator<Item = Seq>,
    ) -> bool {
        let hidden = self.hidden(tables, resource, filter, listed);
        hidden.is_some_and(|(first, again)| {
            cut.is_none_or(|(cut, wall)| {
                // A time behind the last record before the loss has its place at the first lost
                // record, as the times of these are lost, too. So has the end of the recording, if that is lost.
                let is_behind =
                    first == cut && (wall > self.from || self.damage.loss.last().is_none());
                let is_before = cut == Seq(0) && self.is_of_begin(tables);
                (first < cut || is_behind || is_before) && again.is_none_or(|again| cut <= again)
            })
        })
    }

    /// Returns whether the last record of the recording is lost, so that it went on behind the last readable one.
    pub(crate) fn is_of_end(&self, tables: &ReelTables) -> bool {
        match self.damage.loss {
            Loss::Nothing | Loss::Bodies { .. } => false,
            Loss::Unknown => true,
            // The note of a recovery stands where the records were.
            Loss::Records { .. } if self.is_recovered => {
                self.from == self.to && self.from >= tables.end()
            }
            Loss::Records { last, .. } => {
                last.is_none_or(|last| last.0.saturating_add(1) >= tables.reel().end().0)
            }
        }
    }

    /// Returns when it began and ended; `None` where it took the begin or the end of the recording, whose times are
    /// lost, too.
    pub(crate) fn times(&self, tables: &ReelTables) -> (Option<RecordedAt>, Option<RecordedAt>) {
        (
            (!self.is_of_begin(tables)).then_some(self.from),
            (!self.is_of_end(tables)).then_some(self.to),
        )
    }

    /// Returns whether the first record of the recording is lost, so that it began before the first readable one.
    pub(crate) fn is_of_begin(&self, tables: &ReelTables) -> bool {
        match self.damage.loss {
            Loss::Nothing | Loss::Bodies { .. } => false,
            Loss::Unknown => true,
            Loss::Records { .. } if self.is_recovered => {
                self.from == self.to && self.to <= tables.start()
            }
            Loss::Records { first, .. } => first == Seq(0),
        }
    }

    /// Returns the first record at which the state of a resource is no longer known, and the one
    /// that shows it again: the completion of a list, `listed` being those records; if the query is
    /// about one object, also its next version.
    pub(crate) fn hidden(
        &self,
        tables: &ReelTables,
        resource: ResourceId,
        filter: &ObjectFilter<'_>,
        listed: impl Iterator<Item = Seq>,
    ) -> Option<(Seq, Option<Seq>)> {
        let (first, last) = match self.damage.loss {
            // If only bodies are lost, the events are known, and reading a lost body fails by
            // itself.
            Loss::Nothing | Loss::Bodies { .. } => return None,
            Loss::Unknown => return Some((Seq(0), None)),
            Loss::Records { first, last } => (first, last),
        };
        if !self.concerns(resource) {
            return None;
        }
        let Some(last) = last else {
            return Some((first, None));
        };
        // The note of a recovery comes before all lost records: only records that were received
        // later show the state again.
        let is_later =
            |seq: &Seq| last < *seq && (!self.is_recovered || tables.wall_of(*seq) > self.to);
        let shown = listed.filter(is_later).min();
        let version = versions_of_only(tables, resource, filter)
            .filter(is_later)
            .min();
        Some((first, shown.into_iter().chain(version).min()))
    }

    /// Describes the loss: time, records, and resources.
    pub(crate) fn words(&self, tables: &ReelTables, zone: &ClockZone) -> String {
        let at = |at| zone.within(tables.start(), tables.end(), at);
        let after = if tables.is_dated() {
            format!("after {}", at(self.from))
        } else {
            "at an unknown time".to_owned()
        };
        let is_of_begin = self.damage.loss.first() == Some(Seq(0)) && tables.is_dated();
        let span = if self.to > self.from {
            format!("{}–{}", at(self.from), at(self.to))
        } else if is_of_begin && self.damage.loss.last().is_some() {
            format!("before {}", at(self.to))
        } else {
            after.clone()
        };
        let Damage { place, cause, loss } = &self.damage;
        let why = format!("{place}: {cause}");
        let count = match self.records {
            Some(1) => "1 event or note is".to_owned(),
            Some(count) => format!("{} events or notes are", number(count)),
            None => "any number of events may be".to_owned(),
        };
        match loss {
            Loss::Nothing if tables.reel().has_losses() => {
                format!("{why}; what is lost by it is listed by itself")
            }
            Loss::Nothing => format!("{why}; nothing is lost by this"),
            Loss::Unknown => format!("{why}; events may be missing anywhere"),
            Loss::Records { .. } if self.is_recovered => {
                format!("{span}, {count} lost ({why})")
            }
            Loss::Records {
                first,
                last: Some(last),
            } => format!(
                "{span}, records {}–{} of any resource are unreadable ({why})",
                number(first.0),
                number(last.0)
            ),
            Loss::Records { first, last: None } => format!(
                "{after}, records from {} on are missing, if there were any ({why})",
                number(first.0)
            ),
            Loss::Bodies { first, last } => {
                let seqs = (first.0..=last.0).map(Seq);
                let events = seqs.filter(|seq| tables.reel().object_of(*seq).is_some());
                let records = self.records.filter(|lost| *lost < count_of(events.count()));
                let some = records.map(|lost| format!("{} of the ", number(lost)));
                format!(
                    "{span}, the objects of {}events {}–{} are unreadable ({why})",
                    some.unwrap_or_default(),
                    number(first.0),
                    number(last.0)
                )
            }
        }
    }
}

/// Returns the versions of the only object of a filter; nothing if it takes more.
fn versions_of_only(
    tables: &ReelTables,
    resource: ResourceId,
    filter: &ObjectFilter<'_>,
) -> impl Iterator<Item = Seq> {
    let objects = match filter.names {
        [_] => tables.objects_of(resource),
        _ => &[],
    };
    let namespace = filter.namespace.unwrap_or_default();
    let meant = objects.iter().filter(move |&&object| {
        let key = tables.key_of(object);
        key.is_some_and(|key| key.namespace == namespace && [key.name] == filter.names)
    });
    meant.flat_map(|&object| tables.reel().versions(object).iter().copied())
}
