//! Searches a reel for secrets.
//!
//! Every byte is searched: objects, names, notes and documents after decompression, and the raw
//! file. The scan searches for everything that the redaction policy would replace, for canaries of
//! the caller, and, beyond the policy, for texts in hexadecimal. Strings that look random but have
//! no known form are listed separately. A secret itself is never returned.

mod canary;
mod report;
mod search;

pub use canary::{Canaries, CanaryError};
pub use report::{FindingPlace, ScanError, ScanFinding, ScanReport, UnreadPart};
pub use search::{ScanOptions, scan};
