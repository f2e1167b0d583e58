//! In which state the things of a cluster were, from when to when: conditions over time, installations
//! and upgrades.
//!
//! Ordered by record, never by timestamp. Whether a state can be known at a moment, `history` answers.

mod degraded;
mod history;
mod pools;
mod read;
mod status;
mod story;

use pools::pool_of;

pub use degraded::DegradedSpell;
pub use history::ClusterHistory;
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
