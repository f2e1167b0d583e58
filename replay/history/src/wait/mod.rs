//! Waiting over a recording: when, in the past, what `kubectl wait` waits for held first, and whether
//! it may have held before unseen.

mod answer;
mod goal;
mod marks;
mod series;
mod walk;

pub use answer::{
    MissedReason, MissedTime, ReelInstant, WaitAnswer, WaitSpan, WaitStep, WaitVerdict,
};
pub use goal::{GoalError, WaitFor};
pub use walk::WaitQuestion;
