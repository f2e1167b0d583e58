//! Intervals: spans of a run's time with what held in them, in the words of the OpenShift monitor.

mod file;
mod filter;
mod list;
mod locator;
mod message;
mod pairs;
pub mod source;
mod span;
mod text;

pub use file::{
    IntervalFileError, MAX_FILE_BYTES, MAX_ITEMS, TimelineFile, file_suffix, read_intervals,
    write_intervals,
};
pub use filter::{FilterError, IntervalFilter, KeyPattern};
pub use list::Intervals;
pub use locator::Locator;
pub(crate) use locator::{LOCATOR_KEYS, LOCATOR_TYPES};
pub use message::IntervalMessage;
pub use pairs::{Pair, Pairs};
pub use span::{Display, Interval, Level, Source};
pub(crate) use text::SharedTexts;
