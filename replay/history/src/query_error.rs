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
    #[error("record {seq} is not a readable object: {source}")]
    Body {
        /// The record.
        seq: Seq,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// An object has more fields than can be told apart one by one.
    #[error("record {seq} is an object of {fields} fields, more than {most}")]
    TooManyFields {
        /// The record.
        seq: Seq,
        /// How many fields it has.
        fields: usize,
        /// How many it may have.
        most: usize,
    },
}
