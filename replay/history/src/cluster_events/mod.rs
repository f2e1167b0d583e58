//! The cluster's own Events: what components said, about which object, how often.

mod log;
mod said;

pub use log::{EventLog, EventQuestion, Logged};
pub use said::{Regarding, Said};
