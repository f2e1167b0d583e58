//! Owns a run from its beginning to its end: the way to the cluster and its changes, what an earlier
//! run left, which streams there are, signals, and the finished file. Refuses to end because the
//! cluster is in trouble: that is what it records.

mod ending;
mod kubeconfig;
mod past;
#[cfg(test)]
mod planted;
mod proxy_conf;
mod run;
mod supervise;

pub(crate) use ending::{Signals, Whole};
pub(crate) use run::{Pen, listen, serve_status};
pub use run::{Recorder, StatusHandle, Summary};
