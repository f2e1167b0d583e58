//! The story of an installation or an upgrade: the requests, the retrieved payload, the order in
//! which operators and nodes moved, the problems meanwhile, and what was not observed.

mod node_update;
mod operator_move;
mod pace;
mod retrieval;
mod spell;
mod tell;
mod update;

pub use node_update::{DrainHold, NodeJoin, NodeUpdate, PoolUpdate, PoolUpdates};
pub use operator_move::OperatorMove;
pub use pace::{PartKind, STALL_MICROS, Stall, UpdatePart};
pub use retrieval::{PodEvent, PodState, Retrieval, RetrievalEnd, Retrievals, VersionPod};
pub use spell::{SpellKind, SpellLevel, UnhealthySpell};
pub use tell::{LeaderHandover, UnobservedSource, Updates, UpgradeRecords, UpgradeStory};
pub use update::{
    ClusterRelease, ClusterUpdate, HowRequestEnded, HowUpdateEnded, RequestEnd, UpdateEnd,
    UpdateKind, UpdateRequest,
};
