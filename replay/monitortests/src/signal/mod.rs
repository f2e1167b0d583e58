//! Three-valued truth over time, and what temporal operators find in it.
//!
//! A signal says from when to when a predicate was true, false, or without a known value. Operators find
//! only what is certain: what could only be found by guessing through a time that was not seen is told
//! as doubtful.

mod counted;
mod operators;
#[cfg(test)]
mod oracle;
mod truth;

pub(crate) use counted::{Counted, clusters, flaps, risings};
pub(crate) use operators::{
    Found, Judged, Life, always, at_end, eventually, leads_to, never, stays, total, until,
};
pub(crate) use truth::{Signal, Truth};
