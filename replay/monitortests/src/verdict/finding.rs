//! Owns one thing that a monitortest found wrong, with its evidence. Refuses the verdict: exceptions
//! have a say in it.

use kubereel_format::{RecordedAt, Seq};
use std::collections::BTreeMap;

/// How bad a finding is before exceptions are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It makes the case flake.
    Flake,
    /// It makes the case fail.
    Fail,
}

/// What the cluster was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The first installation.
    Install,
    /// An upgrade, from its acceptance to its completion.
    Upgrade,
    /// Neither.
    Stable,
}

impl Phase {
    /// Gives the word that files use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Upgrade => "upgrade",
            Self::Stable => "stable",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The resource, `pods` or `clusteroperators.config.openshift.io`; empty if it is no object.
    pub resource: String,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// The name; may be empty.
    pub name: String,
    /// More keys, such as `container` or `node`.
    pub keys: BTreeMap<String, String>,
}

/// Something found wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub subject: Subject,
    /// How bad it is.
    pub severity: Severity,
    /// When it began.
    pub from: RecordedAt,
    /// When it ended; the same moment for an instant, `None` if it did not.
    pub to: Option<RecordedAt>,
    /// A word for programs, such as a condition's reason; may be empty.
    pub reason: String,
    /// What is wrong, for people, with values of the evidence.
    pub message: String,
    /// The record that shows it.
    pub seq: Option<Seq>,
}
