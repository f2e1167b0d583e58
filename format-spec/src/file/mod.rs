//! Owns the reel as a file: creating, appending, finishing, opening and reading it. The only place
//! that names the database. Refuses to write when reading, and to read what fails its checksum.

mod allowance;
mod append;
mod backend;
mod blobs;
mod body;
mod cache;
mod carry;
mod chain;
mod checkpoint;
mod digest;
mod directory;
mod encoder;
mod extents;
mod finish;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod growth;
mod guard;
mod heads;
mod load;
mod open;
mod reel;
mod scan;
mod segment;
mod spill;
mod state;

pub use allowance::ReadAllowance;
pub use append::{Appender, Bounds, CommitStats, ObjectMemory};
pub use digest::file_digest;
pub use finish::{FinishStats, Sealed};
pub use growth::Usage;
pub use guard::panic_is_caught;
pub use reel::{BlockInfo, Object, PartSizes, ReadCounts, Reel, SizeBreakdown, Version};
pub use scan::{Event, Scan};
