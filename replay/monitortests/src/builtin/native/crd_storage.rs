//! Owns row 16: a version that a custom resource definition gains is not stored at once, so that the
//! release before can still read what is written. Refuses definitions that are new themselves.

use crate::feed::{Action, Interest, Seen, Watcher};
use crate::verdict::{
    About, Case, Dark, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, Subject, WrittenIn,
};
use kubereel_format::ObjectId;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";

/// Row 16.
#[derive(Debug)]
pub(super) struct CrdStorage {
    about: About,
    definitions: BTreeMap<ObjectId, Definition>,
    findings: Vec<Finding>,
}

/// What is remembered of a definition.
#[derive(Debug, Default)]
struct Definition {
    /// The versions that it had at first.
    first: BTreeSet<String>,
    /// The version that was stored at first.
    first_stored: String,
    stored: String,
    /// The place of the finding that goes on.
    open: Option<usize>,
}

impl Default for CrdStorage {
    fn default() -> Self {
        Self {
            about: About {
                id: "crd-new-version-not-stored".to_owned(),
                monitor: "crd-version-checker".to_owned(),
                junit: "[sig-api-machinery] CRDs with new API versions should not change storage version immediately".to_owned(),
                description: "A version that a custom resource definition gains during the run is not its storage version: after a rollback nobody could read what was stored.".to_owned(),
                owner: "sig-api-machinery".to_owned(),
                origin: "openshift/origin pkg/monitortests/kubeapiserver/crdversionchecker".to_owned(),
                is_flake_only: false,
                written_in: WrittenIn::Rust,
            },
            definitions: BTreeMap::new(),
            findings: Vec::new(),
        }
    }
}

/// Gives the names of a definition's versions, and the stored one.
fn versions(object: &Value) -> (BTreeSet<String>, String) {
    let all = object.pointer("/spec/versions").and_then(Value::as_array);
    let mut names = BTreeSet::new();
    let mut stored = String::new();
    for version in all.into_iter().flatten() {
        let name = version.get("name").and_then(Value::as_str);
        let name = name.unwrap_or_default();
        if version.get("storage").and_then(Value::as_bool) == Some(true) {
            name.clone_into(&mut stored);
        }
        names.insert(name.to_owned());
    }
    (names, stored)
}

impl Watcher for CrdStorage {
    fn interests(&self) -> Vec<Interest> {
        let paths = ["spec.versions.name", "spec.versions.storage"];
        vec![Interest::new(GROUP, PLURAL, paths)]
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        let (names, stored) = versions(seen.now);
        if seen.action == Action::Appeared {
            let definition = Definition {
                first: names,
                first_stored: stored.clone(),
                stored,
                open: None,
            };
            self.definitions.insert(seen.object, definition);
            return;
        }
        let Some(definition) = self.definitions.get_mut(&seen.object) else {
            return;
        };
        let is_gone = seen.action == Action::Gone;
        if definition.stored == stored && !is_gone {
            return;
        }
        let ended = definition.open.take();
        if let Some(finding) = ended.and_then(|place| self.findings.get_mut(place)) {
            finding.to = Some(seen.at);
        }
        if is_gone {
            self.definitions.remove(&seen.object);
            return;
        }
        definition.stored.clone_from(&stored);
        if stored.is_empty() || definition.first.contains(&stored) {
            return;
        }
        definition.open = Some(self.findings.len());
        self.findings.push(Finding {
            subject: Subject {
                resource: format!("{PLURAL}.{GROUP}"),
                namespace: String::new(),
                name: seen.key.name.clone(),
                keys: BTreeMap::new(),
            },
            severity: Severity::Fail,
            from: seen.at,
            to: None,
            reason: "NewVersionStored".to_owned(),
            message: format!(
                "the new version {stored} of {} became its storage version, before it was {}",
                seen.key.name, definition.first_stored
            ),
            seq: Some(seen.seq),
        });
    }
}

impl MonitorTest for CrdStorage {
    fn about(&self) -> &About {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs {
            objects: vec![format!("{PLURAL}.{GROUP}")],
            seen: Vec::new(),
            facts: false,
        }
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::None
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        Some(self)
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let (start, end) = (scene.intervals.start(), scene.intervals.end());
        let unseen = scene.dark.get(&format!("{PLURAL}.{GROUP}"));
        // After a gap within the run a list shows what is stored; only its ends stay dark.
        let dark: Vec<Dark> = unseen
            .into_iter()
            .flatten()
            .filter(|dark| dark.from <= start || end <= dark.to)
            .cloned()
            .collect();
        vec![Case {
            junit: self.about.junit.clone(),
            findings: std::mem::take(&mut self.findings),
            dark,
            ..Case::default()
        }]
    }
}
