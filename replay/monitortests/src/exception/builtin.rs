//! Owns the exceptions that the program carries: what upstream's own tables except.

use super::error::ExceptionError;
use super::set::ExceptionSet;

/// The name of the file in what is said about it.
const FILE: &str = "built-in";

impl ExceptionSet {
    /// Gives the exceptions that the program carries.
    ///
    /// # Errors
    /// Never, as a test of this crate shows.
    pub fn builtin() -> Result<Self, ExceptionError> {
        Self::read_as(FILE, include_str!("builtin.yaml"), true)
    }
}
