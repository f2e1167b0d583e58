//! Owns the bounds of what a file of exceptions may ask for. Refuses larger ones at load.

/// The longest file, in bytes.
pub(super) const FILE_BYTES_MOST: usize = 4 << 20;
/// The largest compiled regex, in bytes.
pub(super) const REGEX_BYTES_MOST: usize = 1 << 20;
/// The longest text that a regex is tried on, in bytes; of longer ones the begin.
pub(super) const MATCHED_BYTES_MOST: usize = 64 << 10;
