//! Owns the lanes of the parts of one object: its conditions and its containers. They are made when somebody unfolds
//! it, for all objects have too many. Refuses objects that changed too often.

use super::dark::{FirstSights, dark_of, dark_of_object};
use super::line::{Lane, LaneGroup, LaneReading, LaneSubject};
use super::spells::{LaneWords, spells};
use crate::subject::NamedObject;
use kubereel_cluster::{Aspect, ClusterHistory};
use kubereel_history::{Timeline, harmless};
use std::sync::Arc;

/// An object that changed more often is not read.
const MOST_VERSIONS: usize = 5_000;

/// What the parts that are containers begin with; types of conditions have no blank.
pub(crate) const CONTAINER_PART: &str = "container ";

/// The lanes of an object's parts, or why there are none.
pub(crate) type ObjectParts = Result<Arc<[Lane]>, String>;

/// Reads the versions of an object, and makes the lanes of its conditions, then those of its containers.
pub(crate) fn parts(timeline: &Timeline, subject: &NamedObject) -> ObjectParts {
    let count = subject.versions(timeline).len();
    let name = subject.written(timeline);
    if count > MOST_VERSIONS {
        return Err(format!(
            "{name} changed {count} times: H lists its versions"
        ));
    }
    let cluster = ClusterHistory::of(timeline);
    let tracks = cluster.states_of_object(subject.resource, &subject.namespace, &subject.name);
    let tracks = tracks.map_err(|error| harmless(&error.to_string()).into_owned())?;
    // Where versions cannot be read, there are no parts.
    let dark = dark_of(timeline, subject.resource).into();
    let dark = dark_of_object(timeline, subject, &dark, &[]);
    let seen_from = FirstSights::of(timeline, subject.resource).of_object(subject);
    let mut words = LaneWords::default();
    let mut all = Vec::new();
    for track in tracks {
        let part: Arc<str> = match track.aspect() {
            Aspect::Whole => continue,
            Aspect::Condition(kind) => Arc::clone(kind),
            Aspect::Container(name) => format!("{CONTAINER_PART}{name}").into(),
        };
        let spells = spells(timeline, &track, &mut words);
        if !spells.is_empty() {
            let of = (
                LaneGroup::Others,
                LaneSubject::Object(subject.clone()),
                Some(part),
            );
            let lane = Lane::of(of, LaneReading::State, spells, Arc::clone(&dark));
            all.push(lane.seen_from(seen_from));
        }
    }
    if all.is_empty() {
        return Err(format!(
            "{name} has no conditions or containers whose meaning is known"
        ));
    }
    Ok(all.into())
}
