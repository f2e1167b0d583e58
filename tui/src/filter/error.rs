//! Owns the ways in which a text is no filter. Refuses to guess what was meant: it says how to write
//! it.

use kubereel_history::{FieldError, LabelError, SelectError};
use thiserror::Error;

/// A text is no filter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FilterError {
    /// Something begins and does not go on.
    #[error("nothing follows {sign}")]
    Nothing {
        /// What it begins with.
        sign: String,
    },
    /// A quote is not closed.
    #[error("a quote is not closed: {word}")]
    OpenQuote {
        /// The word.
        word: String,
    },
    /// A pattern is not closed.
    #[error("a pattern ends with a slash; quote a text that begins with one: {word}")]
    OpenPattern {
        /// The word.
        word: String,
    },
    /// A pattern is none.
    #[error("/{pattern}/ is not a pattern: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        problem: String,
    },
    /// What follows `label:` is no label selector.
    #[error("{source}")]
    Labels {
        /// What is wrong.
        #[source]
        source: LabelError,
    },
    /// What stands before `=` is no field.
    #[error("{source}")]
    Field {
        /// What is wrong.
        #[source]
        source: FieldError,
    },
    /// What stands before `=` does not begin at the top of an object.
    #[error("a field path starts at the top, such as status.phase=Running; quote a text: {word}")]
    NotFromTop {
        /// The word.
        word: String,
    },
    /// What is compared is no number.
    #[error("{value:?} is not a number in {word}")]
    NoNumber {
        /// What stands for the number.
        value: String,
        /// The word.
        word: String,
    },
    /// What follows `kind:` names no resource of the reel.
    #[error("{source}")]
    Kind {
        /// What is wrong.
        #[source]
        source: SelectError,
    },
    /// There are more words than anybody writes.
    #[error("more than {most} words")]
    TooMany {
        /// How many there may be.
        most: usize,
    },
}
