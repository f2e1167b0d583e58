//! A reel goes in, meaning comes out: the state at a moment, what is covered, what is in it.
//!
//! Synchronous, without network, terminal or clock. It never writes to a reel.
//! Every answer about the past says how far it can be trusted: see [`Certainty`].

mod account;
mod ahead;

mod between;
mod blame;
mod changes;
mod cluster_events;
mod columns;
mod coverage;
mod cursor;
mod density;
mod describe;
mod export;
mod history;
mod jsonpath;
mod moment;
mod object;
mod outage;
mod proof;
mod query_error;
mod related;

mod samples;
mod select;
mod session;
mod snapshot;
mod step;
mod summary;
mod tables;
mod timeline;
pub mod timetext;
mod wait;
mod writers;

pub use account::{
    Account, AccountError, CommitBounds, LeftOut, MAX_RANGES, Member, Sequence, UnexplainedRange,
};
pub use between::{Asked, Differing, Fate, differing};
pub use blame::{Blame, BlameSource, Blamed};
pub use changes::{
    Change, ChangeKind, Field, FieldError, KeyPart, Leaves, Path, Scope, Segment, SegmentKind,
    Step, words,
};
pub use cluster_events::{EventLog, EventQuestion, Logged, Regarding, Said};
pub use columns::{Columns, LabelColumns, Room};
pub use coverage::{
    Certainty, Coverage, CoveredFrom, GapJudgement, GapOutcome, ImportedFrom, LostChange,
    RecordedGap, UnobservedEffect, UnobservedReason, UnobservedSpan,
};
pub use cursor::{Cursor, CursorStep, StepBodies, Track};
pub use density::{Density, MAX_SLICES};
pub use describe::{Condition, Description, Scalar};
pub use export::{ExportError, Exported};
pub use history::{HeldFor, HeldUntil, History, HistoryItem, HistoryQuestion, Place, SeenVersion};
pub use kubereel_format::harmless;
pub use moment::{Cut, MOMENT_FORMS, Moment, MomentError, ResolveError};
pub use object::{
    Form, ListForm, ListWriter, Meta, YamlLine, name_of, write_json, write_yaml, yaml_lines,
};
pub use outage::{Outage, ProbedOutage};
pub use proof::{Integrity, OutageSum, Proof, ResourceProof, ResourceState, Verdict};
pub use query_error::QueryError;
pub use related::{Child, Owned, OwnedObject, OwnerRef, Relatives};
pub use samples::CounterMove;
pub use select::{
    ExcludedResource, FieldSelector, FieldSelectorError, LabelError, LabelSelector, MAX_MANIFEST,
    ManifestError, ManifestObject, ObjectFilter, ResourceTable, SelectError, manifest_objects,
};
pub use session::{Cluster, Session};
pub use snapshot::{ObjectLifetime, ObjectVersion, ResourceSnapshot};
pub use step::SteppedOver;
pub use summary::{
    AccountSummary, ClusterSummary, CounterMoveSummary, CoveredSummary, DamageSummary, EventCounts,
    GapSummary, LabelSummary, LeftOutSummary, MarkSummary, NotCoveredSummary, ObjectCounts,
    OutageSummary, Parts, RangeSummary, ResourceSummary, SessionSummary, Summary, UnseenSummary,
    waits,
};
pub use timeline::Timeline;
pub use wait::{
    GoalError, Instant, Missed, MissedWhy, WaitFor, WaitQuestion, WaitSpan, WaitStep, WaitVerdict,
    Waited,
};
pub use writers::{Authors, Writer};
