//! Row 16: a version that a custom resource definition gains is not stored at once, so that the release
//! before can still read what is written. New definitions are left out.

use crate::builtin::rows::info;
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::interval_needs::IntervalNeeds;
use crate::reading;
use crate::verdict::{
    CaseGap, FindingSubject, JudgeContext, MonitorTest, MonitorTestInfo, Needs, Severity, TestCase,
    TestFinding,
};
use kubereel_format::ObjectId;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";
const RESOURCE: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Row 16.
struct CrdStorage {
    about: MonitorTestInfo,
    definitions: BTreeMap<ObjectId, CrdVersions>,
    findings: Vec<TestFinding>,
}

/// What is remembered of a definition.
#[derive(Debug, Default)]
struct CrdVersions {
    /// The versions that it had at first.
    first: BTreeSet<String>,
    /// The version that was stored at first.
    first_stored: String,
    stored: String,
    /// The place of the finding that goes on.
    open: Option<usize>,
}

/// Makes the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    Box::new(CrdStorage {
        about: info(
            "crd-new-version-not-stored",
            "sig-api-machinery",
            "pkg/monitortests/kubeapiserver/crdversionchecker",
            "A version that a custom resource definition gains during the run is not its storage version: after a rollback the stored objects could not be read.",
        ),
        definitions: BTreeMap::new(),
        findings: Vec::new(),
    })
}

/// Returns the names of a definition's versions, and the stored one.
fn versions(object: &Value) -> (BTreeSet<String>, String) {
    let mut names = BTreeSet::new();
    let mut stored = String::new();
    for version in reading::list(object, "/spec/versions") {
        let name = reading::text(version, "/name");
        if reading::at(version, "/storage") == Some(&Value::Bool(true)) {
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

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        let (names, stored) = versions(seen.now);
        if seen.action == Action::Appeared {
            let definition = CrdVersions {
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
        self.findings.push(TestFinding {
            subject: FindingSubject::object(RESOURCE, "", seen.key.name),
            severity: Severity::Fail,
            from: seen.at,
            to: None,
            reason: "NewVersionStored".to_owned(),
            message: format!(
                "the new version {stored} of {} became its storage version, before it was {}",
                seen.key.name, definition.first_stored
            ),
            seq: Some(seen.seq),
            shown_at: None,
        });
    }
}

impl MonitorTest for CrdStorage {
    fn about(&self) -> &MonitorTestInfo {
        &self.about
    }

    fn needs(&self) -> Needs {
        Needs {
            objects: vec![RESOURCE.to_owned()],
            ..Needs::default()
        }
    }

    fn looks_at(&self) -> IntervalNeeds {
        IntervalNeeds::None
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        Some(self)
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        let (start, end) = (scene.intervals.start(), scene.intervals.end());
        let unseen = scene.dark.get(RESOURCE);
        // After a gap within the run a list shows what is stored; only its ends stay dark.
        let dark: Vec<CaseGap> = unseen
            .into_iter()
            .flatten()
            .filter(|dark| dark.from <= start || end <= dark.to)
            .cloned()
            .collect();
        vec![TestCase {
            findings: std::mem::take(&mut self.findings),
            dark,
            ..TestCase::named(&self.about.junit)
        }]
    }
}
