//! The reel to which an import appends: its resources, its objects at the end, and the ids that it
//! has used.

use crate::error::ImportError;
use crate::existing_objects::{ExistingKey, ExistingObject, ExistingObjects, fingerprint};
use crate::writer::UsedNumbers;
use kubereel_format::{
    ConnectionId, EventType, Note, ObjectId, RecordedAt, Reel, ResourceInfo, Seq, SessionId,
};
use std::collections::BTreeMap;
use std::path::Path;

/// The state that an import takes over from the reel to which it appends.
pub(crate) struct CarriedReel {
    pub(crate) resources: Vec<ResourceInfo>,
    pub(crate) live: ExistingObjects,
    pub(crate) used: UsedNumbers,
    /// The latest time in it.
    pub(crate) end: RecordedAt,
}

impl CarriedReel {
    /// Reads it.
    pub(crate) fn read(path: &Path) -> Result<Self, ImportError> {
        let reel = Reel::open(path)?;
        let mut resources = BTreeMap::new();
        let mut used = UsedNumbers::default();
        for entry in reel.notes() {
            match &entry.note {
                Note::Resource(info) => {
                    resources.insert(info.id, info.clone());
                }
                Note::SessionStarted { session, .. } => {
                    used.session = used.session.max(SessionId(session.0.saturating_add(1)));
                }
                Note::Connected { connection, .. } => {
                    let next = ConnectionId(connection.0.saturating_add(1));
                    used.first_connection = used.first_connection.max(next);
                }
                Note::Cluster { epoch, uid, .. } => used.cluster = Some((*epoch, uid.clone())),
                _ => {}
            }
        }
        let mut live = ExistingObjects::default();
        for (number, object) in (0..).zip(reel.objects()) {
            let Some(&last) = reel.versions(ObjectId(number)).last() else {
                continue;
            };
            if reel.kind_of(last) == Some(EventType::Deleted) {
                continue;
            }
            let body = reel.body(last)?;
            let version = reel.head(last).map(|head| head.resource_version);
            let key = ExistingKey {
                resource: object.key.resource,
                namespace: object.key.namespace.to_owned(),
                name: object.key.name.to_owned(),
            };
            let object = ExistingObject {
                uid: object.key.uid.text().into_owned(),
                version: version.unwrap_or_default(),
                print: fingerprint(&body),
                list: 0,
                input: 0,
                is_listed: false,
            };
            live.carry(key, object);
        }
        let last = reel.end().0.checked_sub(1).map(Seq);
        let last = last.and_then(|last| reel.stamp(last));
        let end = last.map_or_else(RecordedAt::default, |stamp| stamp.wall);
        Ok(Self {
            resources: resources.into_values().collect(),
            live,
            used,
            end,
        })
    }
}
