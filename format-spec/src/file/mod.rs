//! Owns the reel as a file: creating, appending, finishing, opening and reading it. The only place
//! that names the database. Refuses to write when reading, and to read what fails its checksum.

mod append;
mod backend;
mod body;
mod cache;
pub(crate) mod checkpoint;
mod encoder;
mod finish;
mod growth;
mod load;
mod open;
mod reel;
mod scan;
pub(crate) mod segment;
mod spill;
pub(crate) mod tables;

pub use append::{Appender, Bounds, CommitStats, ObjectMemory};
pub use backend::panic_is_caught;
pub use body::ReadAllowance;
pub use finish::{FinishStats, Sealed};
pub use growth::Usage;
pub use open::file_digest;
pub use reel::{BlockInfo, Object, PartSizes, ReadCounts, Reel, SizeBreakdown, Version};
pub use scan::{Event, Scan};
