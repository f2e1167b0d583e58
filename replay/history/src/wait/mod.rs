//! Waiting over a recording: when, in the past, what `kubectl wait` waits for held first, and whether
//! it may have held before unseen.

mod answer;
mod dark;
mod events;
mod find;
mod goal;
mod judge;
mod marks;
mod series;
mod span;
mod walk;

pub use answer::{Missed, MissedWhy, WaitStep, WaitVerdict, Waited};
pub use goal::{GoalError, WaitFor};
pub use span::{Instant, WaitSpan};
pub use walk::WaitQuestion;
