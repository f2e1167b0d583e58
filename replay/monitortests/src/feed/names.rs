//! Which of several objects of one name is the live one. Only one object has a name at a time: another one of the
//! name ends it, also where its deletion was not observed.

use kubereel_format::{ObjectId, ObjectKeyRef, ResourceId, Seq};
use kubereel_history::Timeline;
use std::collections::BTreeMap;

/// The live object of each name that went from one object to another without a deletion.
pub(super) struct LiveNames<'a> {
    timeline: &'a Timeline,
    names: BTreeMap<(ResourceId, &'a str, &'a str), Option<ObjectId>>,
}

/// What an event means for the objects of its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NameChange {
    /// The object that had the name before: it is gone.
    pub(super) ended: Option<ObjectId>,
    /// Whether the event is the deletion of an object that ended before.
    pub(super) is_late: bool,
}

impl<'a> LiveNames<'a> {
    /// Finds the names.
    pub(super) fn of(timeline: &'a Timeline) -> Self {
        let keys = timeline
            .replaced()
            .filter_map(|(object, _)| timeline.key_of(object));
        Self {
            timeline,
            names: keys
                .map(|key| ((key.resource, key.namespace, key.name), None))
                .collect(),
        }
    }

    /// Takes the event of an object.
    pub(super) fn take(
        &mut self,
        key: ObjectKeyRef<'a>,
        object: ObjectId,
        seq: Seq,
        is_gone: bool,
    ) -> NameChange {
        let place = (key.resource, key.namespace, key.name);
        let Some(live) = self.names.get_mut(&place) else {
            return NameChange::default();
        };
        let other = live.filter(|live| *live != object);
        let by = self.timeline.replaced_by(object);
        if is_gone && other.is_some() && by.is_some_and(|by| by <= seq) {
            return NameChange {
                ended: None,
                is_late: true,
            };
        }
        *live = (!is_gone).then_some(object);
        NameChange {
            ended: other,
            is_late: false,
        }
    }
}
