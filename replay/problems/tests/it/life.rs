//! A cluster's life in a few versions of objects, and the problems of its recording.

use super::script::{Script, Stream, Thing, thing};
use kubereel_format::{EndCause, EventType, Evidence, OutageClass};
use kubereel_history::{Timeline, timetext};
use kubereel_monitortests::{ExceptionSet, RunOptions, RunReport, Selection, run_reel};
use kubereel_problems::{ClusterStory, Problem, ProblemList, monitor_tests, problems};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tempfile::TempDir;

/// A resource, `cronjobs.batch`, and the kind of its objects.
pub type RecordedResource = (&'static str, &'static str);

pub const PODS: RecordedResource = ("pods", "Pod");
pub const SERVICES: RecordedResource = ("services", "Service");
pub const NODES: RecordedResource = ("nodes", "Node");
pub const EVENTS: RecordedResource = ("events", "Event");
pub const CONFIG_MAPS: RecordedResource = ("configmaps", "ConfigMap");
pub const SECRETS: RecordedResource = ("secrets", "Secret");
pub const NAMESPACES: RecordedResource = ("namespaces", "Namespace");
pub const CLAIMS: RecordedResource = ("persistentvolumeclaims", "PersistentVolumeClaim");
pub const QUOTAS: RecordedResource = ("resourcequotas", "ResourceQuota");
pub const DEPLOYMENTS: RecordedResource = ("deployments.apps", "Deployment");
pub const DAEMON_SETS: RecordedResource = ("daemonsets.apps", "DaemonSet");
pub const STATEFUL_SETS: RecordedResource = ("statefulsets.apps", "StatefulSet");
pub const REPLICA_SETS: RecordedResource = ("replicasets.apps", "ReplicaSet");
pub const JOBS: RecordedResource = ("jobs.batch", "Job");
pub const CRON_JOBS: RecordedResource = ("cronjobs.batch", "CronJob");
pub const LEASES: RecordedResource = ("leases.coordination.k8s.io", "Lease");
pub const SLICES: RecordedResource = ("endpointslices.discovery.k8s.io", "EndpointSlice");
pub const APIS: RecordedResource = ("apiservices.apiregistration.k8s.io", "APIService");
pub const DEFINITIONS: RecordedResource = (
    "customresourcedefinitions.apiextensions.k8s.io",
    "CustomResourceDefinition",
);
pub const VALIDATING_HOOKS: RecordedResource = (
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "ValidatingWebhookConfiguration",
);
pub const MUTATING_HOOKS: RecordedResource = (
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "MutatingWebhookConfiguration",
);
pub const OPERATORS: RecordedResource = ("clusteroperators.config.openshift.io", "ClusterOperator");
pub const VERSIONS: RecordedResource = ("clusterversions.config.openshift.io", "ClusterVersion");

/// A recording in the making. It begins at 14:00:00.
pub struct Life {
    script: Script,
    folder: TempDir,
    rv: u128,
    streams: BTreeMap<RecordedResource, Stream>,
    /// The objects that are there, with their last versions.
    there: BTreeMap<(RecordedResource, String), Vec<u8>>,
}

impl Life {
    /// Begins a recording of resources.
    pub fn of(resources: &[RecordedResource]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let script = Script::begin(&folder.path().join("test.reel"));
        let mut life = Self {
            script,
            folder,
            rv: 10,
            streams: BTreeMap::new(),
            there: BTreeMap::new(),
        };
        for &recorded in resources {
            let resource = life.script.resource(recorded.0, recorded.1, &[]);
            let stream = life.script.connect(resource, None);
            life.script.synced(stream, life.rv);
            life.streams.insert(recorded, stream);
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
    pub fn put(&mut self, resource: RecordedResource, object: &str, body: Value) {
        self.put_as(&uid_of(resource, object), resource, object, body);
    }

    /// Records a version of an object with a uid.
    pub fn put_as(&mut self, uid: &str, resource: RecordedResource, object: &str, body: Value) {
        let stream = self.stream(resource);
        self.rv += 1;
        let bytes = identified(body, resource, object, uid);
        let there = &mut self.there;
        let before = there.insert((resource, object.to_owned()), bytes.clone());
        let what = thing_of(object, uid);
        if before.is_none() {
            self.script.added(stream, what, self.rv, &bytes);
        } else {
            self.script.modified(stream, what, self.rv, &bytes);
        }
    }

    /// Records an object that was there when the recorder first looked.
    pub fn find(&mut self, resource: RecordedResource, object: &str, body: Value) {
        let stream = self.stream(resource);
        let uid = uid_of(resource, object);
        let bytes = identified(body, resource, object, &uid);
        let there = &mut self.there;
        there.insert((resource, object.to_owned()), bytes.clone());
        let what = thing_of(object, &uid);
        self.script.initial(stream, what, self.rv, &bytes);
    }

    /// Records the deletion of an object.
    pub fn delete(&mut self, resource: RecordedResource, object: &str) {
        let stream = self.stream(resource);
        self.rv += 1;
        let last = self.last(resource, object);
        let uid = uid_of(resource, object);
        let what = thing_of(object, &uid);
        self.script.deleted(stream, what, self.rv, &last);
    }

    /// Ends the watch of a resource.
    pub fn lose(&mut self, resource: RecordedResource) {
        let stream = self.stream(resource);
        self.script.disconnect(stream, EndCause::Cut);
    }

    /// Lists a resource again whose watch was lost at a time of the day; an object is another one by then.
    pub fn relist(&mut self, resource: RecordedResource, lost: &str, object: &str, body: Value) {
        self.list(resource, lost, object, Some(body));
    }

    /// Lists a resource again whose watch was lost at a time of the day; an object is gone by then.
    pub fn relist_without(&mut self, resource: RecordedResource, lost: &str, object: &str) {
        self.list(resource, lost, object, None);
    }

    fn list(&mut self, resource: RecordedResource, lost: &str, object: &str, body: Option<Value>) {
        let id = self.stream(resource).resource;
        let before = self.rv;
        self.rv += 10;
        let from = timetext::parsed(&format!("2026-11-21T{lost}Z")).expect("a time");
        let stream = self.script.connect(id, None);
        self.script.gap(id, before, self.rv, from);
        let uid = uid_of(resource, object);
        let (change, evidence, bytes) = if let Some(body) = body {
            let bytes = identified(body, resource, object, &uid);
            (EventType::Modified, Evidence::Listed, bytes)
        } else {
            let bytes = self.last(resource, object);
            (EventType::Deleted, Evidence::Inferred, bytes)
        };
        let (script, what) = (&mut self.script, thing_of(object, &uid));
        script.event(stream, change, evidence, what, self.rv, &bytes);
        script.synced(stream, self.rv);
        self.streams.insert(resource, stream);
    }

    fn stream(&self, resource: RecordedResource) -> Stream {
        let stream = self.streams.get(&resource);
        *stream.expect("a resource of this life")
    }

    /// Takes the last version of an object, which is gone.
    fn last(&mut self, resource: RecordedResource, object: &str) -> Vec<u8> {
        let last = self.there.remove(&(resource, object.to_owned()));
        last.expect("an object that was there")
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

fn uid_of(resource: RecordedResource, object: &str) -> String {
    format!("{} {object}", resource.0)
}

/// Splits `namespace/name`, or the name alone.
fn thing_of<'a>(object: &'a str, uid: &'a str) -> Thing<'a> {
    let (namespace, name) = object.split_once('/').unwrap_or(("", object));
    thing(namespace, name, uid)
}

/// Writes an object with its kind, name, namespace and uid.
fn identified(mut body: Value, resource: RecordedResource, object: &str, uid: &str) -> Vec<u8> {
    let what = thing_of(object, uid);
    body["kind"] = json!(resource.1);
    body["metadata"]["name"] = json!(what.name);
    body["metadata"]["namespace"] = json!(what.namespace);
    body["metadata"]["uid"] = json!(uid);
    body.to_string().into_bytes()
}

/// Writes a problem as `Kind namespace/name Reason`.
pub fn line(problem: &Problem) -> String {
    format!("{} {}", problem.object.label(), problem.reason)
}

/// Returns the first problem of a list.
#[track_caller]
pub fn first(list: &ProblemList) -> &Problem {
    list.problems.first().expect("a problem")
}

/// Returns the problem of an object, `Kind namespace/name`.
#[track_caller]
pub fn problem_of<'a>(list: &'a ProblemList, object: &str) -> &'a Problem {
    let mut all = list.problems.iter();
    let found = all.find(|one| one.object.label() == object);
    found.expect("a problem of the object")
}

/// Returns which problem each problem of a list is a consequence of.
pub fn consequences(list: &ProblemList) -> Vec<Option<usize>> {
    list.problems.iter().map(|one| one.consequence_of).collect()
}

/// Writes the problems of a list.
pub fn lines(list: &ProblemList) -> Vec<String> {
    list.problems.iter().map(line).collect()
}

/// Lists the problems that were not planned.
pub fn unplanned(list: &ProblemList) -> Vec<String> {
    let all = list.problems.iter().filter(|problem| !problem.is_planned);
    all.map(line).collect()
}

/// When a problem of an object ended, or since when and why that is not known.
pub fn end_of(list: &ProblemList, name: &str) -> String {
    let mut all = list.problems.iter();
    let problem = all.find(|one| one.object.name == name);
    let problem = problem.expect("a problem of the object");
    match (problem.to, problem.unknown_end) {
        (Some(to), _) => timetext::rfc3339_secs(to),
        (None, Some(end)) => format!(
            "{} since {}",
            end.as_str(),
            timetext::rfc3339_secs(end.since())
        ),
        (None, None) => "open".to_owned(),
    }
}

/// Writes the causes of a problem, as `Kind namespace/name field`.
pub fn causes(problem: &Problem) -> Vec<String> {
    let causes = problem.causes.iter();
    causes
        .map(|cause| format!("{} {}", cause.object.label(), cause.field))
        .collect()
}

/// Makes a Service that selects the Pods of an app.
pub fn selector(app: &str) -> Value {
    json!({"spec": {"selector": {"app": app}}})
}

/// Makes the owner references of an object that a controller owns.
pub fn owned_by((resource, kind): RecordedResource, owner: &str) -> Value {
    let (_, name) = owner.rsplit_once('/').unwrap_or(("", owner));
    let uid = uid_of((resource, kind), owner);
    json!([{"kind": kind, "name": name, "uid": uid, "controller": true}])
}

/// Makes a condition.
pub fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

/// Makes a Warning Event about an object, `Kind namespace/name`, with its count.
pub fn warning(object: &str, reason: &str, message: &str, count: u64) -> Value {
    let (kind, name) = object.split_once(' ').expect("a kind");
    let (namespace, name) = name.split_once('/').expect("a namespace");
    json!({
        "type": "Warning", "reason": reason, "message": message, "count": count,
        "involvedObject": {"kind": kind, "namespace": namespace, "name": name},
    })
}
