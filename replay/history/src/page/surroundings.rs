//! Other objects that existed at the moment of a page.

use crate::body_reader::QueryError;
use crate::columns::ObjectPart;
use crate::coverage::Certainty;
use crate::field::{self, text};
use crate::moment::Cut;
use crate::select::ObjectFilter;
use crate::timeline::Timeline;
use kubereel_format::RecordedAt;
use serde_json::Value;
use std::cell::RefCell;

/// The text for a list that was not recorded.
pub(super) const NOT_RECORDED: &str = "<not recorded>";

/// A list on a page whose state is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncompleteList {
    /// The resource.
    pub resource: String,
    /// The certainty of its state.
    pub certainty: Certainty,
}

/// A moment of a reel.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) cut: Cut,
    /// The moment for ages.
    pub(super) at: RecordedAt,
    /// The lists that were read and are not complete.
    pub(super) incomplete: &'a RefCell<Vec<IncompleteList>>,
}

impl Surroundings<'_> {
    /// Reads the objects of a resource in a namespace, or in all if it is empty; `None` if the
    /// state is not known.
    pub(super) fn list(
        self,
        resource: &str,
        namespace: &str,
    ) -> Result<Option<Vec<Value>>, QueryError> {
        let Ok(named) = self.timeline.resources().find(resource) else {
            return Ok(None);
        };
        let resource = self.timeline.resource_at(named, self.cut);
        let filter = ObjectFilter {
            namespace: (!namespace.is_empty()).then_some(namespace),
            names: &[],
        };
        let state = self.timeline.as_of(resource.id, self.cut, &filter);
        if !state.certainty.has_state() {
            return Ok(None);
        }
        if !state.certainty.is_known() {
            self.incomplete.borrow_mut().push(IncompleteList {
                resource: resource.qualified(),
                certainty: state.certainty,
            });
        }
        let read = self
            .timeline
            .read_all(&state.objects, self.cut, &mut |_| {}, |held, body| {
                serde_json::from_slice(body).map_err(|source| QueryError::Body {
                    seq: held.seq,
                    source,
                })
            });
        read.map(Some)
    }

    /// Returns whether a list that was read lacks objects, or may lack some.
    pub(super) fn is_incomplete(self, resource: &str) -> bool {
        let incomplete = self.incomplete.borrow();
        incomplete.iter().any(|list| list.resource == resource)
    }

    /// Reads the Pods that an object controls, and counts them by phase, in the words of kubectl;
    /// none if the Pods of the namespace are not known.
    pub(super) fn pods_status(self, object: ObjectPart<'_>) -> Result<String, QueryError> {
        let namespace = object.at("metadata.namespace").text();
        let Some(pods) = self.list("pods", namespace)? else {
            return Ok(NOT_RECORDED.to_owned());
        };
        let uid = object.at("metadata.uid").text();
        let owned: Vec<&Value> = pods.iter().filter(|pod| is_controlled(pod, uid)).collect();
        let count = |phase: &str| {
            let of_phase = |pod: &&&Value| ObjectPart::of(pod).at("status.phase").text() == phase;
            owned.iter().filter(of_phase).count()
        };
        Ok(format!(
            "{} Running / {} Waiting / {} Succeeded / {} Failed",
            count("Running"),
            count("Pending"),
            count("Succeeded"),
            count("Failed")
        ))
    }
}

/// Returns whether an object's controller has a uid.
pub(super) fn is_controlled(object: &Value, uid: &str) -> bool {
    field::controller(object).is_some_and(|owner| text(owner, "/uid") == uid)
}
