//! Owns the way from a version to what it says: bytes out of the reel, then meaning. Refuses to
//! choose the version: `as_of` does.

use super::{Form, Meta};
use crate::as_of::Held;
use crate::query_error::QueryError;
use crate::resolve::Cut;
use crate::select::LabelSelector;
use crate::timeline::Timeline;
use kubereel_format::{ReadError, ResourceInfo, Seq};
use serde_json::Value;
use std::sync::Arc;

impl Timeline {
    /// Reads the metadata of the version that an event brought.
    ///
    /// # Errors
    /// When the reel is damaged there, or the body is no object.
    pub fn meta(&self, seq: Seq) -> Result<Meta, QueryError> {
        let body = self.reel().body(seq)?;
        Meta::of(&body).map_err(|source| QueryError::Body { seq, source })
    }

    /// Reads the version that an event brought, in the form in which kubectl shows it.
    ///
    /// # Errors
    /// When the reel is damaged there, or the body is no object.
    pub fn object(
        &self,
        seq: Seq,
        resource: &ResourceInfo,
        form: Form,
    ) -> Result<Value, QueryError> {
        let body = self.reel().body(seq)?;
        form.of(&body, resource)
            .map_err(|source| QueryError::Body { seq, source })
    }

    /// Reads the bytes of a version that held at a moment: cheaper than one alone where many are asked.
    pub(crate) fn body_held(&self, seq: Seq, cut: Cut) -> Result<Arc<[u8]>, ReadError> {
        match cut {
            Cut::Arrival { below, .. } => self.reel().body_at(seq, below),
            Cut::Revision(_) => self.reel().body(seq),
        }
    }

    /// Keeps the objects whose labels a selector selects.
    ///
    /// # Errors
    /// When an object's labels cannot be read: whether it is selected is then not known.
    pub fn labelled(
        &self,
        objects: Vec<Held>,
        cut: Cut,
        selector: &LabelSelector,
    ) -> Result<Vec<Held>, QueryError> {
        if selector.is_empty() {
            return Ok(objects);
        }
        let are_selected = self.read_each(&objects, cut, &mut |_| {}, |held, body| {
            let meta = Meta::of(body).map_err(|source| QueryError::Body {
                seq: held.seq,
                source,
            })?;
            Ok(selector.matches(&meta.labels))
        })?;
        let both = objects.into_iter().zip(are_selected);
        Ok(both.filter(|(_, is)| *is).map(|(held, _)| held).collect())
    }
}
