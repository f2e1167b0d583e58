//! Intervals: spans of a run's time with what held in them, in the words of the OpenShift monitor.

mod list;
mod locator;
mod message;
mod span;
mod text;

pub use list::Intervals;
pub use locator::Locator;
pub use message::IntervalMessage;
pub use span::{Display, Interval, Level, Source};
