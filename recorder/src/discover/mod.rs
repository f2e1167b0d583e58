//! Discovers the resources to record: discovery, the cluster's identity and version, and
//! definitions that appear and vanish. `watch` records the objects.

mod definitions;
mod documents;
mod plan;
mod poll;

pub(crate) use definitions::{ApiService, CrdDefinition, api_service, definition};
pub(crate) use documents::present_revision;
pub(crate) use plan::plan;
pub(crate) use poll::{ClusterIdentity, Discovery, DiscoveryEvent, GroupKey, Poller};
