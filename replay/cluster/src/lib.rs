//! The states of the things of a cluster, from when to when: conditions over time, installations
//! and upgrades.
//!
//! States are ordered by record, never by timestamp. `history` answers whether a state is known at
//! a moment.

mod condition;
mod container;
mod field_health;
mod health;
mod history;
mod mark;
mod objects;
mod pod;
mod state;
mod state_health;
mod stated_fault;
mod status;
mod status_word;
mod story;
mod workload;

pub use condition::{ControllerReport, StatusCondition};
pub use field_health::VersionChanges;
pub use health::{StateKind, is_being_configured, is_being_removed, is_cordoned};
pub use history::{ClusterHistory, DegradedSpell, UnreadVersions};
pub use mark::{MarkSpan, MarkedCondition, MarkedMessage, RecordMark};
pub use pod::{PodStage, WaitingTrouble};
pub use state::{
    Aspect, StateInterval, StateSubject, StateText, StateTrack, StateTracker, StateVersion,
};
pub use state_health::StateHealth;
pub use stated_fault::{StatedFault, StatedFaults};
pub use status::{
    Assessment, Estimate, Impact, Insight, InsightLevel, NodeAssessment, NodePhase, NodeState,
    OperatorCounts, PoolState, UpdateOrigin, UpdateStatus,
};
pub use status_word::StatusWord;
pub use story::{
    ClusterRelease, ClusterUpdate, DrainHold, HowRequestEnded, HowUpdateEnded, LeaderHandover,
    NodeJoin, NodeUpdate, OperatorMove, PartKind, PodEvent, PodState, PoolUpdate, PoolUpdates,
    RequestEnd, Retrieval, RetrievalEnd, Retrievals, STALL_MICROS, SpellKind, SpellLevel, Stall,
    UnhealthySpell, UnobservedSource, UpdateEnd, UpdateKind, UpdatePart, UpdateRequest, Updates,
    UpgradeRecords, UpgradeStory, VersionPod,
};
pub use workload::stuck_rollout;
