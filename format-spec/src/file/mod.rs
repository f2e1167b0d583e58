//! The file of a reel: creating, appending, finishing, opening and reading it. It is the only place
//! that uses the database. Reading never writes, and nothing is returned whose checksum fails.

mod append;
mod backend;
mod body;
mod cache;
pub(crate) mod checkpoint;
mod column;
mod delta_chain;
mod encoder;
mod finish;
mod group;
mod growth;
mod load;
mod names;
mod open;
mod origin;
pub(crate) mod parity;
mod recover;
mod reel;
pub(crate) mod row;
mod row_file;
mod rows;
mod salvage;
mod scan;
mod seal_writer;
pub(crate) mod segment;
mod shared_text;
mod snapshot;
mod spill;
pub(crate) mod tables;
mod weigh;

pub use append::{Appender, Bounds, CommitStats, ObjectMemory};
pub use backend::panic_is_caught;
pub use body::ReadAllowance;
pub(crate) use finish::replace;
pub use finish::{FinishStats, Sealed};
pub use growth::Usage;
pub use open::{REEL_START_BYTES, file_digest, is_reel_start};
pub use recover::{RecoverStats, recover};
pub(crate) use recover::{publish, rewrite};
pub use reel::{BlockInfo, PartSizes, ReadCounts, Reel, ReelObject, SizeBreakdown};
pub use scan::{Event, Scan};
pub use seal_writer::SealDensity;
pub(crate) use seal_writer::SealWriter;
pub use snapshot::{GrowingReel, ReelGrowth, copy_in_use, is_in_use};
pub use weigh::{PartWeight, ReelWeight};
