//! The summary of the account of revisions.

use crate::account::{RevisionAccount, UnexplainedRange};
use crate::timeline::Timeline;
use crate::timetext::{OptionalRfc3339, Rfc3339};
use kubereel_format::RecordedAt;
use serde::Serialize;

/// The account of the revisions of the cluster's storage.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AccountSummary {
    /// The number of the cluster.
    pub epoch: u32,
    /// When every resource had been listed.
    #[serde(with = "Rfc3339")]
    pub from: RecordedAt,
    /// When the last probe of the account succeeded.
    #[serde(with = "Rfc3339")]
    pub to: RecordedAt,
    /// The account begins behind this revision.
    pub from_rv: String,
    /// It ends with this one.
    pub to_rv: String,
    /// The number of revisions.
    pub revisions: u64,
    /// The number of revisions with a recorded event.
    pub explained: u64,
    /// The number of revisions without one: of keys that no API serves, of resources that are left
    /// out, or missed.
    pub unexplained: u64,
    /// The explained share, from 0 to 1; null if the account proves nothing.
    pub explained_share: Option<f64>,
    /// The first unexplained revisions, as runs in order.
    pub ranges: Vec<RangeSummary>,
    /// The number of these runs.
    pub ranges_total: u64,
    /// The number of resources that share the sequence of revisions.
    pub resources: u64,
    /// The recorded resources that are left out of the account.
    pub left_out: Vec<LeftOutSummary>,
    /// The number of revisions with several objects; above 0 the account proves nothing.
    pub shared_revisions: u64,
}

summaries! {
/// A run of revisions without a recorded event.
#[derive(Eq)]
struct RangeSummary(range: &UnexplainedRange) {
    /// The first.
    first_rv: String = range.first.to_string(),
    /// The last.
    last_rv: String = range.last.to_string(),
    /// After when the first of them was committed, if a probe bounds it.
    #[serde(with = "OptionalRfc3339")]
    after: Option<RecordedAt> = range.after,
    /// By when the last of them was committed, if a probe bounds it.
    #[serde(with = "OptionalRfc3339")]
    before: Option<RecordedAt> = range.before,
}
}

/// A recorded resource that is left out of the account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LeftOutSummary {
    /// `plural.group`, or the plural alone for the core group.
    pub resource: String,
    /// The cause.
    pub reason: String,
}

impl AccountSummary {
    /// Summarizes the accounts.
    pub(crate) fn all(timeline: &Timeline) -> Vec<Self> {
        let accounts = timeline.accounts().unwrap_or_default();
        accounts
            .iter()
            .map(|account| Self::of(timeline, account))
            .collect()
    }

    fn of(timeline: &Timeline, account: &RevisionAccount) -> Self {
        let name = |resource| {
            let info = timeline.resources().get(resource);
            info.map_or_else(String::new, kubereel_format::ResourceInfo::qualified)
        };
        Self {
            epoch: account.epoch.0,
            from: account.from,
            to: account.to,
            from_rv: account.from_rv.to_string(),
            to_rv: account.to_rv.to_string(),
            revisions: account.total(),
            explained: account.explained,
            unexplained: account.unexplained_total(),
            explained_share: account.share(),
            ranges: account.unexplained.iter().map(RangeSummary::of).collect(),
            ranges_total: account.ranges,
            resources: account.members,
            left_out: account
                .left_out
                .iter()
                .map(|(resource, why)| LeftOutSummary {
                    resource: name(*resource),
                    reason: why.as_str().to_owned(),
                })
                .collect(),
            shared_revisions: account.shared,
        }
    }
}
