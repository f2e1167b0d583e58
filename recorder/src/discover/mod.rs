//! Owns the question what there is to record: discovery, the cluster's identity and version, and
//! definitions that appear and vanish. Refuses objects: `watch` records those.

mod crd;
mod documents;
mod plan;
mod poll;

pub(crate) use crd::{Definition, definition};
pub(crate) use documents::Served;
pub(crate) use plan::{LeftOut, plan, resource_info};
pub(crate) use poll::{Discovery, Identity, News, Poller};
