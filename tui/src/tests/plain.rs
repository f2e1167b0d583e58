//! Lanes of a plain Kubernetes cluster: Services, custom resources, the API server, tests, and what unfolds below a
//! lane.

use super::script::{Script, thing};
use super::stage::{Stage, request};
use crate::findings::{FindingVerdict, Findings, JudgingState, ReportedFinding};
use crate::lane::{Lane, LaneGroup, LaneState, LaneSubject};
use crate::model::{List, OpenReel};
use crate::msg::Msg;
use crate::problem::{ProblemKind, problems};
use crate::time::CursorPlace;
use insta::assert_snapshot;
use kubereel_format::{Note, OutageClass, RecordedAt};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn body(kind: &str, name: &str, uid: &str, rv: u128, mut rest: Value) -> Vec<u8> {
    rest["kind"] = json!(kind);
    for (member, value) in [("name", name), ("namespace", "shop"), ("uid", uid)] {
        rest["metadata"][member] = json!(value);
    }
    rest["metadata"]["resourceVersion"] = json!(rv.to_string());
    rest.to_string().into_bytes()
}

fn owner(kind: &str, name: &str, uid: &str) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": true}])
}

fn deployment(available: u32, rv: u128) -> Vec<u8> {
    let available_status = if available > 0 { "True" } else { "False" };
    let rest = json!({"spec": {"replicas": 1}, "status": {"availableReplicas": available, "updatedReplicas": 1,
        "conditions": [{"type": "Available", "status": available_status, "reason": "Minimum"}]}});
    body("Deployment", "web", "d", rv, rest)
}

fn pod(is_ready: bool, state: &Value, rv: u128) -> Vec<u8> {
    let ready = if is_ready { "True" } else { "False" };
    let rest = json!({"metadata": {"ownerReferences": owner("ReplicaSet", "web-1", "r")},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}],
        "containerStatuses": [{"name": "app", "ready": is_ready, "restartCount": 0, "state": state}]}});
    body("Pod", "web-1-abc", "p", rv, rest)
}

fn slice(is_ready: bool, rv: u128) -> Vec<u8> {
    let rest = json!({"metadata": {"labels": {"kubernetes.io/service-name": "web"}},
        "endpoints": [{"conditions": {"ready": is_ready}, "targetRef": {"uid": "p"}}]});
    body("EndpointSlice", "web-x", "e", rv, rest)
}

fn widget(status: &str, rv: u128) -> Vec<u8> {
    let rest = json!({"status": {"conditions": [{"type": "Ready", "status": status, "reason": "Upgrade"}]}});
    body("Widget", "big", "w", rv, rest)
}

/// Writes a reel of a shop whose container ends, with an outage of the API server.
fn shop(folder: &Path) -> PathBuf {
    let path = folder.join("shop.reel");
    let mut script = Script::begin(&path);
    let names = [
        ("deployments.apps", "Deployment"),
        ("replicasets.apps", "ReplicaSet"),
        ("pods", "Pod"),
        ("services", "Service"),
        ("endpointslices.discovery.k8s.io", "EndpointSlice"),
        ("widgets.example.com", "Widget"),
    ];
    let streams = names.map(|(resource, kind)| {
        let resource = script.resource(resource, kind, &[]);
        script.connect(resource, None)
    });
    let [deployments, sets, pods, services, slices, widgets] = streams;
    let [web, set, one, service, ends, big] = [
        ("web", "d"),
        ("web-1", "r"),
        ("web-1-abc", "p"),
        ("web", "s"),
        ("web-x", "e"),
        ("big", "w"),
    ]
    .map(|(name, uid)| thing("shop", name, uid));
    let running = json!({"running": {}});
    let owned = json!({"metadata": {"ownerReferences": owner("Deployment", "web", "d")}});
    script.initial(deployments, web, 1, &deployment(1, 1));
    script.initial(sets, set, 2, &body("ReplicaSet", "web-1", "r", 2, owned));
    script.initial(pods, one, 3, &pod(true, &running, 3));
    let selecting = json!({"spec": {"selector": {"app": "web"}}});
    script.initial(
        services,
        service,
        4,
        &body("Service", "web", "s", 4, selecting),
    );
    script.initial(slices, ends, 5, &slice(true, 5));
    script.initial(widgets, big, 6, &widget("True", 6));
    for stream in streams {
        script.synced(stream, 6);
    }
    script.wait(60_000);
    let ended = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}});
    script.modified(pods, one, 7, &pod(false, &ended, 7));
    script.modified(slices, ends, 8, &slice(false, 8));
    script.modified(deployments, web, 9, &deployment(0, 9));
    script.modified(widgets, big, 10, &widget("False", 10));
    script.wait(60_000);
    let endpoint = "https://127.0.0.1:6443".to_owned();
    script.note(Note::OutageBegan {
        endpoint: endpoint.clone(),
        class: OutageClass::Connect,
        error: "connection refused".to_owned(),
        since_micros: 0,
    });
    script.wait(20_000);
    script.note(Note::OutageEnded {
        endpoint,
        failed: 3,
    });
    script.wait(60_000);
    script.modified(pods, one, 11, &pod(true, &running, 11));
    script.modified(slices, ends, 12, &slice(true, 12));
    script.modified(deployments, web, 13, &deployment(1, 13));
    script.modified(widgets, big, 14, &widget("True", 14));
    script.wait(40_000);
    script.finish();
    path
}

fn open(stage: &Stage) -> &OpenReel {
    stage.model.open().expect("open")
}

fn lane(stage: &Stage, group: LaneGroup) -> &Lane {
    let board = open(stage).board().expect("a board");
    let mut lanes = board.lanes.iter();
    lanes.find(|lane| lane.group == group).expect("a lane")
}

fn told(stage: &Stage, group: LaneGroup) -> Vec<(LaneState, String)> {
    let spells = lane(stage, group).spells.iter();
    spells
        .map(|spell| (spell.state, spell.word.to_string()))
        .collect()
}

#[test]
fn a_plain_cluster_has_lanes_for_what_it_has() {
    use LaneState::{Bad, Down, Good};
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::open(request(&shop(folder.path())), (80, 24));
    let good = || (Good, String::new());
    let none = (Down, "none of its 1 Pods is ready".to_owned());
    assert_eq!(told(&stage, LaneGroup::Services), [good(), none, good()]);
    let bad = (Bad, "Ready=False Upgrade".to_owned());
    assert_eq!(told(&stage, LaneGroup::Customs), [good(), bad, good()]);
    let refused = (Down, "connection refused".to_owned());
    assert_eq!(told(&stage, LaneGroup::Server), [good(), refused, good()]);
    assert_snapshot!("lanes_narrow", stage.screen());
}

#[test]
fn what_is_selected_by_name_opens_where_it_has_a_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = shop(folder.path());
    for (select, has_lane) in [
        ("services/web", true),
        ("deployments.apps/web", true),
        ("widgets.example.com/big", true),
        ("widgets.example.com/none", false),
        ("endpointslices/web-x", false),
    ] {
        let mut asked = request(&path);
        asked.select = Some(select.to_owned());
        asked.namespace = "shop".to_owned();
        let stage = Stage::open(asked, (80, 24));
        assert_eq!(open(&stage).list == List::Lanes, has_lane, "{select}");
    }
}

#[test]
fn a_workload_unfolds_to_its_pods_and_a_pod_to_its_containers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = shop(folder.path());
    let mut stage = Stage::open(request(&path), (120, 40));
    stage.keys(":deployment web<Enter>X");
    let unfolded = stage.screen();
    assert!(unfolded.contains("└ Available"), "{unfolded}");
    assert!(unfolded.contains("└ web-1-abc"), "{unfolded}");
    stage.keys("<Down><Down>X");
    let containers = stage.screen();
    assert!(containers.contains("└ container app"), "{containers}");
    // A Pod stands once.
    let is_lane = |line: &&str| line.contains("web-1-abc ") && line.contains("━━");
    let rows = containers.lines().filter(is_lane);
    assert_eq!(rows.count(), 1, "{containers}");
    stage.keys("<Down><Down>t");
    let lane = open(&stage).chosen_lane().expect("a lane");
    let seen = lane.at(open(&stage).place);
    assert_eq!(seen, (LaneState::Down, "OOMKilled exit 137"));
    assert_snapshot!("unfolded_wide", stage.screen());
    stage.keys("<Up><Up>X<Up><Up>X");
    assert!(!stage.screen().contains("└"), "{}", stage.screen());
}

#[test]
fn a_problem_of_the_api_server_chooses_its_lane() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&shop(folder.path())), (120, 40));
    stage.keys("g:deployment web<Enter>");
    let selected = open(&stage).selected.clone();
    let is_outage = |stage: &Stage| {
        let told = open(stage).told();
        told.is_some_and(|told| told.kind == ProblemKind::Outage)
    };
    for _ in 0..10 {
        if !is_outage(&stage) {
            stage.keys("n");
        }
    }
    assert!(is_outage(&stage), "{}", stage.screen());
    let lane = open(&stage).chosen_plain().expect("a lane");
    assert_eq!(lane.subject, LaneSubject::Server);
    let screen = stage.screen();
    assert!(screen.contains("API server · problem "), "{screen}");
    assert!(screen.contains("connection refused"), "{screen}");
    // Moving in time loses no selection.
    assert!(open(&stage).selected.is_some() && selected.is_some());
}

#[test]
fn what_has_no_parts_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&shop(folder.path())), (120, 40));
    stage.keys(":services web<Enter>X");
    let screen = stage.screen();
    assert!(
        screen.contains("has no conditions or containers"),
        "{screen}"
    );
}

#[test]
fn a_test_has_a_lane_and_leads_to_what_it_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(request(&shop(folder.path())), (120, 40));
    let start = open(&stage).timeline.start();
    let at = |secs: i64| RecordedAt::from_micros(start.micros + secs * 1_000_000);
    let found = |rule: &str, verdict, from: i64, to: i64| ReportedFinding {
        rule: rule.into(),
        test: format!("[sig-node] {rule}").into(),
        verdict,
        from: at(from),
        to: Some(at(to)),
        reason: "Why".to_owned(),
        message: [format!("{rule} was so")].into(),
        resource: "widgets.example.com".to_owned(),
        namespace: "shop".to_owned(),
        name: "big".to_owned(),
        seq: None,
    };
    let all = vec![
        found("first", FindingVerdict::Fail, 60, 90),
        found("first", FindingVerdict::Flake, 70, 120),
        found("second", FindingVerdict::Flake, 200, 200),
    ];
    let findings = Arc::new(Findings {
        all,
        ..Findings::default()
    });
    let timeline = Arc::clone(&open(&stage).timeline);
    let board = open(&stage).board().cloned();
    let listed = problems(&timeline, board.as_deref(), Some(&findings));
    stage.say(Msg::Judging(JudgingState::Done(findings)));
    stage.say(Msg::Listed(Arc::new(listed)));
    let rules = &open(&stage)
        .trouble
        .problems
        .as_ref()
        .expect("listed")
        .rules;
    let first = rules.iter().find(|lane| lane.subject.name() == "first");
    let states = first
        .expect("a lane")
        .spells
        .iter()
        .map(|spell| spell.state);
    let expected = [
        LaneState::Good,
        LaneState::Bad,
        LaneState::Changing,
        LaneState::Good,
    ];
    assert_eq!(states.collect::<Vec<_>>(), expected);
    // Its head is the ninth row.
    stage.keys(&"<Up>".repeat(20));
    stage.keys(&"<Down>".repeat(8));
    stage.keys("<Enter><Down>");
    let screen = stage.screen();
    assert!(screen.contains("test first"), "{screen}");
    assert!(screen.contains("first was so"), "{screen}");
    stage.keys("<Enter>");
    assert_eq!(open(&stage).list, List::Lanes);
    assert_eq!(open(&stage).place.at, at(60));
}

#[test]
fn of_too_many_objects_those_with_problems_have_lanes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.reel");
    let mut script = Script::begin(&path);
    let jobs = script.watched("jobs.batch", "Job", &[]);
    let job = |name: &str, failed: &str, rv: u128| {
        let condition =
            json!([{"type": "Failed", "status": failed, "reason": "BackoffLimitExceeded"}]);
        let rest =
            json!({"spec": {"completions": 1}, "status": {"active": 1, "conditions": condition}});
        body("Job", name, name, rv, rest)
    };
    let mut rv = 0;
    for number in 0..2_001 {
        rv += 1;
        let name = format!("load-{number}");
        script.initial(
            jobs,
            thing("shop", &name, &name),
            rv,
            &job(&name, "False", rv),
        );
    }
    script.synced(jobs, rv);
    script.wait(60_000);
    rv += 1;
    let name = "load-7";
    script.modified(jobs, thing("shop", name, name), rv, &job(name, "True", rv));
    script.wait(60_000);
    script.finish();
    let stage = Stage::open(request(&path), (120, 40));
    let board = open(&stage).board().expect("a board");
    let lanes = board
        .lanes
        .iter()
        .filter(|lane| lane.group == LaneGroup::Workloads);
    let mut names: Vec<&str> = lanes.map(|lane| lane.subject.name()).collect();
    names.dedup();
    assert_eq!(names, [name]);
    let timeline = &open(&stage).timeline;
    let end = CursorPlace::at(timeline, timeline.end());
    let lane = lane(&stage, LaneGroup::Workloads);
    assert_eq!(lane.at(end).0, LaneState::Bad);
    assert!(
        stage.screen().contains("jobs: too many for a lane each"),
        "{}",
        stage.screen()
    );
}

#[test]
fn a_recording_without_resources_is_not_called_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("unreached.reel");
    let mut script = Script::begin(&path);
    script.wait(60_000);
    script.outage("https://api.example:6443", OutageClass::Connect, 30_000);
    script.finish();
    let stage = Stage::open(request(&path), (100, 24));
    let screen = stage.screen();
    assert!(screen.contains("nothing was observed"), "{screen}");
    assert!(!screen.contains("complete"), "{screen}");
}

#[test]
fn the_api_server_is_unknown_while_no_recorder_ran() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("resumed.reel");
    let mut script = Script::begin(&path);
    let stream = script.watched("pods", "Pod", &[]);
    script.synced(stream, 1);
    let killed = script.now();
    script.wait(60_000);
    let mut script = script.resume(&path);
    let back = script.now();
    script.wait(60_000);
    script.finish();
    let stage = Stage::open(request(&path), (100, 24));
    let server = lane(&stage, LaneGroup::Server);
    let cell = |from: RecordedAt| {
        let to = RecordedAt::from_micros(from.micros + 1_000_000);
        server.cell(&(from..to)).state
    };
    assert_eq!(cell(killed), LaneState::Unknown);
    assert_eq!(cell(back), LaneState::Good);
}
