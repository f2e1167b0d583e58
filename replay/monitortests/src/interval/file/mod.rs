//! Files of intervals, as the OpenShift monitor writes them: its four generations are read, the current
//! one is written.

mod flat;
mod item;
mod read;
mod timeline;
mod write;

pub use read::{IntervalFileError, MAX_FILE_BYTES, MAX_ITEMS, read_intervals};
pub use timeline::{TimelineFile, file_suffix};
pub use write::write_intervals;
