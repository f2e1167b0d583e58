//! Owns what a monitortest says of one JUnit case. Refuses to count: the report does.

use super::finding::Finding;
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

/// A time in which what a case judges was not seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dark {
    /// When it began.
    pub from: RecordedAt,
    /// When it ended.
    pub to: RecordedAt,
    /// What was not seen and why, for people.
    pub why: String,
}

/// What a monitortest says of one case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The name in JUnit, places filled in; without `[Monitor:…]` and `[Jira:…]`.
    pub junit: String,
    /// The component for `[Jira:"…"]`; `None` where none is known, and then no prefix is written.
    pub component: Option<String>,
    /// What the case is for, such as `operator` or `namespace`.
    pub group: BTreeMap<String, String>,
    /// What was found wrong.
    pub findings: Vec<Finding>,
    /// Where nothing could be seen: a case without findings that has any is unknown, not passed.
    pub dark: Vec<Dark>,
    /// Why it was not judged.
    pub skipped: Option<String>,
    /// Why it could not be judged: an error of the rule, with object and moment.
    pub error: Option<String>,
}
