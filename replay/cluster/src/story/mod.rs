//! The story of an installation or an upgrade: what was asked for, what was fetched, in which order
//! operators and nodes moved, what was not well meanwhile, and what could not be observed.

mod node_update;
mod operator_move;
mod pace;
mod retrieval;
mod spell;
mod tell;
mod update;

pub use node_update::{DrainHold, NodeJoin, NodeUpdate, PoolUpdate};
pub use operator_move::OperatorMove;
pub use pace::{PartKind, STALL_MICROS, Stall, UpdatePart};
pub use retrieval::{PodEvent, PodState, Retrieval, RetrievalEnd, Retrievals, VersionPod};
pub use spell::{Ill, IllSpell, SpellLevel};
pub use tell::{LeaderHandover, UnobservedSource, Updates, UpgradeRecords, UpgradeStory};
pub use update::{
    ClusterRelease, ClusterUpdate, HowRequestEnded, HowUpdateEnded, RequestEnd, UpdateEnd,
    UpdateKind, UpdateRequest,
};
