//! Owns the times in which an operator said of itself that it is degraded. Refuses judgement: how
//! long is too long is a rule's matter.

use crate::timeline::QueryError;
use crate::timeline::Timeline;
use kubereel_format::{ObjectId, RecordedAt, ResourceId, Seq};
use serde::Deserialize;

const GROUP: &str = "config.openshift.io";
const PLURAL: &str = "clusteroperators";

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

#[derive(Deserialize)]
struct Operator {
    status: Option<Status>,
}

#[derive(Deserialize)]
struct Status {
    conditions: Option<Vec<Condition>>,
}

#[derive(Deserialize)]
struct Condition {
    r#type: String,
    status: String,
}

impl Timeline {
    /// Finds the times in which operators that were well became degraded, in order.
    ///
    /// An operator that begins its life degraded is starting, not failing.
    ///
    /// # Errors
    /// When the reel is damaged there.
    pub fn degraded_spells(&self) -> Result<Vec<DegradedSpell>, QueryError> {
        let mut spells = Vec::new();
        let operators = self
            .resources()
            .iter()
            .filter(|info| info.group == GROUP && info.plural == PLURAL);
        for resource in operators {
            for &object in self.objects_of(resource.id) {
                self.spells_of(resource.id, object, &mut spells)?;
            }
        }
        spells.sort_by_key(|spell| spell.began);
        Ok(spells)
    }

    fn spells_of(
        &self,
        resource: ResourceId,
        object: ObjectId,
        spells: &mut Vec<DegradedSpell>,
    ) -> Result<(), QueryError> {
        let name = usize::try_from(object.0)
            .ok()
            .and_then(|at| self.reel().objects().get(at))
            .map_or_else(String::new, |object| object.key.name.clone());
        let mut well: Option<Seq> = None;
        let mut open: Option<DegradedSpell> = None;
        for &seq in self.reel().versions(object) {
            match self.degraded_status(seq)?.as_deref() {
                Some("True") => {
                    if let (None, Some(before)) = (&open, well) {
                        open = Some(DegradedSpell {
                            resource,
                            object,
                            name: name.clone(),
                            before,
                            began: seq,
                            from: self.wall_of(seq),
                            to: None,
                        });
                    }
                }
                Some("False") => {
                    well = Some(seq);
                    if let Some(mut spell) = open.take() {
                        spell.to = Some(self.wall_of(seq));
                        spells.push(spell);
                    }
                }
                _ => {}
            }
        }
        spells.extend(open);
        Ok(())
    }

    fn degraded_status(&self, seq: Seq) -> Result<Option<String>, QueryError> {
        let body = self.reel().body(seq)?;
        let operator: Operator =
            serde_json::from_slice(&body).map_err(|source| QueryError::Body { seq, source })?;
        let conditions = operator.status.and_then(|status| status.conditions);
        let degraded = conditions
            .unwrap_or_default()
            .into_iter()
            .find(|condition| condition.r#type == "Degraded");
        Ok(degraded.map(|condition| condition.status))
    }
}
