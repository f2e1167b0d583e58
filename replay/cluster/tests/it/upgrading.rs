//! Upgrades in small recordings: what each kind of evidence reports them, and what a gap leaves
//! open.

use super::script::{Script, Stream, thing};
use kubereel_cluster::{
    ClusterHistory, PartKind, RecordMark, Retrieval, SpellKind, SpellLevel, UpdateStatus,
    UpgradeStory,
};
use kubereel_format::{EndCause, EventType, Evidence, RecordedAt, ResourceId};
use kubereel_history::{Moment, Timeline, timetext};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tempfile::TempDir;

const OPERATORS: &str = "openshift-cluster-version";
const OLD: &str = "r@sha256:old";
const NEW: &str = "r@sha256:new";

/// A cluster that is asked to go from 1 to 2.
struct Cluster {
    script: Script,
    folder: TempDir,
    rv: u128,
    versions: (ResourceId, Stream),
    operators: (ResourceId, Stream),
}

impl Cluster {
    fn begin() -> Self {
        let mut cluster = Self::without_operators();
        let body = operator(
            "1",
            &[
                ("Available", "True"),
                ("Degraded", "False"),
                ("Progressing", "False"),
            ],
        );
        let rv = cluster.next();
        let stream = cluster.operators.1;
        cluster
            .script
            .initial(stream, thing("", "etcd", "co"), rv, &bytes(&body));
        cluster.script.synced(stream, rv);
        cluster
    }

    /// Begins with a list of operators that is never complete.
    fn without_operators() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut script = Script::begin(&folder.path().join("test.reel"));
        let mut open = |name: &str, kind: &str| {
            let resource = script.resource(name, kind, &[]);
            (resource, script.connect(resource, None))
        };
        let versions = open("clusterversions.config.openshift.io", "ClusterVersion");
        let operators = open("clusteroperators.config.openshift.io", "ClusterOperator");
        let mut cluster = Self {
            script,
            folder,
            rv: 10,
            versions,
            operators,
        };
        let body = version(None, &[("1", "Completed")], &[]);
        let rv = cluster.next();
        cluster
            .script
            .initial(versions.1, thing("", "version", "cv"), rv, &bytes(&body));
        cluster.script.synced(versions.1, rv);
        cluster
    }

    fn next(&mut self) -> u128 {
        self.script.wait(1000);
        self.rv += 1;
        self.rv
    }

    fn version(&mut self, wanted: Option<&str>, history: &[(&str, &str)], conditions: &[Value]) {
        let rv = self.next();
        let body = version(wanted, history, conditions);
        let stream = self.versions.1;
        self.script
            .modified(stream, thing("", "version", "cv"), rv, &bytes(&body));
    }

    fn operator(&mut self, version: &str, conditions: &[(&str, &str)]) {
        let rv = self.next();
        let body = operator(version, conditions);
        let stream = self.operators.1;
        self.script
            .modified(stream, thing("", "etcd", "co"), rv, &bytes(&body));
    }

    fn open(&mut self, name: &str, kind: &str) -> Stream {
        let resource = self.script.resource(name, kind, &[]);
        let stream = self.script.connect(resource, None);
        let rv = self.next();
        self.script.synced(stream, rv);
        stream
    }

    fn event(&mut self, stream: Stream, name: &str, reason: &str, count: u64, message: &str) {
        self.event_of_type("Normal", stream, name, reason, count, message);
    }

    fn event_of_type(
        &mut self,
        kind: &str,
        stream: Stream,
        name: &str,
        reason: &str,
        count: u64,
        message: &str,
    ) {
        let rv = self.next();
        let body = json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": name, "namespace": OPERATORS},
            "involvedObject": {"kind": "ClusterVersion", "name": "version"},
            "reason": reason, "message": message, "count": count, "type": kind,
        });
        let what = thing(OPERATORS, name, name);
        if count == 1 {
            self.script.added(stream, what, rv, &bytes(&body));
        } else {
            self.script.modified(stream, what, rv, &bytes(&body));
        }
    }

    fn pod(&mut self, stream: Stream, name: &str, kind: EventType, waits: Option<&str>) {
        let rv = self.next();
        let body = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": OPERATORS, "labels": {"k8s-app": "retrieve-openshift-release"}},
            "spec": {"initContainers": [{"image": NEW}, {"image": NEW}]},
            "status": {"phase": "Pending", "initContainerStatuses": waits.map(|reason| json!([
                {"state": {"waiting": {"reason": reason, "message": "manifest unknown"}}},
                {"state": {"waiting": {"reason": "PodInitializing"}}},
            ]))},
        });
        let what = thing(OPERATORS, name, name);
        self.script
            .event(stream, kind, Evidence::Live, what, rv, &bytes(&body));
    }

    /// Ends the recording and reports its last upgrade.
    fn story(self) -> (UpgradeStory, Option<UpdateStatus>) {
        self.script.finish();
        let timeline = Timeline::open(&self.folder.path().join("test.reel")).expect("a reel");
        let cut = timeline.resolve(Moment::End).expect("an end");
        let updates = ClusterHistory::of(&timeline).updates(cut).expect("updates");
        let update = updates.all.last().expect("an update");
        let story = ClusterHistory::of(&timeline).upgrade_story(&updates, update, cut);
        let status = ClusterHistory::of(&timeline)
            .update_status(cut, None)
            .expect("a status");
        (story.expect("a story"), status)
    }
}

fn bytes(body: &Value) -> Vec<u8> {
    body.to_string().into_bytes()
}

fn image(version: &str) -> &str {
    if version == "1" { OLD } else { NEW }
}

fn version(wanted: Option<&str>, history: &[(&str, &str)], conditions: &[Value]) -> Value {
    let entries: Vec<Value> = history
        .iter()
        .map(|(version, state)| {
            json!({
                "version": version, "image": image(version), "state": state,
                "startedTime": format!("2025-11-21T1{version}:00:00Z"),
                "completionTime": (*state == "Completed").then_some("2025-11-21T13:00:00Z"),
            })
        })
        .collect();
    let newest = history.first().map_or("", |(version, _)| version);
    json!({
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
        "metadata": {"name": "version", "uid": "cv", "generation": 1 + u64::from(wanted.is_some())},
        "spec": {"desiredUpdate": wanted.map(|version| json!({"version": version, "image": image(version)}))},
        "status": {
            "desired": {"version": newest, "image": image(newest)},
            "history": entries, "conditions": conditions,
        },
    })
}

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

fn operator(version: &str, conditions: &[(&str, &str)]) -> Value {
    let conditions: Vec<Value> = conditions
        .iter()
        .map(|(kind, status)| condition(kind, status, "", ""))
        .collect();
    json!({
        "apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator",
        "metadata": {"name": "etcd", "annotations": {"include.release.openshift.io/x": "true"}},
        "status": {"versions": [{"name": "operator", "version": version}], "conditions": conditions},
    })
}

const WELL: [(&str, &str); 3] = [
    ("Available", "True"),
    ("Degraded", "False"),
    ("Progressing", "False"),
];

fn refused(reason: &str, failure: &str) -> Value {
    let message =
        format!("Retrieving payload failed version=\"2\" image=\"{NEW}\" failure={failure}");
    condition("ReleaseAccepted", "False", reason, &message)
}

fn steps(attempts: &[Retrieval]) -> Vec<&str> {
    let ends = attempts.iter().map(|attempt| attempt.end.as_ref());
    ends.map(|end| end.map_or("open", |end| end.failed_step.as_str()))
        .collect()
}

#[test]
fn without_events_pods_and_the_condition_tell_of_attempts() {
    let mut cluster = Cluster::begin();
    let pods = cluster.open("pods", "Pod");
    let old = [("1", "Completed")];
    cluster.version(Some("2"), &old, &[]);
    for name in ["version-2-aaaaa", "version-2-bbbbb"] {
        cluster.pod(pods, name, EventType::Added, None);
        cluster.pod(pods, name, EventType::Modified, Some("ErrImagePull"));
        let words = format!("Unable to download: pod {name} failed at pending");
        cluster.version(Some("2"), &old, &[refused("RetrievePayload", &words)]);
        cluster.pod(pods, name, EventType::Deleted, Some("ErrImagePull"));
    }
    let (story, _) = cluster.story();
    let attempts = &story.retrievals.attempts;
    assert_eq!(attempts.len(), 2);
    for (attempt, name) in attempts.iter().zip(["version-2-aaaaa", "version-2-bbbbb"]) {
        let pod = attempt.pod.as_ref().expect("a Pod");
        assert_eq!(pod.name, name);
        assert!(pod.deleted.is_some());
        let expected = Some(("Init:ErrImagePull", "manifest unknown"));
        assert_eq!(attempt.cause(), expected);
        assert!(
            attempt
                .reported
                .as_ref()
                .is_some_and(|report| report.message.contains(name))
        );
    }
    assert!(story.update.accepted.is_none() && story.operators.is_empty());
}

#[test]
fn a_failure_is_not_reported_of_the_attempt_for_another_image() {
    let mut cluster = Cluster::begin();
    let pods = cluster.open("pods", "Pod");
    let old = [("1", "Completed")];
    cluster.version(Some("2"), &old, &[]);
    cluster.pod(pods, "version-2-aaaaa", EventType::Added, None);
    let message =
        "Retrieving payload failed version=\"3\" image=\"r@sha256:9\" failure=manifest unknown";
    let other = condition("ReleaseAccepted", "False", "RetrievePayload", message);
    cluster.version(Some("2"), &old, &[other]);
    let (story, _) = cluster.story();
    let attempts = &story.retrievals.attempts;
    assert_eq!(steps(attempts), ["open", "RetrievePayload"]);
    let reported = attempts.iter().map(|attempt| attempt.reported.is_some());
    assert!(reported.eq([false, true]));
}

#[test]
fn what_the_deletion_of_a_pod_shows_is_not_why_it_was_given_up() {
    let mut cluster = Cluster::begin();
    let pods = cluster.open("pods", "Pod");
    let (old, name) = ([("1", "Completed")], "version-2-aaaaa");
    cluster.version(Some("2"), &old, &[]);
    cluster.pod(pods, name, EventType::Added, None);
    cluster.pod(pods, name, EventType::Modified, Some("ErrImagePull"));
    let rv = cluster.next();
    let body = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": OPERATORS, "deletionTimestamp": "2025-11-21T13:00:00Z",
            "labels": {"k8s-app": "retrieve-openshift-release"}},
        "spec": {"initContainers": [{"image": NEW}]},
        "status": {"phase": "Failed", "initContainerStatuses": [{"state": {"terminated": {
            "exitCode": 137, "reason": "ContainerStatusUnknown", "message": "could not be located",
        }}}]},
    });
    let what = thing(OPERATORS, name, name);
    let script = &mut cluster.script;
    script.event(
        pods,
        EventType::Modified,
        Evidence::Live,
        what,
        rv,
        &bytes(&body),
    );
    let (story, _) = cluster.story();
    let attempt = &story.retrievals.attempts[0];
    let expected = Some(("Init:ErrImagePull", "manifest unknown"));
    assert_eq!(attempt.cause(), expected);
    let end = attempt.end.as_ref().expect("its Pod failed");
    assert_eq!(end.message, "manifest unknown");
}

#[test]
fn the_states_of_a_pod_are_those_of_kubectl() {
    let mut cluster = Cluster::begin();
    let pods = cluster.open("pods", "Pod");
    cluster.version(Some("2"), &[("1", "Completed")], &[]);
    let ended = json!([{"state": {"terminated": {"exitCode": 1}}}]);
    let killed = json!({"phase": "Failed", "reason": "DeadlineExceeded", "message": "too long"});
    for (kind, mut status, is_going) in [
        (EventType::Added, json!({"phase": "Pending"}), false),
        (EventType::Modified, json!({"phase": "Pending"}), true),
        (EventType::Modified, killed, true),
    ] {
        if kind == EventType::Modified {
            status["initContainerStatuses"] = ended.clone();
        }
        let deleted = is_going.then_some("2025-11-21T13:00:00Z");
        let body = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "version-2-aaaaa", "namespace": OPERATORS, "deletionTimestamp": deleted,
                "labels": {"k8s-app": "retrieve-openshift-release"}},
            "spec": {"nodeName": "n", "initContainers": [{"image": NEW}]},
            "status": status,
        });
        let (what, rv) = (thing(OPERATORS, "version-2-aaaaa", "aaaaa"), cluster.next());
        let script = &mut cluster.script;
        script.event(pods, kind, Evidence::Live, what, rv, &bytes(&body));
    }
    let (story, _) = cluster.story();
    let pod = story.retrievals.attempts[0].pod.as_ref().expect("a Pod");
    assert_eq!((pod.image.as_str(), pod.node.as_str()), (NEW, "n"));
    let states = pod.states.iter();
    let states: Vec<_> = states
        .map(|state| (state.word.as_str(), state.message.as_str()))
        .collect();
    let expected = [
        ("Pending", ""),
        ("Terminating", ""),
        ("Init:ExitCode:1", "DeadlineExceeded: too long"),
    ];
    assert_eq!(states, expected);
}

#[test]
fn the_condition_alone_tells_of_a_failure_and_nothing_of_its_begin() {
    let mut cluster = Cluster::begin();
    let old = [("1", "Completed")];
    cluster.version(Some("2"), &old, &[]);
    cluster.version(
        Some("2"),
        &old,
        &[refused("RetrievePayload", "not verified")],
    );
    cluster.version(
        Some("2"),
        &old,
        &[refused("PreconditionChecks", "not upgradeable")],
    );
    let (story, _) = cluster.story();
    let attempts = &story.retrievals.attempts;
    assert_eq!(steps(attempts), ["RetrievePayload", "PreconditionChecks"]);
    assert!(
        attempts
            .iter()
            .all(|attempt| attempt.began.is_none() && attempt.pod.is_none())
    );
    let expected = Some(("PreconditionChecks", "not upgradeable"));
    assert_eq!(attempts[1].cause(), expected);
    let seen: Vec<&str> = story
        .not_seen
        .iter()
        .map(|one| one.resource.as_str())
        .collect();
    assert!(
        seen.contains(&"events") && seen.contains(&"pods"),
        "{seen:?}"
    );
}

#[test]
fn counts_of_events_tell_of_attempts_that_were_not_seen() {
    let mut cluster = Cluster::begin();
    let events = cluster.open("events", "Event");
    let old = [("1", "Completed")];
    let loading =
        |image: &str| format!("Retrieving and verifying payload version=\"\" image=\"{image}\"");
    let failed =
        format!("Retrieving payload failed version=\"\" image=\"{NEW}\" failure=no // nested");
    // The operator that starts is no attempt, before and after.
    cluster.event(events, "own", "RetrievePayload", 1, &loading(OLD));
    cluster.version(Some("2"), &old, &[]);
    cluster.event(events, "own", "RetrievePayload", 2, &loading(OLD));
    cluster.event(events, "new", "RetrievePayload", 1, &loading(NEW));
    cluster.event(events, "failed", "RetrievePayloadFailed", 1, &failed);
    // Four begins later.
    cluster.event(events, "new", "RetrievePayload", 5, &loading(NEW));
    let blocked = format!("preconditions not met version=\"2\" image=\"{NEW}\"");
    cluster.event(events, "load", "LoadPayload", 1, &loading(NEW));
    cluster.event(events, "blocked", "PreconditionBlock", 1, &blocked);
    cluster.event(events, "new", "RetrievePayload", 6, &loading(NEW));
    cluster.version(Some("2"), &[("2", "Partial"), ("1", "Completed")], &[]);
    let (story, _) = cluster.story();
    let expected = ["RetrievePayload", "PreconditionChecks", ""];
    assert_eq!(steps(&story.retrievals.attempts), expected);
    assert_eq!(story.retrievals.counted_only(), 3);
    let expected = Some(("RetrievePayload", "no"));
    assert_eq!(story.retrievals.attempts[0].cause(), expected);
}

#[test]
fn the_warning_of_a_forced_update_is_no_further_attempt() {
    let mut cluster = Cluster::begin();
    let events = cluster.open("events", "Event");
    let pods = cluster.open("pods", "Pod");
    let old = [("1", "Completed")];
    cluster.version(Some("2"), &old, &[]);
    let begins = format!("Retrieving and verifying payload version=\"2\" image=\"{NEW}\"");
    cluster.event(events, "begins", "RetrievePayload", 1, &begins);
    cluster.pod(pods, "version-2-aaaaa", EventType::Added, None);
    cluster.pod(pods, "version-2-aaaaa", EventType::Deleted, None);
    let forced = format!(
        "Target release version=\"2\" image=\"{NEW}\" cannot be verified, but continuing anyway because the update was forced: no signature"
    );
    cluster.event_of_type("Warning", events, "forced", "RetrievePayload", 1, &forced);
    cluster.version(Some("2"), &[("2", "Partial"), ("1", "Completed")], &[]);
    let (story, _) = cluster.story();
    let attempts = &story.retrievals.attempts;
    assert_eq!(steps(attempts), [""]);
    let pod = attempts[0].pod.as_ref().expect("the attempt has its Pod");
    assert!(pod.deleted.is_some());
    let warnings: Vec<&str> = story
        .retrievals
        .warnings
        .iter()
        .map(|warning| warning.message.as_str())
        .collect();
    assert_eq!(warnings, [forced]);
}

#[test]
fn what_lasts_is_counted_to_the_moment_and_a_stall_is_named() {
    let mut cluster = Cluster::begin();
    let running = [("2", "Partial"), ("1", "Completed")];
    let progress = condition(
        "Progressing",
        "True",
        "",
        "Working towards 2: waiting on etcd",
    );
    cluster.version(Some("2"), &[("1", "Completed")], &[]);
    cluster.version(Some("2"), &running, std::slice::from_ref(&progress));
    let moving = [
        ("Available", "True"),
        ("Degraded", "False"),
        ("Progressing", "True"),
    ];
    cluster.operator("1", &moving);
    let ill = [
        ("Available", "False"),
        ("Degraded", "True"),
        ("Progressing", "True"),
    ];
    cluster.operator("1", &ill);
    cluster.script.wait(21 * 60 * 1000);
    cluster.version(Some("2"), &running, &[progress]);
    let (story, status) = cluster.story();
    let spells: Vec<(SpellKind, SpellLevel, Option<RecordMark>)> = story
        .spells
        .iter()
        .map(|spell| (spell.ill, spell.level(story.now), spell.to))
        .collect();
    let expected = [
        (SpellKind::Unavailable, SpellLevel::Error, None),
        (SpellKind::Degraded, SpellLevel::Warning, None),
    ];
    assert_eq!(spells, expected);
    let [etcd] = story.operators.as_slice() else {
        panic!("{:?}", story.operators);
    };
    assert!(etcd.began.is_some() && etcd.moved.is_none());
    assert!(etcd.is_over_budget(story.now));
    assert_eq!(etcd.waited_for.len(), 1);
    let [stall] = story.stalls.as_slice() else {
        panic!("{:?}", story.stalls);
    };
    assert!(stall.to.is_none() && stall.last_message.ends_with("waiting on etcd"));
    assert_eq!(status.expect("a status").operators.unavailable, ["etcd"]);
}

#[test]
fn what_is_older_than_the_recording_is_counted_from_its_own_begin() {
    let levels = |ago_secs: i64| {
        let mut cluster = Cluster::without_operators();
        let (rv, stream) = (cluster.next(), cluster.operators.1);
        let since = cluster.script.now().micros / 1_000_000 - ago_secs;
        let since = timetext::rfc3339(RecordedAt::from_micros(since * 1_000_000));
        let mut body = operator("1", &[("Available", "False"), ("Degraded", "True")]);
        let conditions = body.pointer_mut("/status/conditions");
        for condition in conditions.and_then(Value::as_array_mut).expect("a list") {
            condition["lastTransitionTime"] = json!(since);
        }
        let script = &mut cluster.script;
        script.initial(stream, thing("", "etcd", "co"), rv, &bytes(&body));
        script.synced(stream, rv);
        let running = [("2", "Partial"), ("1", "Completed")];
        cluster.version(Some("2"), &[("1", "Completed")], &[]);
        // It fails at the last moment of the recording.
        let failing = condition("Failing", "True", "Bad", "it fails");
        cluster.version(Some("2"), &running, &[failing]);
        let (story, _) = cluster.story();
        let spells = story.spells.iter();
        let levels = spells.map(|spell| (spell.ill, spell.level(story.now)));
        levels.collect::<Vec<_>>()
    };
    let of = |unavailable, degraded| {
        [
            (SpellKind::Failing, SpellLevel::Warning),
            (SpellKind::Unavailable, unavailable),
            (SpellKind::Degraded, degraded),
        ]
    };
    let sorted = |mut levels: Vec<_>| {
        levels.sort_by_key(|(ill, _)| *ill != SpellKind::Failing);
        levels
    };
    let (silent, warning, error) = (SpellLevel::Silent, SpellLevel::Warning, SpellLevel::Error);
    assert_eq!(sorted(levels(60)), of(silent, silent));
    assert_eq!(sorted(levels(25 * 60)), of(error, warning));
}

#[test]
fn an_operator_that_is_degraded_in_its_first_report_is_so_from_then_on() {
    let mut cluster = Cluster::without_operators();
    let (rv, stream) = (cluster.next(), cluster.operators.1);
    cluster.script.synced(stream, rv);
    let running = [("2", "Partial"), ("1", "Completed")];
    cluster.version(Some("2"), &running, &[]);
    let starting = operator("1", &[("Available", "False"), ("Degraded", "True")]);
    let rv = cluster.next();
    let etcd = thing("", "etcd", "co");
    cluster.script.added(stream, etcd, rv, &bytes(&starting));
    let from = cluster.script.now();
    cluster.operator("1", &WELL);
    let (story, _) = cluster.story();
    // One that is not available yet is starting.
    let spells = story.spells.iter();
    let spells: Vec<_> = spells
        .map(|spell| (spell.ill, spell.from.at, spell.is_older, spell.to.is_some()))
        .collect();
    assert_eq!(spells, [(SpellKind::Degraded, from, false, true)]);
}

#[test]
fn an_operator_that_no_longer_reports_its_conditions_is_unavailable() {
    let spells = |then: &[&[(&str, &str)]]| {
        let mut cluster = Cluster::begin();
        let running = [("2", "Partial"), ("1", "Completed")];
        cluster.version(Some("2"), &[("1", "Completed")], &[]);
        cluster.version(Some("2"), &running, &[]);
        for conditions in then {
            cluster.operator("1", conditions);
        }
        let (story, _) = cluster.story();
        let spells = story.spells.into_iter();
        let spells = spells.map(|spell| {
            let words = spell.texts.last().map(|text| text.message.clone());
            (spell.ill, spell.to.is_some(), spell.texts.len(), words)
        });
        spells.collect::<Vec<_>>()
    };
    let lost = |is_over, texts| {
        let words = Some("Available is no longer reported".to_owned());
        [(SpellKind::Unavailable, is_over, texts, words)]
    };
    assert_eq!(spells(&[&[]]), lost(false, 1));
    assert_eq!(spells(&[&[], &[], &WELL]), lost(true, 1));
    // It is one period with what it reported before.
    let down = [("Available", "False"), ("Degraded", "False")];
    assert_eq!(spells(&[&down, &[]]), lost(false, 2));
}

#[test]
fn what_lasts_is_counted_to_the_last_moment_at_which_it_was_observed() {
    let mut cluster = Cluster::begin();
    let running = [("2", "Partial"), ("1", "Completed")];
    cluster.version(Some("2"), &[("1", "Completed")], &[]);
    cluster.version(Some("2"), &running, &[]);
    cluster.operator("1", &[("Available", "False"), ("Progressing", "True")]);
    cluster.script.wait(2000);
    let lost = cluster.script.now();
    cluster
        .script
        .disconnect(cluster.operators.1, EndCause::Expired);
    cluster.script.wait(30 * 60 * 1000);
    cluster.version(Some("2"), &running, &[]);
    let (story, _) = cluster.story();
    let until = story.until("clusteroperators", "etcd");
    assert!(until <= lost && until < story.now, "{until:?} {lost:?}");
    assert!(story.is_unknown("clusteroperators", "etcd"));
    assert!(!story.is_unknown("clusterversions", "version"));
    let levels: Vec<SpellLevel> = story
        .spells
        .iter()
        .map(|spell| spell.level(until))
        .collect();
    assert_eq!(levels, [SpellLevel::Silent]);
    let parts: Vec<_> = story.slowest.iter().map(|part| part.micros).collect();
    assert!(parts.iter().all(|part| *part <= 3_000_000), "{parts:?}");
}

#[test]
fn operators_that_were_never_observed_do_not_stall() {
    let mut cluster = Cluster::without_operators();
    let running = [("2", "Partial"), ("1", "Completed")];
    cluster.version(Some("2"), &[("1", "Completed")], &[]);
    cluster.version(Some("2"), &running, &[]);
    cluster.script.wait(21 * 60 * 1000);
    cluster.version(Some("2"), &[("2", "Completed"), ("1", "Completed")], &[]);
    let (story, _) = cluster.story();
    assert_eq!(story.stalls, []);
}

#[test]
fn a_gap_is_named_and_what_lasted_across_it_is_marked() {
    let mut cluster = Cluster::begin();
    let running = [("2", "Partial"), ("1", "Completed")];
    cluster.version(Some("2"), &running, &[]);
    cluster.operator("1", &[("Available", "False"), ("Progressing", "True")]);
    let (operators, stream) = cluster.operators;
    let (from, rv) = (cluster.script.now(), cluster.rv);
    cluster.script.disconnect(stream, EndCause::Expired);
    cluster.script.wait(5000);
    let stream = cluster.script.connect(operators, None);
    cluster.script.gap(operators, rv, rv + 10, from);
    cluster.rv += 10;
    let body = bytes(&operator("2", &WELL));
    let what = thing("", "etcd", "co");
    let listed = cluster.rv;
    cluster.script.event(
        stream,
        EventType::Modified,
        Evidence::Listed,
        what,
        listed,
        &body,
    );
    cluster.script.synced(stream, listed);
    cluster.version(Some("2"), &[("2", "Completed"), ("1", "Completed")], &[]);
    let (story, _) = cluster.story();
    assert!(story.update.is_completed());
    let gaps: Vec<&str> = story
        .not_seen
        .iter()
        .filter(|one| one.unseen.is_some())
        .map(|one| one.resource.as_str())
        .collect();
    assert_eq!(gaps, ["clusteroperators.config.openshift.io"]);
    let marked: Vec<bool> = story.spells.iter().map(|spell| spell.has_gap).collect();
    assert_eq!(marked, [true]);
    // A request and its acceptance that came at once are both told.
    assert_eq!(story.update.requests.len(), 1);
    assert_eq!(story.update.accepted, story.update.asked());
}

#[test]
fn an_upgrade_that_ran_before_the_recording_is_told_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("test.reel");
    let mut script = Script::begin(&path);
    let resource = script.resource("clusterversions.config.openshift.io", "ClusterVersion", &[]);
    let stream = script.connect(resource, None);
    let body = version(Some("2"), &[("2", "Partial"), ("1", "Partial")], &[]);
    script.initial(stream, thing("", "version", "cv"), 5, &bytes(&body));
    script.synced(stream, 6);
    let stream = script.watched(
        "clusteroperators.config.openshift.io",
        "ClusterOperator",
        &[],
    );
    let moved = operator("2", &[("Available", "True"), ("Progressing", "False")]);
    script.initial(stream, thing("", "etcd", "co-1"), 7, &bytes(&moved));
    let waits = operator("1", &[("Available", "True"), ("Progressing", "False")]);
    script.initial(stream, thing("", "dns", "co-2"), 8, &bytes(&waits));
    script.initial(stream, thing("", "console", "co-3"), 8, &bytes(&waits));
    script.synced(stream, 8);
    script.wait(1000);
    let moved = operator("2", &[("Available", "True"), ("Progressing", "False")]);
    script.modified(stream, thing("", "dns", "co-2"), 9, &bytes(&moved));
    script.wait(1000);
    script.finish();
    let timeline = Timeline::open(&path).expect("a reel");
    let cut = timeline.resolve(Moment::End).expect("an end");
    let updates = ClusterHistory::of(&timeline).updates(cut).expect("updates");
    let [update] = updates.all.as_slice() else {
        panic!("{:?}", updates.all);
    };
    let story = ClusterHistory::of(&timeline).upgrade_story(&updates, update, cut);
    let story = story.expect("a story");
    let operators = story.operators.iter();
    let told: Vec<_> = operators
        .map(|one| {
            (
                &*one.name,
                &*one.from_version,
                one.was_there,
                one.moved.is_some(),
            )
        })
        .collect();
    // The recording saw one of them move; when another did is not known.
    let expected = [
        ("dns", "1", false, true),
        ("console", "1", false, false),
        ("etcd", "2", true, false),
    ];
    assert_eq!(told, expected);
    assert!(update.is_older && update.is_from_partial);
    assert!(update.accepted.is_none() && update.requests.is_empty() && update.end.is_none());
    assert!(update.started.is_some());
    let status = ClusterHistory::of(&timeline)
        .update_status(cut, None)
        .expect("read");
    let status = status.expect("a status");
    assert!(
        status
            .insights
            .iter()
            .any(|one| one.summary.contains("never completed"))
    );
}

/// A node with its configurations, and whether it is ready; `other` adds to its annotations.
fn node(current: &str, wanted: &str, is_ready: bool, other: &[(&str, &str)]) -> Value {
    let configs = [("currentConfig", current), ("desiredConfig", wanted)];
    let annotations: BTreeMap<String, &str> = configs
        .iter()
        .chain(other)
        .map(|(name, value)| (format!("machineconfiguration.openshift.io/{name}"), *value))
        .collect();
    let is_draining = other.iter().any(|(name, _)| *name == "desiredDrain");
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "w1", "annotations": annotations},
        "spec": {"unschedulable": is_draining},
        "status": {"conditions": [condition("Ready", if is_ready { "True" } else { "False" }, "", "")]},
    })
}

fn pool(is_updated: bool) -> Value {
    let (updated, degraded) = if is_updated {
        ("True", "False")
    } else {
        ("False", "True")
    };
    json!({
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
        "metadata": {"name": "inf"},
        "spec": {"paused": !is_updated},
        "status": {"machineCount": 1, "conditions": [
            condition("Updated", updated, "", ""),
            condition("Degraded", degraded, "", ""),
        ]},
    })
}

const DRAINING: [(&str, &str); 3] = [
    ("state", "Working"),
    ("desiredDrain", "drain-b"),
    ("lastAppliedDrain", "uncordon-a"),
];
const REBOOTING: [(&str, &str); 3] = [
    ("state", "Rebooting"),
    ("desiredDrain", "drain-b"),
    ("lastAppliedDrain", "drain-b"),
];

/// An upgrade in whose course a node and a pool are gone, or replaced, before they are updated.
/// Returns the story with the records that end their updates.
fn with_lost_node(
    phase: &[(&str, &str)],
    is_deleted: bool,
) -> (UpgradeStory, (kubereel_format::Seq, kubereel_format::Seq)) {
    let mut cluster = Cluster::begin();
    let old = ("1", "Completed");
    let nodes = cluster.open("nodes", "Node");
    let pools = cluster.open(
        "machineconfigpools.machineconfiguration.openshift.io",
        "MachineConfigPool",
    );
    let (first, second) = (thing("", "w1", "node-1"), thing("", "w1", "node-2"));
    let (pool_1, pool_2) = (thing("", "inf", "pool-1"), thing("", "inf", "pool-2"));
    let rv = cluster.next();
    let body = bytes(&node("a", "a", true, &[("state", "Done")]));
    cluster.script.added(nodes, first, rv, &body);
    let rv = cluster.next();
    cluster.script.added(pools, pool_1, rv, &bytes(&pool(true)));
    cluster.version(Some("2"), &[("2", "Partial"), old], &[]);
    let rv = cluster.next();
    cluster
        .script
        .modified(pools, pool_1, rv, &bytes(&pool(false)));
    let lost = bytes(&node("a", "b", false, phase));
    let rv = cluster.next();
    cluster.script.modified(nodes, first, rv, &lost);
    let (rv, again) = (cluster.next(), cluster.rv + 1);
    let back = bytes(&node("b", "b", true, &[("state", "Done")]));
    let ends = if is_deleted {
        let gone = cluster.script.deleted(nodes, first, rv, &lost);
        cluster.script.added(nodes, second, again, &back);
        let rv = cluster.next() + 1;
        let pool_gone = cluster
            .script
            .deleted(pools, pool_1, rv, &bytes(&pool(false)));
        (gone, pool_gone)
    } else {
        let gone = cluster.script.modified(nodes, second, rv, &back);
        let rv = cluster.next() + 1;
        let pool_gone = cluster
            .script
            .modified(pools, pool_2, rv, &bytes(&pool(true)));
        (gone, pool_gone)
    };
    cluster.rv += 2;
    cluster.version(Some("2"), &[("2", "Completed"), old], &[]);
    cluster.script.wait(1000);
    (cluster.story().0, ends)
}

#[test]
fn the_update_of_a_node_or_pool_that_is_deleted_or_replaced_is_over() {
    for (phase, is_deleted) in [(DRAINING, true), (DRAINING, false), (REBOOTING, true)] {
        let (story, (node_end, pool_end)) = with_lost_node(&phase, is_deleted);
        let [node] = story.nodes.as_slice() else {
            panic!("{:?}", story.nodes);
        };
        assert_eq!(node.deleted.map(|mark| mark.seq), Some(node_end));
        assert_eq!(node.over(), node.deleted);
        assert!(node.done.is_none() && node.ready.is_none());
        let [away] = node.not_ready.as_slice() else {
            panic!("{:?}", node.not_ready);
        };
        let begun = node.drain.into_iter().chain(node.reboot);
        for span in begun.chain([*away]) {
            assert_eq!(span.to.map(|to| to.seq), Some(node_end));
        }
        assert_eq!(node.reboot.is_some(), phase == REBOOTING);
        let [pool] = story.pools.as_slice() else {
            panic!("{:?}", story.pools);
        };
        assert_eq!(pool.deleted.map(|mark| mark.seq), Some(pool_end));
        assert!(pool.done.is_none());
        for span in pool.paused.iter().chain(&pool.degraded) {
            assert_eq!(span.to.map(|to| to.seq), Some(pool_end));
        }
        // The control plane was last: nothing is waited for.
        assert_eq!(story.over, story.update.end.map(|end| end.mark));
        assert!(story.spells.is_empty(), "{:?}", story.spells);
        let joins: Vec<bool> = story
            .joins
            .iter()
            .map(|join| join.ready.is_some())
            .collect();
        assert_eq!(joins, [true], "the successor joined");
        let reboots = story
            .slowest
            .iter()
            .filter(|part| part.what == PartKind::Reboot);
        assert_eq!(reboots.count(), 0, "it never came back");
    }
}
