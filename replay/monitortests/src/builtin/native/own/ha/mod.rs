//! High availability as OpenShift's conventions want it: how workloads of the platform are written, and
//! how they ran.
//!
//! In Rust, because one case holds Deployments, `StatefulSets`, `DaemonSets` and bare Pods together.
//! Owns what is broken and for how long. Refuses to fail a run: the conventions are not kept everywhere
//! yet, so findings only flake.

mod budgets;
mod drains;
mod evictions;
mod frame;
mod pods;
mod ready;
mod selector;
mod spells;
mod spread;
mod templates;

pub(crate) use frame::tests;
