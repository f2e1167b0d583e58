//! Owns the exceptions that the program carries: what upstream's own tables except.

use super::error::ExceptionError;
use super::set::ExceptionSet;

/// The files, each its name in what is said about it and its text.
const FILES: [(&str, &str); 2] = [
    ("built-in", include_str!("builtin.yaml")),
    ("built-in-pods", include_str!("builtin-pods.yaml")),
];

impl ExceptionSet {
    /// Gives the exceptions that the program carries.
    ///
    /// # Errors
    /// Never, as a test of this crate shows.
    pub fn builtin() -> Result<Self, ExceptionError> {
        FILES
            .iter()
            .try_fold(Self::default(), |read, (name, text)| {
                Ok(read.then(Self::read_as(name, text, true)?))
            })
    }
}
