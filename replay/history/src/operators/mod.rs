//! What cluster operators, the version and the nodes of a cluster went through: conditions over time,
//! installations and upgrades.

mod degraded;
mod pools;
mod read;
mod status;
mod story;

use pools::pool_of;

pub use degraded::DegradedSpell;
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
