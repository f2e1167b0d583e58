//! Waits over a recording: when a goal of `kubectl wait` was first met in the past, and whether it
//! may have been met before unobserved.

mod answer;
mod goal;
mod marks;
mod series;
mod walk;

pub use answer::{
    MissedReason, MissedTime, ReelInstant, WaitAnswer, WaitSpan, WaitStep, WaitVerdict,
};
pub use goal::{GoalError, WaitFor, condition_types};
pub use walk::WaitQuestion;
