//! A reel goes in, what secrets are left in it comes out.
//!
//! Every byte is searched: of objects, names, notes and documents as they are once decompressed, and
//! of the file as it stands. What is sought is all that the redaction policy would take out, and
//! canaries that the caller names, and beyond the policy texts in hexadecimal. Strings that look random
//! but have no known form are told apart from secrets. A secret itself is never given back.

mod canary;
mod report;
mod search;

pub use canary::{Canaries, CanaryError};
pub use report::{FindingPlace, ScanError, ScanFinding, ScanReport};
pub use search::{ScanOptions, scan};
