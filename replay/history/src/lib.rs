//! Reads a reel and answers queries about the past: the state at a moment, what was observed, what
//! changed.
//!
//! The crate is synchronous and has no network, terminal or clock. It never writes to a reel. Every
//! answer states its certainty: see [`Certainty`].

mod account;
mod activity;
mod blame;
mod body_reader;
mod builtin_kinds;
mod changes;
mod clock;
mod cluster_events;
mod columns;
pub mod counttext;
mod coverage;
mod cursor;
mod density;
mod describe;
mod difference;
mod export;
pub mod field;
mod first_look;
mod follow;
mod history;
mod jsonpath;
mod moment;
mod object;
mod object_version;
mod origin;
mod page;
mod proof;
mod quantity;
mod redaction_key;
mod related;
mod replaced;
mod revision;
mod rollout;
mod samples;
mod schema;
mod search;
mod select;
mod session;
mod states;
mod summary;
mod tables;
mod timeline;
pub mod timetext;
mod unknown;
mod viewpoint;
mod wait;
mod writers;

pub use account::{
    AccountError, AccountExclusion, CommitBounds, MAX_RANGES, RevisionAccount, RevisionSequence,
    SequenceMember, UnexplainedRange,
};
pub use activity::{ActivityQuestion, WriteActivity, WriteCount};
pub use blame::{Blame, BlameSource, BlamedObject};
pub use body_reader::QueryError;
pub use changes::{
    Change, ChangeKind, ComparisonScope, Field, FieldError, FieldPath, FieldStep, KeyPart, Leaves,
    SegmentKind, WordSegment, words,
};
pub use cluster_events::{
    EventContent, EventLog, EventQuestion, EventText, LoggedEvent, Regarding,
};
pub use columns::{
    ColumnRoom, CustomColumns, JsonPathTemplate, LabelColumns, PodStatus, ResourceColumns,
    SortField, SortKey, TemplateError, node_roles, sort_by_keys,
};
pub use coverage::{
    Certainty, Coverage, CoveredFrom, DamagedSpan, GapJudgement, GapOutcome, ImportedFrom,
    LostChange, RecordedGap, RecorderEnd, UnobservedEffect, UnobservedReason, UnobservedSpan,
};
pub use cursor::{Cursor, CursorStep, StepBodies, Track, VersionScan};
pub use density::{Density, MAX_SLICES};
pub use describe::{DescribedCondition, Description, Scalar};
pub use difference::{
    ComparedBodies, ObjectDifference, ObjectFate, ResourceMoment, SteppedOver, differing,
};
pub use export::{ExportError, Exported};
pub use first_look::FirstLooks;
pub use follow::{FollowError, FollowStep, FollowedReel, ReelFollower};
pub use history::{
    DurationEnd, HistoryItem, HistoryQuestion, HistoryVersion, ObjectHistory, VersionDuration,
    VersionFact, VersionPlace,
};
pub use kubereel_format::{cut, harmless};
pub use moment::{Cut, MOMENT_FORMS, MarkText, Moment, MomentError, ResolveError, named};
pub use object::{
    ListForm, ListWriter, ObjectForm, ObjectMeta, YamlLine, name_of, write_folded_yaml, write_json,
    write_json_line, write_yaml, yaml_lines,
};
pub use object_version::{LifetimeEnd, ObjectLifetime, ObjectVersion, ResourceSnapshot};
pub use page::{IncompleteList, ObjectPage, PageLine};
pub use proof::{Integrity, OutageSum, Proof, ReelVerdict, ResourceCompleteness, ResourceProof};
pub use quantity::Quantity;
pub use related::{Child, OwnedObject, OwnedObjects, OwnerRef, Relatives, UnsearchedCounts};
pub use rollout::{Revision, RolloutState};
pub use samples::CounterMove;
pub use schema::{ResourceSchema, SchemaField, SchemaSource, definition_lives, is_custom_resource};
pub use search::{FoundValue, FoundValues, ValueQuestion};
pub use select::{
    ExcludedResource, FieldSelector, FieldSelectorError, LabelError, LabelSelector, MAX_MANIFEST,
    ManifestError, ManifestObject, ObjectFilter, ResourceTable, SelectError, manifest_objects,
    nearest,
};
pub use session::{Cluster, Outage, ProbedOutage, RecordingSession};
pub use summary::{
    AccountSummary, ClusterSummary, CoveredSummary, DamageSummary, EventCounts, FileParts,
    GapSummary, KubeconfigSummary, LabelSummary, LeftOutSummary, MarkSummary, NotCoveredSummary,
    ObjectCounts, OutageSummary, PauseSummary, RangeSummary, ReelSummary, ResourceSummary,
    SessionSummary, UnseenSummary,
};
pub use timeline::Timeline;
pub use wait::{
    GoalError, MissedReason, MissedTime, ReelInstant, WaitAnswer, WaitFor, WaitQuestion, WaitSpan,
    WaitStep, WaitVerdict, condition_types,
};
pub use writers::{Authors, FieldWriter, managers};
