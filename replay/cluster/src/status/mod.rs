//! The state of an update at one moment, in the terms and by the thresholds of `oc adm upgrade status`,
//! so that both can be compared.

mod answer;
mod judge;
mod nodes;

pub use answer::{
    Assessment, Estimate, Impact, Insight, InsightLevel, NodeAssessment, NodePhase, NodeState,
    OperatorCounts, PoolState, UpdateOrigin, UpdateStatus,
};
