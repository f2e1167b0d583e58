//! Causes: changes of what the object of a problem depends on, before its first sign, which can have
//! that effect.
//!
//! A cause is a candidate and never a proof. Its score grows with the closeness in the graph of
//! references, the closeness in time, the effect that such a change can have, and with words of the
//! problem that name the changed object. Nothing is shown rather than a guess below the threshold.

mod account_rights;
mod call_targets;
mod cluster_settings;
mod dependencies;
mod effect;
mod failure_words;
mod label_keys;
mod named_objects;
mod onset;
mod operator_configuration;
mod pod_data;
mod problem_words;
mod references;
mod search;
mod shared_objects;

pub(crate) use failure_words::is_about_network_plugin;
pub(crate) use search::{ExplainedReel, called_services, explain};
pub(crate) use shared_objects::SharedObjects;
