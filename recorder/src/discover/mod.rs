//! Owns the question what there is to record: discovery, the cluster's identity and version, and
//! definitions that appear and vanish. Refuses objects: `watch` records those.

mod api_service;
mod crd;
mod documents;
mod fetch;
mod handle;
mod plan;
mod poll;
mod revisions;

pub(crate) use api_service::{ApiService, api_service};
pub(crate) use crd::{Definition, definition};
pub(crate) use documents::Served;
pub(crate) use fetch::present_revision;
pub(crate) use handle::{Discovery, GroupKey};
pub(crate) use plan::{LeftOut, plan, resource_info};
pub(crate) use poll::{Identity, News, Poller};
