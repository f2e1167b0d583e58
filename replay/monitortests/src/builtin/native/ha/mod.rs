//! High availability by OpenShift's conventions: how workloads of the platform are written, and how they
//! ran.
//!
//! In Rust, because one case covers Deployments, `StatefulSets`, `DaemonSets` and bare Pods together.
//! Findings only flake: many workloads do not follow the conventions yet.

mod frame;
mod placement;
mod pods;
mod templates;
mod workloads;

pub(crate) use frame::tests;
