//! Records a cluster into a reel.
//!
//! [`Recorder::open`] opens the reel, [`Recorder::run`] records until a signal arrives. A failure
//! of the cluster never ends a run: it is recorded.

mod access;
mod backfill;
mod budget;
mod clock;
mod discover;
mod error;
mod health;
mod known;
mod lifecycle;
mod marks;
mod number;
mod observer;
mod options;
mod probe;
mod queue;
mod resource;
mod sampler;
mod series;
mod server;
mod status_page;
mod version;
mod watch;
mod wire;
mod writer;

pub use access::{StatusAccess, StatusToken, StatusTokenError};
pub use budget::default_max_memory;
pub use error::RecordError;
pub use health::RecorderStatus;
pub use lifecycle::{
    Recorder, RecordingSummary, StatusHandle, catch_file_limit, catch_signals, context_names,
};
pub use marks::{MarkError, MarkPlace, leave_mark};
pub use observer::{
    CompletenessSummary, LABELS, Observation, ObserverOutcome, job_labels, observe,
};
pub use options::{
    DEFAULT_MAX_BYTES, JobPlaces, KubeconfigSource, LEAST_MAX_BYTES, LEAST_MAX_MEMORY,
    RecorderOptions, SealPolicy,
};
pub use series::{ReelSeries, Rotation, SeriesSummary};
