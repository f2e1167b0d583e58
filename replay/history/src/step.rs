//! Owns what a step of a cursor changed, and who did. Refuses to walk: the cursor does.

use crate::changes::{Change, Scope};
use crate::cursor::CursorStep;
use crate::object::Form;
use crate::query_error::QueryError;
use crate::timeline::Timeline;
use crate::writers::{self, Authors};
use kubereel_format::{EventType, Evidence, ResourceInfo, Seq};
use serde_json::Value;

/// What a step changed.
#[derive(Clone, Debug, PartialEq)]
pub struct SteppedOver {
    /// What changed against the version before; `None` where there is none that can be read.
    pub changes: Option<Vec<Change>>,
    /// Who wrote it.
    pub authors: Authors,
    /// The object as the event brought it.
    pub now: Value,
}

impl Timeline {
    /// Tells what a step changed, field by field, and who did.
    ///
    /// # Errors
    /// When the event's own body cannot be read.
    pub fn stepped_over(
        &self,
        step: &CursorStep,
        resource: &ResourceInfo,
    ) -> Result<SteppedOver, QueryError> {
        let form = Form {
            shows_managed_fields: true,
        };
        let read = |seq: Seq| self.object(seq, resource, form);
        // Read first: the version before is what most bodies are told against.
        let old = step.before.and_then(|before| read(before).ok());
        let now = read(step.seq)?;
        let changes = old.as_ref().map(|old| Scope::default().changes(old, &now));
        let evidence = self.reel().head(step.seq).map(|head| head.evidence);
        let is_seen = matches!(evidence, Some(Evidence::Live | Evidence::Reconstructed));
        let authors = match (step.kind, &old, &changes) {
            (EventType::Deleted, ..) => Authors::Deletion,
            (_, Some(old), Some(changes)) => {
                let before = step.before.map_or(step.at, |before| self.wall_of(before));
                writers::between(old, &now, changes, step.at.micros_since(before))
            }
            (EventType::Added, None, _) if is_seen && step.before.is_none() => {
                Authors::of(writers::at_creation(&now))
            }
            _ => Authors::Unknown,
        };
        Ok(SteppedOver {
            changes,
            authors,
            now,
        })
    }
}
