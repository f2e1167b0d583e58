//! What cluster operators went through: their conditions over time.

mod degraded;

pub use degraded::DegradedSpell;
