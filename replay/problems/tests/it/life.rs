//! A cluster's life in a few versions of objects, and the problems of its recording.

use super::script::{Script, Stream, thing};
use kubereel_format::{EndCause, EventType, Evidence, OutageClass};
use kubereel_history::{Timeline, timetext};
use kubereel_monitortests::{ExceptionSet, RunOptions, RunReport, Selection, run_reel};
use kubereel_problems::{ClusterStory, Problem, ProblemList, monitor_tests, problems};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tempfile::TempDir;

/// A recording in the making. It begins at 14:00:00.
pub struct Life {
    script: Script,
    folder: TempDir,
    rv: u128,
    streams: BTreeMap<&'static str, (&'static str, Stream)>,
    /// The objects that are there, with their last versions.
    there: BTreeMap<(&'static str, String), Vec<u8>>,
}

impl Life {
    /// Begins a recording of resources, `cronjobs.batch`, and their kinds.
    pub fn of(resources: &[(&'static str, &'static str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let script = Script::begin(&folder.path().join("test.reel"));
        let mut life = Self {
            script,
            folder,
            rv: 10,
            streams: BTreeMap::new(),
            there: BTreeMap::new(),
        };
        for &(qualified, kind) in resources {
            let resource = life.script.resource(qualified, kind, &[]);
            let stream = life.script.connect(resource, None);
            life.script.synced(stream, life.rv);
            life.streams.insert(qualified, (kind, stream));
        }
        life
    }

    /// Lets time pass until a time of the day, `14:10:00`.
    pub fn until(&mut self, time: &str) {
        let at = timetext::parsed(&format!("2026-11-21T{time}Z")).expect("a time");
        let micros = at.micros_since(self.script.now());
        assert!(micros >= 0, "{time} is over");
        self.script.wait(micros / 1000);
    }

    /// Lets milliseconds pass.
    pub fn wait(&mut self, millis: i64) {
        self.script.wait(millis);
    }

    /// Lets the API server fail for milliseconds.
    pub fn outage(&mut self, class: OutageClass, millis: i64) {
        self.script.outage("https://a:6443", class, millis);
    }

    /// Records a version of an object: `namespace/name`, or the name alone.
    pub fn put(&mut self, resource: &'static str, object: &str, body: Value) {
        self.put_as(&format!("{resource} {object}"), resource, object, body);
    }

    /// Records a version of an object with a uid.
    pub fn put_as(&mut self, uid: &str, resource: &'static str, object: &str, mut body: Value) {
        let (kind, stream) = *self.streams.get(resource).expect("a resource of this life");
        let (namespace, name) = object.split_once('/').unwrap_or(("", object));
        self.rv += 1;
        body["kind"] = json!(kind);
        body["metadata"]["name"] = json!(name);
        body["metadata"]["namespace"] = json!(namespace);
        body["metadata"]["uid"] = json!(uid);
        let bytes = body.to_string().into_bytes();
        let what = thing(namespace, name, uid);
        let before = self
            .there
            .insert((resource, object.to_owned()), bytes.clone());
        if before.is_none() {
            self.script.added(stream, what, self.rv, &bytes);
        } else {
            self.script.modified(stream, what, self.rv, &bytes);
        }
    }

    /// Records an object that was there when the recorder first looked.
    pub fn find(&mut self, resource: &'static str, object: &str, mut body: Value) {
        let (kind, stream) = *self.streams.get(resource).expect("a resource of this life");
        let (namespace, name) = object.split_once('/').unwrap_or(("", object));
        let uid = format!("{resource} {object}");
        body["kind"] = json!(kind);
        body["metadata"]["name"] = json!(name);
        body["metadata"]["namespace"] = json!(namespace);
        body["metadata"]["uid"] = json!(&uid);
        let what = thing(namespace, name, &uid);
        let bytes = body.to_string().into_bytes();
        self.there
            .insert((resource, object.to_owned()), bytes.clone());
        self.script.initial(stream, what, self.rv, &bytes);
    }

    /// Records the deletion of an object.
    pub fn delete(&mut self, resource: &'static str, object: &str) {
        let (_, stream) = *self.streams.get(resource).expect("a resource of this life");
        let (namespace, name) = object.split_once('/').unwrap_or(("", object));
        self.rv += 1;
        let uid = format!("{resource} {object}");
        let what = thing(namespace, name, &uid);
        let last = self.there.remove(&(resource, object.to_owned()));
        let last = last.expect("an object that is there");
        self.script.deleted(stream, what, self.rv, &last);
    }

    /// Ends the watch of a resource.
    pub fn lose(&mut self, resource: &'static str) {
        let (_, stream) = *self.streams.get(resource).expect("a resource of this life");
        self.script.disconnect(stream, EndCause::Cut);
    }

    /// Lists a resource again whose watch was lost at a time of the day; an object is another one by then.
    pub fn relist(&mut self, resource: &'static str, lost: &str, object: &str, body: Value) {
        self.list(resource, lost, object, Some(body));
    }

    /// Lists a resource again whose watch was lost at a time of the day; an object is gone by then.
    pub fn relist_without(&mut self, resource: &'static str, lost: &str, object: &str) {
        self.list(resource, lost, object, None);
    }

    fn list(&mut self, resource: &'static str, lost: &str, object: &str, body: Option<Value>) {
        let (kind, stream) = *self.streams.get(resource).expect("a resource of this life");
        let (namespace, name) = object.split_once('/').unwrap_or(("", object));
        let before = self.rv;
        self.rv += 10;
        let uid = format!("{resource} {object}");
        let from = timetext::parsed(&format!("2026-11-21T{lost}Z")).expect("a time");
        let script = &mut self.script;
        let stream = script.connect(stream.resource, None);
        script.gap(stream.resource, before, self.rv, from);
        let what = thing(namespace, name, &uid);
        let (change, evidence, bytes) = if let Some(mut body) = body {
            body["kind"] = json!(kind);
            body["metadata"]["name"] = json!(name);
            body["metadata"]["namespace"] = json!(namespace);
            body["metadata"]["uid"] = json!(&uid);
            let bytes = body.to_string().into_bytes();
            (EventType::Modified, Evidence::Listed, bytes)
        } else {
            let bytes = self.there.remove(&(resource, object.to_owned()));
            let bytes = bytes.expect("an object that was there");
            (EventType::Deleted, Evidence::Inferred, bytes)
        };
        script.event(stream, change, evidence, what, self.rv, &bytes);
        script.synced(stream, self.rv);
        self.streams.insert(resource, (kind, stream));
    }

    /// Ends the recording at a time of the day, and tells its story.
    pub fn story(self, time: &str) -> ClusterStory {
        let timeline = self.finish(time);
        ClusterStory::of(&timeline, problems(&timeline, |_seq| {}))
    }

    /// Ends the recording at a time of the day, and lists its problems.
    pub fn end(self, time: &str) -> ProblemList {
        problems(&self.finish(time), |_seq| {})
    }

    /// Ends the recording at a time of the day, and judges it with all monitor tests.
    pub fn judged(self, time: &str) -> RunReport {
        let exceptions = ExceptionSet::builtin().expect("they come along");
        let options = RunOptions {
            selection: &Selection::default(),
            exceptions: &exceptions,
            now: None,
        };
        run_reel(&self.finish(time), monitor_tests(), &options, |_seq| {})
    }

    fn finish(mut self, time: &str) -> Timeline {
        self.until(time);
        self.script.finish();
        Timeline::open(&self.folder.path().join("test.reel")).expect("a reel")
    }
}

/// Writes a problem as `Kind namespace/name Reason`.
pub fn line(problem: &Problem) -> String {
    format!("{} {}", problem.object.label(), problem.reason)
}

/// Writes the problems of a list.
pub fn lines(list: &ProblemList) -> Vec<String> {
    list.problems.iter().map(line).collect()
}

/// Writes the causes of a problem, as `Kind namespace/name field`.
pub fn causes(problem: &Problem) -> Vec<String> {
    let causes = problem.causes.iter();
    causes
        .map(|cause| format!("{} {}", cause.object.label(), cause.field))
        .collect()
}

/// Makes a condition.
pub fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

/// Makes a Warning Event about an object, said as often.
pub fn warning(
    kind: &str,
    namespace: &str,
    name: &str,
    reason: &str,
    message: &str,
    count: u64,
) -> Value {
    json!({
        "type": "Warning", "reason": reason, "message": message, "count": count,
        "involvedObject": {"kind": kind, "namespace": namespace, "name": name},
    })
}
