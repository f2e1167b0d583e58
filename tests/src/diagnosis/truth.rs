//! The truth about a recording: which objects fail in it, and which change is the cause.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::manifest::Reference;
use super::scenario::Scenario;

/// The truth about a recorded scenario.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Truth {
    /// The scenario's name.
    pub scenario: String,
    /// The event.
    pub about: String,
    /// The seed of its names.
    pub seed: u64,
    /// The scenario's namespace.
    pub namespace: String,
    /// When the first of its steps was taken, in RFC 3339.
    pub begins: String,
    /// When its last step was done.
    pub ends: String,
    /// Objects that may be named first; none when nothing is wrong.
    pub failing: Vec<FailingObject>,
    /// Changes that count as the cause; none when the API does not show it.
    pub causes: Vec<TrueCause>,
}

/// An object that fails. What it owns is as good: those names begin with its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FailingObject {
    /// Its kind.
    pub kind: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Kinds of what it owns.
    pub owns: Vec<String>,
}

/// A change that is the cause.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrueCause {
    /// The kind of the changed object.
    pub kind: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// The path of the changed field, or `created` or `deleted`.
    pub field: String,
}

impl Truth {
    /// The truth of a scenario that was played in a namespace, with the times of its steps.
    pub(super) fn of(
        scenario: &Scenario,
        namespace: &str,
        seed: u64,
        (begins, ends): (String, String),
    ) -> Result<Self> {
        let failing = scenario.failing.iter().map(|text| {
            let object = Reference::read(text, namespace)?;
            Ok(FailingObject {
                owns: owned_kinds(&object.kind),
                kind: object.kind,
                namespace: object.namespace,
                name: object.name,
            })
        });
        let causes = scenario.causes.iter().map(|cause| {
            let object = Reference::read(&cause.object, namespace)?;
            Ok(TrueCause {
                kind: object.kind,
                namespace: object.namespace,
                name: object.name,
                field: cause.field.clone(),
            })
        });
        Ok(Self {
            scenario: scenario.name.clone(),
            about: scenario.about.clone(),
            seed,
            namespace: namespace.to_owned(),
            begins,
            ends,
            failing: failing.collect::<Result<_>>()?,
            causes: causes.collect::<Result<_>>()?,
        })
    }
}

fn owned_kinds(kind: &str) -> Vec<String> {
    let owned: &[&str] = match kind {
        "Deployment" => &["ReplicaSet", "Pod"],
        "StatefulSet" | "DaemonSet" | "Job" => &["Pod"],
        "CronJob" => &["Job", "Pod"],
        _ => &[],
    };
    owned.iter().map(|&kind| kind.to_owned()).collect()
}

impl FailingObject {
    /// Whether it, or something it owns, is called so.
    pub(super) fn is(&self, kind: &str, namespace: Option<&str>, name: &str) -> bool {
        let begins = || {
            name.strip_prefix(&self.name)
                .is_some_and(|rest| rest.starts_with('-'))
        };
        self.namespace.as_deref() == namespace
            && ((self.kind == kind && self.name == name)
                || (self.owns.iter().any(|owned| owned == kind) && begins()))
    }
}
