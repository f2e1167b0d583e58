//! Why a scenario cannot be read or laid out.

use super::Moment;

/// Why a scenario cannot be read or laid out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file is not what a scenario looks like.
    #[error("cannot read a scenario: {message}")]
    Unreadable {
        /// What the parser says, with the place.
        message: String,
    },
    /// A fault names an operator that is not there.
    #[error("no operator named {name}")]
    NoSuchOperator {
        /// The name.
        name: String,
    },
    /// The story does not fit.
    #[error("scenario {name} ends at {end}, its update only at {completed}")]
    TooShort {
        /// The scenario.
        name: String,
        /// When the update is complete.
        completed: Moment,
        /// When the scenario ends.
        end: Moment,
    },
}
