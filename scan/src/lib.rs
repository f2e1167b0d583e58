//! The search for secrets that a reel holds.
//!
//! Every byte is searched: objects, names, notes and documents after decompression, and the file as it stands. The scan
//! looks for everything that the redaction policy would take out, for canaries that the caller names, and, beyond the
//! policy, for texts in hexadecimal. Strings that look random but have no known form are listed apart. A secret itself
//! is never returned.

mod canary;
mod report;
mod search;

pub use canary::{Canaries, CanaryError};
pub use report::{FindingPlace, ScanError, ScanFinding, ScanReport};
pub use search::{ScanOptions, scan};
