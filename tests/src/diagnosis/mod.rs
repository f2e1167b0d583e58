//! Faults of plain Kubernetes whose cause is known, played on the real control plane and recorded,
//! and the output of `kubereel problems` for each recording.
//!
//! The scenarios' form, their stage and the judgement; `testdata/scenarios/diagnosis.yaml` has the
//! scenarios themselves. It does not know how the program comes to its answer.
#![expect(
    clippy::indexing_slicing,
    reason = "reading a field of a JSON value never panics, and only documents made here are written to"
)]

mod manifest;
mod scenario;
mod stage;
mod truth;
mod verdict;

pub use scenario::{Book, Play};
pub use stage::{RecordedScenario, Stage};
pub use truth::Truth;
pub use verdict::{Judgement, page};
