//! A reel goes in, meaning comes out: the state at a moment, what is covered, what is in it.
//!
//! Synchronous, without network, terminal or clock. It never writes to a reel.
//! Every answer about the past says how far it can be trusted: see [`Certainty`].

mod account;
mod ahead;
mod as_of;
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
mod resolve;
mod samples;
mod select;
mod session;
mod step;
mod summary;
mod timeline;
pub mod timetext;
mod wait;
mod writers;

pub use account::{
    Account, AccountError, CommitBounds, LeftOut, MAX_RANGES, Member, Sequence, UnexplainedRange,
};
pub use as_of::{Filter, Held, Life, State};
pub use between::{Asked, Differing, Fate, differing};
pub use blame::{Blame, BlameSource, Blamed};
pub use changes::{
    Change, ChangeKind, Field, FieldError, KeyPart, Leaves, Path, Scope, Segment, SegmentKind,
    Step, words,
};
pub use cluster_events::{EventLog, EventQuestion, Logged, Regarding, Said};
pub use columns::{Columns, LabelColumns, Room};
pub use coverage::{
    Blind, Certainty, Coverage, CoveredFrom, Hole, ImportedFrom, Judged, LostChange,
    UnobservedEffect, UnobservedReason, UnobservedSpan, UnparsedSpan,
};
pub use cursor::{Cursor, CursorStep, StepBodies, Track};
pub use density::{Density, MAX_SLICES};
pub use describe::{Condition, Description, Scalar};
pub use export::{ExportError, Exported};
pub use history::{HeldFor, HeldUntil, History, HistoryItem, HistoryQuestion, Place, SeenVersion};
pub use kubereel_format::harmless;
pub use moment::{MOMENT_FORMS, Moment, MomentError};
pub use object::{
    Form, ListForm, ListWriter, Meta, YamlLine, name_of, write_json, write_yaml, yaml_lines,
};
pub use outage::{Outage, ProbedOutage};
pub use proof::{
    AccountSummary, Integrity, LeftOutSummary, OutageSum, Proof, RangeSummary, ResourceProof,
    ResourceState, UnseenSummary, Verdict,
};
pub use query_error::QueryError;
pub use related::{Child, Owned, OwnedObject, OwnerRef, Relatives};
pub use resolve::{Cut, ResolveError};
pub use samples::CounterMove;
pub use select::{
    Excluded, FieldSelector, FieldSelectorError, LabelError, LabelSelector, MAX_MANIFEST,
    ManifestError, ManifestObject, ResourceTable, SelectError, manifest_objects,
};
pub use session::{Cluster, Session};
pub use step::SteppedOver;
pub use summary::{
    ClusterSummary, CounterMoveSummary, CoveredSummary, DamageSummary, EventCounts, GapSummary,
    LabelSummary, MarkSummary, NotCoveredSummary, ObjectCounts, OutageSummary, Parts,
    ResourceSummary, SessionSummary, Summary,
};
pub use timeline::Timeline;
pub use wait::{
    GoalError, Instant, Missed, MissedWhy, WaitFor, WaitQuestion, WaitSpan, WaitStep, WaitVerdict,
    Waited,
};
pub use writers::{Authors, Writer};
