//! The columns of built-in kinds, which the server makes itself.
//!
//! What each cell says follows the server's own printers: kubernetes
//! `pkg/printers/internalversion`, version 1.36.

mod event;
mod kind;
mod node;
mod pod;
mod service;
mod workload;

pub(super) use kind::BuiltinKind;
