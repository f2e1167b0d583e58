//! A run from its beginning to its end: the kubeconfig and its changes, the state of an earlier
//! run, the watched resources, signals, and the finished file. A failure of the cluster never ends
//! a run: it is recorded.

mod ending;
mod follower;
mod kubeconfig;
mod past;
#[cfg(test)]
mod planted;
mod proxy_conf;
mod run;
mod sealing;
mod supervise;

pub(crate) use ending::{Signals, WholeReel};
pub use ending::{catch_file_limit, catch_signals};
pub use kubeconfig::context_names;
pub use run::{Recorder, RecordingSummary, StatusHandle};
pub(crate) use run::{TimelinePen, listen, serve_status};
