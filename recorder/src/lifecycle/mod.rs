//! A run from its beginning to its end: the way to the cluster and its changes, what an earlier run left,
//! which resources are watched, signals, and the finished file. Trouble with the cluster never ends a run: it
//! is recorded.

mod ending;
mod kubeconfig;
mod past;
#[cfg(test)]
mod planted;
mod proxy_conf;
mod run;
mod supervise;

pub(crate) use ending::{Signals, WholeReel};
pub use run::{Recorder, RecordingSummary, StatusHandle};
pub(crate) use run::{TimelinePen, listen, serve_status};
