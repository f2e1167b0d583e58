//! The times in which an operator went from well to degraded. How long is too long is a rule's matter.

use crate::health::StateKind;
use crate::history::ClusterHistory;
use kubereel_format::{ObjectId, RecordedAt, ResourceId, Seq};
use kubereel_history::{Cut, QueryError};

/// A time in which an operator was degraded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DegradedSpell {
    /// The resource, `clusteroperators.config.openshift.io`.
    pub resource: ResourceId,
    /// The operator.
    pub object: ObjectId,
    /// Its name.
    pub name: String,
    /// Its last version before.
    pub before: Seq,
    /// The version with which it began.
    pub began: Seq,
    /// When that was received.
    pub from: RecordedAt,
    /// When the version that ended it was received; `None` if none did.
    pub to: Option<RecordedAt>,
}

impl ClusterHistory<'_> {
    /// Finds the times in which operators that were well became degraded, in order.
    ///
    /// An operator that begins its life degraded is starting, not failing.
    ///
    /// # Errors
    /// When the reel is damaged there.
    pub fn degraded_spells(&self) -> Result<Vec<DegradedSpell>, QueryError> {
        let reel = self.timeline.reel();
        let end = Cut::Arrival {
            below: reel.end(),
            wall: self.timeline.end(),
        };
        let mut spells = Vec::new();
        for track in self.states(StateKind::Operator, end)? {
            if track.aspect().condition() != Some("Degraded") {
                continue;
            }
            let mut has_been_well = false;
            for (status, run) in track.runs(|state| state.status.clone()) {
                has_been_well |= &*status == "False";
                let (Some(first), Some(last)) = (run.first(), run.last()) else {
                    continue;
                };
                let began = first.from.seq;
                let is_spell = has_been_well && &*status == "True";
                let Some(head) = reel.head(began).filter(|_| is_spell) else {
                    continue;
                };
                let earlier = reel.versions(head.object).iter().copied();
                let before = earlier.take_while(|seq| *seq < began).last();
                spells.extend(before.map(|before| DegradedSpell {
                    resource: first.object.resource,
                    object: head.object,
                    name: first.object.name.clone(),
                    before,
                    began,
                    from: first.from.at,
                    to: last.to.map(|to| to.at),
                }));
            }
        }
        spells.sort_by_key(|spell| spell.began);
        Ok(spells)
    }
}
