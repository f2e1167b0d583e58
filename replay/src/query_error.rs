//! Owns the ways in which a question fails although the reel is open. Refuses uncertainty: an unsure
//! answer is an answer, with its [`crate::Certainty`].

use kubereel_format::{ReadError, Seq};
use thiserror::Error;

/// A question could not be answered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The reel cannot be read there.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A body is no object as Kubernetes has them.
    #[error("record {seq} holds no readable object: {source}")]
    Body {
        /// The record.
        seq: Seq,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}
