//! A monitortest for tests: pods must not bear the label `app=bad`, and had better not bear `app=odd`.

use crate::running::script::{START_MICROS, Script, Thing, pod};
use kubereel_format::{EndCause, NotCoveredReason, Note, RecordedAt};
use kubereel_history::Timeline;
use kubereel_monitortests::{
    Action, AppliesTo, ExceptionSet, FindingSubject, Interest, JudgeContext, MonitorTest,
    MonitorTestInfo, Needs, RuleClass, RunOptions, RunReport, Selection, Severity, TestCase,
    TestFinding, WatchedEvent, Watcher, WrittenIn, run_reel,
};
use serde_json::Value;
use std::collections::BTreeSet;

pub const RULE: &str = "pod-labels";

#[derive(Default)]
struct LabelFindings(Vec<TestFinding>);

/// The monitortest.
pub struct Labels {
    about: MonitorTestInfo,
    needs: Needs,
    found: LabelFindings,
}

impl Labels {
    pub fn new() -> Self {
        Self {
            about: MonitorTestInfo {
                id: RULE.to_owned(),
                monitor: "labels".to_owned(),
                junit: "[sig-test] pods have good labels".to_owned(),
                description: "Pods have good labels.".to_owned(),
                owner: "sig-test".to_owned(),
                origin: "this test".to_owned(),
                is_flake_only: false,
                is_informing: false,
                class: RuleClass::Fault,
                applies_to: AppliesTo::default(),
                written_in: WrittenIn::Rust,
            },
            needs: Needs {
                seen: vec!["pods".to_owned()],
                ..Needs::default()
            },
            found: LabelFindings::default(),
        }
    }

    pub fn flake_only(mut self) -> Self {
        self.about.is_flake_only = true;
        self
    }

    pub fn informing(mut self) -> Self {
        self.about.is_informing = true;
        self
    }

    pub fn named(mut self, id: &str, junit: &str) -> Self {
        id.clone_into(&mut self.about.id);
        junit.clone_into(&mut self.about.junit);
        self
    }

    pub fn needing(mut self, resource: &str) -> Self {
        self.needs.objects.push(resource.to_owned());
        self
    }
}

impl Watcher for LabelFindings {
    fn interests(&self) -> Vec<Interest> {
        vec![Interest::new("", "pods", ["metadata.labels.app"])]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        let name = seen.key.name;
        let open = self.0.iter_mut().rev();
        let mut open = open.filter(|finding| finding.subject.name == name);
        if let Some(finding) = open.find(|finding| finding.to.is_none()) {
            finding.to = Some(seen.at);
        }
        let app = seen.now.pointer("/metadata/labels/app");
        let severity = match app.and_then(Value::as_str) {
            Some("bad") => Severity::Fail,
            Some("odd") => Severity::Flake,
            _ => return,
        };
        if seen.action == Action::Gone {
            return;
        }
        self.0.push(TestFinding {
            subject: FindingSubject {
                resource: "pods.example.org".to_owned(),
                namespace: seen.key.namespace.to_owned(),
                name: name.to_owned(),
                keys: [
                    ("container", "main"),
                    ("condition", "Ready"),
                    ("status", "False"),
                ]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            },
            severity,
            from: seen.at,
            to: None,
            reason: "WrongLabel".to_owned(),
            message: format!("{name} has a wrong label"),
            seq: Some(seen.seq),
            shown_at: None,
        });
    }
}

impl MonitorTest for Labels {
    fn about(&self) -> &MonitorTestInfo {
        &self.about
    }

    fn needs(&self) -> Needs {
        self.needs.clone()
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        Some(&mut self.found)
    }

    fn judge(&mut self, _scene: &JudgeContext<'_>) -> Vec<TestCase> {
        vec![TestCase {
            junit: self.about.junit.clone(),
            findings: std::mem::take(&mut self.found.0),
            ..TestCase::default()
        }]
    }
}

/// A second of a script in which a pod's label became something.
pub type Change = (i64, &'static str, &'static str);

/// Writes a reel of pods whose labels change at whole seconds; the recording ends at 100 s, and has a
/// gap from 50 s to 60 s if it is asked to.
pub fn reel(changes: &[Change], has_gap: bool) -> (tempfile::TempDir, Timeline) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let pods = script.resource("pods", "Pod", &["po"]);
    script.note(Note::NotCovered {
        group: String::new(),
        version: "v1".to_owned(),
        plural: "routes".to_owned(),
        reason: NotCoveredReason::Forbidden,
        detail: String::new(),
    });
    let mut stream = script.connect(pods, None);
    script.synced(stream, 10);
    let mut rv = 10;
    let mut known = BTreeSet::new();
    for secs in 1..=100_i64 {
        script.wait(1000);
        for (_, name, app) in changes.iter().filter(|(at, ..)| *at == secs) {
            rv += 1;
            let thing = Thing {
                namespace: "shop",
                name,
                uid: name,
            };
            let body = pod(thing, rv, app);
            if known.insert(name) {
                script.added(stream, thing, rv, &body);
            } else {
                script.modified(stream, thing, rv, &body);
            }
        }
        if has_gap && secs == 50 {
            script.disconnect(stream, EndCause::Expired);
        }
        if has_gap && secs == 60 {
            let from = second(50);
            stream = script.connect(pods, None);
            script.gap(pods, rv, rv + 100, from);
            rv += 100;
            script.synced(stream, rv);
        }
    }
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    (folder, timeline)
}

pub fn second(secs: i64) -> RecordedAt {
    RecordedAt::from_micros(START_MICROS + secs * 1_000_000)
}

/// Runs tests over a reel of changes.
pub fn run(changes: &[Change], exceptions: &str, tests: Vec<Labels>) -> RunReport {
    run_with(&reel(changes, false).1, exceptions, None, tests)
}

/// Runs tests over a reel.
pub fn run_with(
    timeline: &Timeline,
    exceptions: &str,
    now: Option<RecordedAt>,
    tests: Vec<Labels>,
) -> RunReport {
    let exceptions = match exceptions {
        "" => ExceptionSet::default(),
        text => ExceptionSet::read("known.yaml", text).expect("exceptions"),
    };
    let asked = RunOptions {
        selection: &Selection::default(),
        exceptions: &exceptions,
        now,
    };
    let boxed = |test| -> Box<dyn MonitorTest> { Box::new(test) };
    let tests = tests.into_iter().map(boxed);
    run_reel(timeline, tests.collect(), &asked, |_| {})
}
