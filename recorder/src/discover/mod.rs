//! Owns the question what there is to record: discovery, the cluster's identity and version, and
//! definitions that appear and vanish. Refuses objects: `watch` records those.

mod definitions;
mod documents;
mod plan;
mod poll;

pub(crate) use definitions::{ApiService, Definition, api_service, definition};
pub(crate) use documents::{Served, present_revision};
pub(crate) use plan::{LeftOut, plan, resource_info};
pub(crate) use poll::{Discovery, GroupKey, Identity, News, Poller};
