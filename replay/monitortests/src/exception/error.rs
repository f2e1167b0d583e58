//! Owns what can be wrong with a file of exceptions, always with its line and column.

use thiserror::Error;

/// A file of exceptions cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExceptionError {
    /// It is no YAML, or not of the form of a file of exceptions.
    #[error("{file}:{line}:{column}: {message}")]
    Wrong {
        /// The file's name.
        file: String,
        /// The line, from 1.
        line: u64,
        /// The column, from 1.
        column: u64,
        /// What is wrong there.
        message: String,
    },
    /// It is longer than any that a person wrote.
    #[error("{file}: longer than {most} bytes")]
    TooLong {
        /// The file's name.
        file: String,
        /// The most bytes.
        most: usize,
    },
}
