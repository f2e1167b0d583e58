//! Counters of the API servers over time: named metrics are read every half minute, and what changed goes
//! into the timeline.

mod changes;
mod line;
mod run;

pub(crate) use run::Sampler;
