//! How a finding is told to people: when it was, what it is about, and the command that shows it.

mod shown_by;
mod told;

pub use shown_by::{RunName, shown_by};
pub use told::{subject, told, when};
