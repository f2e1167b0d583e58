//! Three-valued truth over time, and temporal operators over it.
//!
//! A signal records from when to when a predicate was true, false, or without a known value. Operators
//! report only certain findings; a finding that needs a guess about an unobserved time is doubtful.

mod operators;
#[cfg(test)]
mod oracle;
mod truth;

pub(crate) use operators::{
    CountedMoment, Lifetime, SignalMatch, SignalResult, always, at_end, clusters, eventually,
    flaps, leads_to, never, risings, stays, total, until,
};
pub(crate) use truth::{ChangeTime, Signal, SignalTruth};
