//! The content of a reel in numbers: the whole, each resource, and what is missing.
//!
//! The structs are the documented schema of `info -o json`: names are stable, times are RFC 3339,
//! durations are in seconds.

/// Defines summaries, each made of its argument by `of`: each member once, with its type and its value.
macro_rules! summaries {
    ($($(#[$doc:meta])* struct $name:ident($arg:ident: $from:ty) {
        $($(#[$attr:meta])* $field:ident: $type:ty = $value:expr,)+
    })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$attr])* pub $field: $type,)+
        }

        impl $name {
            pub(crate) fn of($arg: $from) -> Self {
                Self { $($field: $value,)+ }
            }
        }
    )+};
}

mod account;
mod reel;
mod resource;

pub(crate) use reel::{not_covered_summaries, note_texts, outage_summaries};

pub use account::{AccountSummary, LeftOutSummary, RangeSummary};
pub use reel::{
    ClusterSummary, DamageSummary, EventCounts, FileParts, KubeconfigSummary, LabelSummary,
    MarkSummary, NotCoveredSummary, ObjectCounts, OutageSummary, PauseSummary, ReelSummary,
    SessionSummary,
};
pub use resource::{CoveredSummary, GapSummary, ResourceSummary, UnseenSummary};
