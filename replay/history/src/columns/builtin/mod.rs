//! The columns of built-in kinds, which the server itself defines.
//!
//! The cells follow the server's own printers: kubernetes `pkg/printers/internalversion`, version
//! 1.36.

mod config;
mod event;
mod kind;
mod node;
mod pod;
mod route;
mod server;
mod service;
mod storage;
mod workload;

pub(super) use kind::BuiltinKind;
pub(super) use kind::selector_cell;
pub(crate) use kind::selector_text;
pub use node::node_roles;
pub(crate) use node::roles;
pub use pod::PodStatus;
pub(crate) use storage::{access_modes, class_of};
pub(crate) use workload::desired;
