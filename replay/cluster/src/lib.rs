//! In which state the things of a cluster were, from when to when: conditions over time, installations
//! and upgrades.
//!
//! Ordered by record, never by timestamp. Whether a state can be known at a moment, `history` answers.

mod condition;
mod degraded;
mod health;
mod history;
mod pools;
mod read;
mod state;
mod status;
mod story;

use pools::pool_of;

pub use condition::StatusCondition;
pub use degraded::DegradedSpell;
pub use health::{Health, StateKind};
pub use history::ClusterHistory;
pub use state::{
    Aspect, StateInterval, StateSubject, StateText, StateTrack, StateTracker, StateVersion,
};
pub use status::{
    Assessment, Estimate, Impact, Insight, InsightLevel, NodeAssessment, NodePhase, NodeState,
    OperatorCounts, Origin, PoolState, UpdateStatus,
};
pub use story::{
    DrainHold, Handover, HowRequestEnded, HowUpdateEnded, Ill, Lasting, Level, Mark, NodeJoin,
    NodeUpdate, NodeWarning, NotSeen, OperatorMove, Part, PartKind, PodEvent, PodState, PoolUpdate,
    ProgressSaid, Release, Request, RequestEnd, Retrieval, RetrievalEnd, Retrievals, STALL_MICROS,
    Spell, SpellText, Stall, Told, Update, UpdateEnd, UpdateKind, Updates, UpgradeStory,
    VersionPod,
};
