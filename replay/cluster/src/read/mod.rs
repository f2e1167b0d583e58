//! What is read of the objects that an upgrade moves, and nothing else of them. Fields that are absent
//! or null are empty: old versions of a kind have fewer of them.

mod cluster_operator;
mod cluster_version;
mod lenient;
mod node;
mod pod;
mod pool;
mod versions;

pub(super) use cluster_operator::ClusterOperator;
pub(super) use cluster_version::{ClusterVersion, DesiredUpdate, HistoryEntry};
pub(super) use node::{DRAIN, Node};
pub(super) use pod::Pod;
pub(super) use pool::{Budget, MachineConfig, Pool};
pub(super) use versions::ReadVersion;
