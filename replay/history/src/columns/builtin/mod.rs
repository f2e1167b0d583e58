//! The columns of built-in kinds, which the server makes itself.
//!
//! What each cell says follows the server's own printers: kubernetes
//! `pkg/printers/internalversion`, version 1.36.

mod containers;
mod deployment;
mod event;
mod job;
mod kind;
mod lease;
mod namespace;
mod node;
mod pod;
mod pod_status;
mod replica_set;
mod selector;
mod service;

pub(super) use kind::Kind;
