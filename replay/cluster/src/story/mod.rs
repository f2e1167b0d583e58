//! The story of an installation or an upgrade: what was asked for, what was fetched, in which order
//! operators and nodes moved, what was not well meanwhile, and what could not be seen.

mod dark;
mod drain_hold;
mod find;
mod handover;
mod mark;
mod node_update;
mod operator_move;
mod pace;
mod pool_update;
mod retrieval;
mod retrieve;
mod spell;
mod tell;
mod update;
mod version_pod;

pub use dark::NotSeen;
pub use drain_hold::DrainHold;
pub use handover::Handover;
pub use mark::{Lasting, Mark};
pub use node_update::{NodeJoin, NodeUpdate, NodeWarning};
pub use operator_move::OperatorMove;
pub use pace::{Part, PartKind, STALL_MICROS, Stall};
pub use pool_update::PoolUpdate;
pub use retrieval::{PodEvent, Retrieval, RetrievalEnd, Retrievals, Told};
pub use spell::{Ill, Level, Spell, SpellText};
pub use tell::{ProgressSaid, Updates, UpgradeStory};
pub use update::{
    HowRequestEnded, HowUpdateEnded, Release, Request, RequestEnd, Update, UpdateEnd, UpdateKind,
};
pub use version_pod::{PodState, VersionPod};
