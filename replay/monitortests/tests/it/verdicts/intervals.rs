//! Intervals gathered from reels and computed of them, line by line: what upstream would have made, and
//! what the reel knows more.

use crate::verdicts::reel::{Reel, time};
use kubereel_history::timetext;
use kubereel_monitortests::{GatheredIntervals, Gathering, Interval, Mode, Phase, feed};
use serde_json::{Value, json};

fn gathered(reel: Reel, mode: Mode) -> GatheredIntervals {
    let written = reel.written();
    let mut gathering = Gathering::new(&written.timeline, mode);
    let fed = feed(&written.timeline, &mut gathering.watchers(), |_| {});
    assert!(fed.unread.is_empty(), "{:?}", fed.unread);
    gathering.finish(&written.timeline)
}

/// Writes an interval on a line: from, to, level, locator, message; no uids.
fn line(one: &Interval) -> String {
    let clock = |at| {
        let text = timetext::time_of_day(at);
        text.trim_end_matches('Z')
            .trim_end_matches(".000")
            .to_owned()
    };
    let to = match one.to {
        None => " - ".to_owned(),
        Some(_) if one.is_instant() => String::new(),
        Some(to) => format!(" - {}", clock(to)),
    };
    let keys = one.locator.keys.iter();
    let keys = keys.filter(|(key, _)| key.as_ref() != "uid");
    let keys: Vec<String> = keys.map(|(key, value)| format!("{key}/{value}")).collect();
    let level = one.level.as_str().chars().next().expect("a letter");
    format!(
        "{}{to} {level} {} {}",
        clock(one.from),
        keys.join(" "),
        one.message
    )
}

fn told(reel: Reel, mode: Mode, source: &str) -> Vec<String> {
    let gathered = gathered(reel, mode);
    gathered.intervals.of(source).map(line).collect()
}

#[test]
fn an_operator_that_was_bad_before_the_run() {
    let reel = || {
        Reel::new()
            .operator("dns", &[("Degraded", "True", "Broken")])
            .at("10:05:00.500")
            .operator("dns", &[("Degraded", "False", "AsExpected")])
            .at("10:10:00.500")
            .operator("dns", &[("Available", "Unknown", "NoData")])
            .at("10:11:00")
            .operator("dns", &[("Available", "False", "Down")])
            .until("10:20:00")
    };
    let dns = "clusteroperator/dns condition";
    let expected = [
        format!("10:00:00 - 10:05:00.500 E {dns}/Degraded reason/Unknown status/True Unknown"),
        // Upstream keeps what a spell said first, and closes what is open at the end.
        format!(
            "10:10:00.500 - 10:20:00 E {dns}/Available reason/NoData status/Unknown NoData of dns"
        ),
    ];
    assert_eq!(told(reel(), Mode::Upstream, "OperatorState"), expected);
    let expected = [
        format!("10:00:00 - 10:05:00.500 E {dns}/Degraded reason/Broken status/True Broken of dns"),
        format!(
            "10:10:00.500 - 10:11:00 E {dns}/Available reason/NoData status/Unknown NoData of dns"
        ),
        format!("10:11:00 -  E {dns}/Available reason/Down status/False Down of dns"),
    ];
    assert_eq!(told(reel(), Mode::Exact, "OperatorState"), expected);
}

#[test]
fn the_version_waits_for_operators() {
    let waiting =
        |of: &str| format!("Working towards 5.1.0: 5 of 9 done (55% complete), waiting on {of}");
    let reel = || {
        Reel::new()
            .installed("5.0.9")
            .at("10:04:30")
            .change(
                "ClusterVersion",
                "version",
                json!({"spec": {"desiredUpdate": {"version": "5.1.0"}}}),
            )
            .at("10:05:00.250")
            .upgrade_begins("5.1.0")
            .at("10:06:00")
            .version_says(
                "Progressing",
                "True",
                "ClusterOperatorUpdating",
                &waiting("etcd"),
            )
            .at("10:07:00")
            .version_says(
                "Progressing",
                "True",
                "ClusterOperatorUpdating",
                &waiting("dns"),
            )
            .at("10:08:00")
            .upgrade_ends()
            .until("10:20:00")
    };
    // Of texts that change without the status upstream sees nothing.
    assert_eq!(told(reel(), Mode::Upstream, "VersionState"), [""; 0]);
    let states = told(reel(), Mode::Exact, "VersionState");
    assert_eq!(states.len(), 2, "{states:#?}");
    assert!(states[0].starts_with("10:06:00 - 10:07:00 W clusterversion/version"));
    assert!(states[0].contains("stayed in Progressing=True: ClusterOperatorUpdating: Working"));
    assert!(states[1].ends_with("waiting on dns"), "{states:#?}");
    let gathered = gathered(reel(), Mode::Upstream);
    let phases: Vec<String> = gathered.intervals.of("ClusterPhase").map(line).collect();
    assert_eq!(
        phases.len(),
        1,
        "an installation of yesterday is not of the run: {phases:#?}"
    );
    assert!(
        phases[0].starts_with("10:05:00.250 - 10:08:00 I"),
        "{phases:#?}"
    );
    // The story of the cluster begins an upgrade with its request.
    assert_eq!(
        told(reel(), Mode::Exact, "ClusterPhase"),
        [
            "10:04:30 - 10:08:00 I clusterversion/version from/5.0.9 reason/Upgrade to/5.1.0 upgrade from 5.0.9 to 5.1.0"
        ]
    );
    let phase = |at: &str| gathered.facts.phase(time(at));
    assert_eq!(phase("10:05:00"), Some(Phase::Stable));
    assert_eq!(phase("10:05:00.250"), Some(Phase::Upgrade));
    assert_eq!(phase("10:08:00"), Some(Phase::Stable));
    let facts = gathered.facts.at(time("10:06:00"));
    assert_eq!(facts.version.as_deref(), Some("5.1.0"));
    assert_eq!(facts.from_version.as_deref(), Some("5.0.9"));
}

#[test]
fn facts_are_what_the_objects_say() {
    let facts = gathered(Reel::cluster(), Mode::Upstream).facts;
    let last = facts.last();
    assert_eq!(last.topology.as_deref(), Some("HighlyAvailable"));
    assert_eq!(last.platform.as_deref(), Some("aws"));
    assert_eq!(last.network.as_deref(), Some("ovn"));
    assert_eq!(last.ip_stack.as_deref(), Some("IPv4"));
    assert_eq!(last.architecture.as_deref(), Some("amd64"));
    assert_eq!((last.masters, last.workers), (Some(3), Some(2)));
    let unknown = gathered(Reel::new().pod("shop/web"), Mode::Upstream).facts;
    assert_eq!(unknown.last().topology, None);
    let start = time("10:00:00");
    assert_eq!(unknown.phase(start), Some(Phase::Stable));
    let unknown = gathered(Reel::cluster().without("ClusterVersion"), Mode::Upstream).facts;
    assert_eq!(unknown.phase(start), None);
    let why = unknown.unknown_phase(start).expect("a reason");
    assert!(
        why.starts_with("clusterversions.config.openshift.io was not recorded"),
        "{why}"
    );
}

#[test]
fn a_node_is_updated_drained_and_rebooted() {
    let said = |reel: Reel, reason: &str| reel.event("Node", "worker-0", reason, "words");
    let reel = Reel::new().node("worker-0", "worker").at("10:01:00");
    let reel = reel.node_config("worker-0", "desiredConfig", "rendered-worker-2");
    let reel = said(reel.at("10:02:00"), "Drain");
    let reel = said(reel.at("10:03:00"), "OSUpdateStarted");
    let reel = said(reel.at("10:04:00"), "Reboot").at("10:04:30");
    let reel = reel.node_ready("worker-0", false).at("10:05:00");
    let reel = said(reel.node_ready("worker-0", true), "Starting").at("10:06:00");
    let reel = reel.node_config("worker-0", "currentConfig", "rendered-worker-2");
    let reel = said(reel.at("10:07:00"), "Cordon").until("10:10:00");
    let states = told(reel, Mode::Upstream, "NodeState");
    let phase = |words: &str, phase: &str| {
        format!(
            "I node/worker-0 row/NodeUpdatePhases constructed/node-lifecycle-constructor phase/{phase} reason/NodeUpdate roles/worker {words}"
        )
    };
    let expected = [
        "10:01:00 - 10:06:00 I node/worker-0 row/NodeUpdate constructed/node-lifecycle-constructor phase/Update reason/NodeUpdate roles/worker reached desired config".to_owned(),
        format!("10:02:00 - 10:03:00 {}", phase("drained node", "Drain")),
        format!("10:03:00 - 10:04:00 {}", phase("updated operating system", "OperatingSystemUpdate")),
        format!("10:04:00 - 10:05:00 {}", phase("rebooted and kubelet started", "Reboot")),
        "10:04:30 - 10:05:00 W node/worker-0 row/NodeNotReady constructed/node-lifecycle-constructor reason/NotReady roles/worker node is not ready".to_owned(),
        "10:07:00 - 10:10:00 W node/worker-0 row/NodeUpdatePhases constructed/node-lifecycle-constructor reason/NodeUpdate roles/worker state/Drain never completed".to_owned(),
    ];
    assert_eq!(states, expected);
}

#[test]
fn a_container_waits_runs_and_exits() {
    let reel = Reel::new()
        .at("10:01:00.500")
        .pending_pod("shop/web")
        .at("10:02:00.500")
        .change("Pod", "shop/web", json!({"spec": {"nodeName": "worker-0"}}))
        .at("10:02:10")
        .container("shop/web", 0, &json!({"waiting": {"reason": "ErrImagePull", "message": "no"}}), &json!({}))
        .at("10:02:30")
        .change("Pod", "shop/web", json!({"status": {"phase": "Running"}}))
        .container("shop/web", 0, &json!({"running": {}}), &json!({}))
        .at("10:03:00.750")
        .container(
            "shop/web",
            1,
            &json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}),
            &json!({"terminated": {"exitCode": 7, "reason": "Error", "finishedAt": "2026-11-21T10:03:00Z"}}),
        )
        .at("10:04:00")
        .change("Pod", "shop/web", json!({"metadata": {
            "deletionGracePeriodSeconds": 30, "deletionTimestamp": "2026-11-21T10:04:30Z"}}))
        .at("10:04:20")
        .gone("Pod", "shop/web");
    let made = gathered(reel, Mode::Exact);
    let instants: Vec<String> = made.intervals.of("PodMonitor").map(line).collect();
    let has = |words: &str| {
        assert!(
            instants.iter().any(|one| one.contains(words)),
            "{words}: {instants:#?}"
        );
    };
    has("10:02:00.500 I namespace/shop node/worker-0 pod/web node/worker-0 reason/Scheduled");
    has(
        "10:02:10 I container/main namespace/shop node/worker-0 pod/web cause/ErrImagePull reason/ContainerWait  no",
    );
    has(
        "10:03:00.750 E container/main namespace/shop node/worker-0 pod/web cause/Error code/7 reason/ContainerExit",
    );
    has("10:03:00.750 W container/main namespace/shop node/worker-0 pod/web reason/Restarted");
    has("reason/GracefulDelete");
    let life: Vec<String> = made
        .intervals
        .of("PodState")
        .filter(|one| one.message.reason.starts_with("Container"))
        .map(|one| {
            format!(
                "{} {}",
                line(one).split(" I ").next().unwrap_or_default(),
                one.message.reason
            )
        })
        .collect();
    let expected = [
        "10:02:10 - 10:02:30 ContainerWait",
        "10:02:30 - 10:03:00.750 ContainerStart",
        // Of one change, the exit comes before the next wait.
        "10:03:00.750 - 10:04:20 ContainerWait",
    ];
    assert_eq!(life, expected);
    let pending: Vec<String> = made
        .intervals
        .of("PodState")
        .filter(|one| one.message.human.contains("pending"))
        .map(line)
        .collect();
    assert_eq!(pending.len(), 1, "{pending:#?}");
    assert!(
        pending[0].starts_with("10:01:00.500 - 10:02:30 W"),
        "{pending:#?}"
    );
}

#[test]
fn what_a_container_did_before_its_pod_was_first_seen_is_not_known() {
    let reel = || {
        Reel::new()
            .at("10:02:00")
            .pending_pod("shop/web")
            .change(
                "Pod",
                "shop/web",
                json!({"metadata": {"creationTimestamp": "2026-11-21T10:01:00Z"}}),
            )
            .container("shop/web", 0, &json!({"running": {}}), &json!({}))
    };
    let waited = |mode| {
        let states = told(reel(), mode, "PodState");
        states
            .iter()
            .filter(|one| one.contains("missed real \"ContainerWait\""))
            .count()
    };
    assert_eq!((waited(Mode::Exact), waited(Mode::Upstream)), (0, 1));
}

#[test]
fn a_pod_that_stays_pending_never_completed() {
    let reel = || {
        Reel::new()
            .at("10:01:00")
            .pending_pod("shop/web")
            .until("10:01:30")
    };
    let stuck = |mode| {
        let states = told(reel(), mode, "PodState");
        let mut stuck = states
            .into_iter()
            .filter(|one| one.contains("PodWasPending"));
        stuck.next().expect("one that is stuck")
    };
    assert!(stuck(Mode::Upstream).starts_with("10:01:00 - 10:01:30 W"));
    assert!(stuck(Mode::Exact).starts_with("10:01:00 -  W"));
}

#[test]
fn events_are_said_when_they_were_said() {
    let reel = Reel::new()
        .event("Pod", "shop/old", "Old", "was there before")
        .at("10:01:00.250")
        .event("Pod", "shop/web", "BackOff", "again")
        .at("10:05:00.250")
        .event_counted("Pod", "shop/web", "BackOff", "again", 21);
    let said = told(reel.clone(), Mode::Upstream, "KubeEvent");
    assert_eq!(said.len(), 2, "{said:#?}");
    // Upstream uses the writer's whole seconds, and lengthens repeated Events.
    assert!(said[0].starts_with("10:01:00 I hmsg/"), "{said:#?}");
    assert!(said[0].contains(" namespace/shop pod/web firstTimestamp/2026-11-21T10:01:00Z "));
    assert!(said[1].starts_with("10:05:00 - 10:05:01 I"), "{said:#?}");
    assert!(said[1].contains("count/21") && said[1].contains("pathological/true"));
    let said = told(reel, Mode::Exact, "KubeEvent");
    assert!(said[0].starts_with("10:01:00.250 I"), "{said:#?}");
    assert!(said[1].starts_with("10:05:00.250 I"), "{said:#?}");
}

#[test]
fn machines_pools_and_leases_have_states() {
    let machine = |phase: &str| {
        json!({"kind": "Machine",
            "metadata": {"name": "m-0", "namespace": "openshift-machine-api"},
            "status": {"phase": phase, "nodeRef": {"name": "worker-0"}}})
    };
    let pool = |status: &str| {
        let condition =
            json!([{"type": "Updating", "status": status, "reason": "", "message": "words"}]);
        json!({"kind": "MachineConfigPool", "metadata": {"name": "worker"},
            "status": {"conditions": condition, "machineCount": 2, "updatedMachineCount": 1}})
    };
    let lease = |holder: Value| {
        json!({"kind": "Lease", "metadata": {"name": "lock", "namespace": "shop"},
            "spec": {"holderIdentity": holder, "renewTime": "2026-11-21T10:00:00Z"}})
    };
    let reel = Reel::new()
        .put(lease(json!("a")))
        .put(pool("False"))
        .at("10:01:00")
        .put(machine("Running"))
        .put(pool("True"))
        .at("10:02:00")
        .put(machine("Deleting"))
        .put(lease(json!("")))
        .at("10:03:00")
        .put(lease(json!("b")))
        .put(pool("False"))
        .gone("Machine", "openshift-machine-api/m-0")
        .until("10:05:00");
    let made = gathered(reel, Mode::Exact);
    let of = |source: &str| -> Vec<String> { made.intervals.of(source).map(line).collect() };
    let phases: Vec<String> = of("MachineMonitor")
        .into_iter()
        .filter(|one| one.contains("reason/MachinePhase ") && one.contains("Running"))
        .collect();
    assert_eq!(phases.len(), 1, "{phases:#?}");
    assert!(
        phases[0].starts_with("10:01:00 - 10:02:00 I machine/m-0"),
        "{phases:#?}"
    );
    assert!(
        phases[0].ends_with("Machine is in \"Running\""),
        "{phases:#?}"
    );
    let deleting = of("MachineMonitor");
    assert!(
        deleting
            .iter()
            .any(|one| one.starts_with("10:02:00 - 10:03:00") && one.contains("phase/Deleting")),
        "{deleting:#?}"
    );
    let pools = of("MachineConfigPoolState");
    assert_eq!(pools.len(), 1, "{pools:#?}");
    assert!(
        pools[0].starts_with("10:01:00 - 10:03:00 I pool/worker condition/Updating"),
        "{pools:#?}"
    );
    let expected = [
        "10:00:00 - 10:02:00 I lease/lock namespace/shop holder/a reason/LeaseHeld held by a",
        "10:02:00 - 10:03:00 I lease/lock namespace/shop holder/ reason/LeaseFree held by nobody",
        "10:03:00 -  I lease/lock namespace/shop holder/b reason/LeaseHeld held by b",
    ];
    assert_eq!(of("LeaseState"), expected);
}

#[test]
fn gaps_of_the_recording_are_intervals() {
    let reel = Reel::new()
        .pod("shop/web")
        .gap("Pod", "10:01:00", "10:02:00")
        .at("10:03:00")
        .pod("shop/other");
    let gaps = told(reel, Mode::Exact, "RecordingGap");
    assert_eq!(gaps.len(), 1, "{gaps:#?}");
    assert!(
        gaps[0].starts_with("10:01:00 - 10:02:00 W resource/pods"),
        "{gaps:#?}"
    );
}

#[test]
fn a_static_pod_is_unready_until_it_is_ready_or_gone() {
    let mirror = json!({"metadata": {"annotations": {"kubernetes.io/config.mirror": "m"}}});
    let ready = |is: bool| {
        json!({"status": {"containerStatuses": [
            {"name": "main", "ready": is, "restartCount": 0, "state": {"running": {}}}]}})
    };
    let pod = "openshift-etcd/etcd-master-0";
    let reel = Reel::new()
        .pod(pod)
        .change("Pod", pod, mirror)
        .change("Pod", pod, ready(true))
        .at("10:01:00")
        .change("Pod", pod, ready(false))
        .at("10:02:00")
        .change("Pod", pod, ready(true))
        .at("10:03:00")
        .change("Pod", pod, ready(false))
        .at("10:04:00")
        .gone("Pod", pod);
    let windows = told(reel, Mode::Exact, "StaticPodInstallMonitor");
    let times: Vec<&str> = windows
        .iter()
        .filter_map(|one| one.split(" I ").next())
        .collect();
    assert!(
        times.ends_with(&["10:01:00 - 10:02:00", "10:03:00 - 10:04:00"]),
        "{windows:#?}"
    );
}

#[test]
fn only_what_is_asked_for_is_gathered() {
    let reel = Reel::cluster()
        .at("10:01:00")
        .pod("shop/web")
        .event("Pod", "shop/web", "A", "b");
    let written = reel.written();
    let mut gathering = Gathering::only(&written.timeline, Mode::Exact, |source| {
        source == "NodeState"
    });
    feed(&written.timeline, &mut gathering.watchers(), |_| {});
    let gathered = gathering.finish(&written.timeline);
    assert_eq!(gathered.intervals.of("PodState").count(), 0);
    assert!(gathered.intervals.of("NodeMonitor").count() > 0);
    assert!(gathered.facts.last().platform.is_some());
}

/// Returns the states of Pods that have a reason, `from - to reason`.
fn pod_states(reel: Reel, reasons: &[&str]) -> Vec<String> {
    let made = gathered(reel, Mode::Exact);
    let states = made.intervals.of("PodState");
    let states = states.filter(|one| reasons.contains(&&*one.message.reason));
    states
        .map(|one| {
            let text = line(one);
            let time = text.split(" I ").next().unwrap_or_default();
            format!("{time} {}", one.message.reason)
        })
        .collect()
}

const LIFE: [&str; 5] = [
    "ContainerWait",
    "ContainerStart",
    "ContainerExit",
    "Ready",
    "NotReady",
];

fn running(started: &str) -> Value {
    json!({"running": {"startedAt": format!("2026-11-21T{started}Z")}})
}

fn terminated(finished: &str) -> Value {
    json!({"terminated": {"exitCode": 1, "finishedAt": format!("2026-11-21T{finished}Z")}})
}

#[test]
fn a_container_that_was_restarted_while_it_ran_lives_on() {
    let reel = || {
        Reel::new()
            .pod("shop/web")
            .container("shop/web", 0, &running("09:59:00"), &json!({}))
            .at("10:01:00")
            .container("shop/web", 1, &running("10:00:59"), &terminated("10:00:58"))
    };
    let expected = [
        "10:00:00 - 10:01:00 ContainerStart",
        "10:00:00 -  Ready",
        "10:01:00 -  ContainerStart",
    ];
    assert_eq!(pod_states(reel().until("10:05:00"), &LIFE), expected);
    // Another container ID is another run, also without a last state.
    let renamed = reel()
        .at("10:02:00")
        .change(
            "Pod",
            "shop/web",
            json!({"status": {"containerStatuses": [{
                "name": "main", "ready": true, "restartCount": 1, "containerID": "cri-o://2",
                "state": {"running": {"startedAt": "2026-11-21T10:00:59Z"}}}]}}),
        )
        .until("10:05:00");
    let expected = [
        "10:00:00 - 10:01:00 ContainerStart",
        "10:01:00 - 10:02:00 ContainerStart",
        "10:02:00 -  ContainerStart",
    ];
    assert_eq!(pod_states(renamed, &["ContainerStart"]), expected);
    let starts = |mode| {
        let instants = told(reel(), mode, "PodMonitor");
        let starts = instants
            .iter()
            .filter(|one| one.contains("reason/ContainerStart"));
        starts.count()
    };
    assert_eq!((starts(Mode::Exact), starts(Mode::Upstream)), (2, 1));
}

#[test]
fn a_container_that_ran_when_it_was_first_seen_ran_before_it_waited() {
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let reel = Reel::new()
        .pod("shop/web")
        .at("10:01:00")
        .container("shop/web", 1, &waiting, &terminated("10:00:58"))
        .until("10:05:00");
    let expected = [
        "10:00:00 - 10:01:00 ContainerStart",
        "10:00:00 - 10:01:00 Ready",
        "10:01:00 -  ContainerWait",
        "10:01:00 -  NotReady",
    ];
    assert_eq!(pod_states(reel, &LIFE), expected);
}

#[test]
fn a_pod_is_there_until_its_deletion_is_received_and_is_open_at_the_end() {
    let deleting = json!({
        "metadata": {"deletionGracePeriodSeconds": 30, "deletionTimestamp": "2026-11-21T10:01:30Z"},
        "spec": {"terminationGracePeriodSeconds": 30}});
    let reel = || {
        Reel::new()
            .pod("shop/web")
            .at("10:01:00")
            .change("Pod", "shop/web", deleting.clone())
            .at("10:03:00")
            .container("shop/web", 0, &terminated("10:02:00"), &json!({}))
    };
    let reasons = [
        "Scheduled",
        "GracefulDelete",
        "Ready",
        "NotReady",
        "ContainerStart",
    ];
    let contained = [
        "10:00:00 - 10:03:00 Ready",
        "10:00:00 - 10:03:00 ContainerStart",
    ];
    let pod = "10:00:00 - 10:01:00 Scheduled";
    let gone = reel().at("10:05:00").gone("Pod", "shop/web");
    let mut states = pod_states(gone, &reasons);
    states.sort();
    let mut expected = vec![
        contained[0],
        contained[1],
        pod,
        "10:01:00 - 10:05:00 GracefulDelete",
    ];
    expected.sort_unstable();
    assert_eq!(states, expected);
    let mut states = pod_states(reel().until("10:09:00"), &reasons);
    states.sort();
    expected[3] = "10:01:00 -  GracefulDelete";
    expected.sort_unstable();
    assert_eq!(states, expected);
    // What the pod says of itself stands beside it.
    let instants = told(reel(), Mode::Exact, "PodMonitor");
    for said in [
        "deletionTimestamp/2026-11-21T10:01:30Z",
        "finishedAt/2026-11-21T10:02:00",
    ] {
        assert!(
            instants.iter().any(|one| one.contains(said)),
            "{instants:#?}"
        );
    }
    // Upstream ends it with its own grace, and closes what is open at the end.
    let gone = reel().at("10:05:00").gone("Pod", "shop/web");
    let states = told(gone, Mode::Upstream, "PodState");
    let of = |words: &str| states.iter().any(|one| one.starts_with(words));
    assert!(of("10:01:00 - 10:02:00 I"), "{states:#?}");
}

#[test]
fn a_container_that_had_ended_when_it_was_first_seen_is_not_unready() {
    let reel = Reel::new()
        .pod("shop/job")
        .change("Pod", "shop/job", json!({"status": {"phase": "Succeeded"}}))
        .container("shop/job", 0, &terminated("09:30:00"), &json!({}))
        .until("10:05:00");
    assert_eq!(pod_states(reel, &LIFE), [""; 0]);
}

/// A Pod `shop/web`, whose container `main` runs, with one version a minute: the status of one container.
fn statuses(list: &str, container: &str, versions: &[Value]) -> Reel {
    let mut reel = Reel::new().pod("shop/web");
    for (minute, status) in versions.iter().enumerate() {
        let clock = format!("10:{:02}:00", minute + 1);
        let mut status = status.clone();
        status["name"] = json!(container);
        reel = reel
            .at(&clock)
            .change("Pod", "shop/web", json!({"status": {list: [status]}}));
    }
    reel.until("10:30:00")
}

#[test]
fn a_container_waits_from_the_version_that_shows_it_and_not_from_its_exit() {
    let waiting = json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 0});
    let run = json!({"state": running("10:00:30")});
    let reel = statuses(
        "containerStatuses",
        "main",
        &[run, json!({"state": terminated("10:01:30")}), waiting],
    );
    assert_eq!(
        pod_states(reel, &["ContainerWait", "ContainerStart"]),
        [
            "10:00:00 - 10:01:00 ContainerStart",
            "10:01:00 - 10:02:00 ContainerStart",
            "10:03:00 -  ContainerWait",
        ]
    );
}

#[test]
fn an_exit_that_the_first_status_reports_is_one() {
    for list in ["containerStatuses", "ephemeralContainerStatuses"] {
        let reel = || statuses(list, "late", &[json!({"state": terminated("10:00:30")})]);
        assert_eq!(
            pod_states(reel(), &["ContainerWait", "ContainerStart"]),
            ["10:00:00 -  ContainerStart"]
        );
        let exits = told(reel(), Mode::Exact, "PodMonitor");
        let exits = exits
            .iter()
            .filter(|one| one.contains("reason/ContainerExit"));
        assert_eq!(exits.count(), 1, "{list}");
    }
}

#[test]
fn an_evicted_pod_without_statuses_does_not_run() {
    let reel = statuses(
        "containerStatuses",
        "main",
        &[json!({"state": running("10:00:30"), "ready": true})],
    )
    .at("10:05:00")
    .change(
        "Pod",
        "shop/web",
        json!({"status": {"phase": "Failed", "reason": "Evicted", "containerStatuses": []}}),
    )
    .until("10:30:00");
    let expected = [
        "10:00:00 - 10:01:00 ContainerStart",
        "10:00:00 - 10:05:00 Ready",
        "10:01:00 - 10:05:00 ContainerStart",
    ];
    assert_eq!(pod_states(reel, &["ContainerStart", "Ready"]), expected);
}

#[test]
fn a_pod_that_is_deleted_when_it_is_first_seen_is_being_deleted() {
    let reel = Reel::new()
        .put(json!({
            "kind": "Pod",
            "metadata": {"namespace": "shop", "name": "web", "deletionGracePeriodSeconds": 30,
                "deletionTimestamp": "2026-11-21T10:00:30Z"},
            "spec": {"nodeName": "n1"},
        }))
        .until("10:05:00");
    let expected = ["10:00:00 Scheduled", "10:00:00 -  GracefulDelete"];
    assert_eq!(pod_states(reel, &["Scheduled", "GracefulDelete"]), expected);
}

fn machine(name: &str, phase: &str) -> Value {
    json!({"kind": "Machine",
        "metadata": {"name": name, "namespace": "openshift-machine-api",
            "creationTimestamp": "2026-11-20T10:00:00Z"},
        "status": {"phase": phase, "nodeRef": {"name": "worker-0"}}})
}

#[test]
fn a_machine_has_the_phases_that_were_seen_in_each_of_its_lives() {
    let path = "openshift-machine-api/re";
    let reel = || {
        Reel::new()
            .put(machine("old", "Running"))
            .at("10:01:00")
            .put(machine("re", "Running"))
            .at("10:02:00")
            .put(machine("re", "Deleting"))
            .at("10:03:00")
            .gone("Machine", path)
            .at("10:04:00")
            .put(machine("re", ""))
            .at("10:05:00")
            .put(machine("re", "Running"))
            .until("10:09:00")
    };
    let phases = |mode| -> Vec<String> {
        let all = told(reel(), mode, "MachineMonitor");
        let phases = all
            .iter()
            .filter(|one| one.contains("reason/MachinePhase "));
        let short = phases.map(|one| {
            let (time, rest) = one.split_once(" I machine/").unwrap_or_default();
            let name = rest.split(' ').next().unwrap_or_default();
            let phase = rest.rsplit(' ').next().unwrap_or_default();
            format!("{time} {name} {phase}")
        });
        short.collect()
    };
    let expected = [
        "10:00:00 -  old \"Running\"",
        "10:01:00 - 10:02:00 re \"Running\"",
        "10:02:00 - 10:03:00 re \"Deleting\"",
        "10:04:00 - 10:05:00 re \"<missing>\"",
        "10:05:00 -  re \"Running\"",
    ];
    assert_eq!(phases(Mode::Exact), expected);
    // Upstream begins with the creation, and lets the first deletion end the last phase.
    let upstream = phases(Mode::Upstream);
    assert!(
        upstream
            .iter()
            .any(|one| one.ends_with("old \"<missing>\"")),
        "{upstream:#?}"
    );
    assert_eq!(upstream.len(), 6, "{upstream:#?}");
}

#[test]
fn a_machine_that_replaced_another_one_is_not_ended_by_it() {
    let mut other = machine("re", "Provisioning");
    other["metadata"]["uid"] = json!("another");
    let reel = Reel::new()
        .put(machine("re", "Running"))
        .at("10:02:00")
        .put(other)
        .until("10:05:00");
    let phases = told(reel, Mode::Exact, "MachineMonitor");
    let phases: Vec<&str> = phases
        .iter()
        .filter(|one| one.contains("reason/MachinePhase "))
        .filter_map(|one| one.split(" I ").next())
        .collect();
    assert_eq!(phases, ["10:00:00 - 10:02:00", "10:02:00 - "]);
}

#[test]
fn an_update_ends_with_its_node() {
    let reel = || {
        Reel::new()
            .node("worker-0", "worker")
            .at("10:01:00")
            .node_config("worker-0", "desiredConfig", "rendered-worker-2")
            .at("10:02:00")
            .gone("Node", "worker-0")
            .at("10:03:00")
            .node("worker-0", "worker")
            .at("10:04:00")
            .node_config("worker-0", "desiredConfig", "rendered-worker-2")
            .at("10:05:00")
            .node_config("worker-0", "currentConfig", "rendered-worker-2")
    };
    let update = "node/worker-0 row/NodeUpdate constructed/node-lifecycle-constructor";
    let expected = [
        format!(
            "10:01:00 - 10:02:00 W {update} reason/NodeUpdate roles/worker state/Update not completed: the node was deleted"
        ),
        format!(
            "10:04:00 - 10:05:00 I {update} phase/Update reason/NodeUpdate roles/worker reached desired config"
        ),
    ];
    assert_eq!(told(reel(), Mode::Exact, "NodeState"), expected);
    let upstream = told(reel(), Mode::Upstream, "NodeState");
    assert!(
        upstream[0].starts_with("10:01:00 - 10:05:00 I"),
        "{upstream:#?}"
    );
}

#[test]
fn an_update_without_a_reboot_ends_with_what_was_skipped() {
    let said = |reel: Reel, reason: &str| reel.event("Node", "worker-0", reason, reason);
    let reel = || {
        let reel = Reel::new().node("worker-0", "worker").at("10:01:00");
        let reel = reel.node_config("worker-0", "desiredConfig", "rendered-worker-2");
        let reel = said(reel.at("10:02:00"), "Cordon");
        let reel = said(reel.at("10:03:00"), "Uncordon");
        let reel = said(reel.at("10:04:00"), "OSUpdateStarted");
        let reel = said(reel.at("10:05:00"), "SkipReboot").at("10:06:00");
        reel.node_config("worker-0", "currentConfig", "rendered-worker-2")
            .until("10:20:00")
    };
    let phases = |mode| -> Vec<String> {
        let all = told(reel(), mode, "NodeState");
        let phases = all.iter().filter(|one| one.contains("NodeUpdatePhases"));
        phases
            .map(|one| one.split(" I ").next().unwrap_or(one).to_owned())
            .collect()
    };
    let expected = ["10:02:00 - 10:03:00", "10:04:00 - 10:05:00"];
    assert_eq!(phases(Mode::Exact), expected);
    // Upstream lets the update of the operating system last to the end.
    assert!(phases(Mode::Upstream)[1].contains("never completed"));
}

#[test]
fn a_lease_that_was_deleted_is_not_released() {
    let lease = json!({"kind": "Lease", "metadata": {"name": "lock", "namespace": "shop"},
        "spec": {"holderIdentity": "a"}});
    let reel = || {
        Reel::new()
            .put(lease.clone())
            .at("10:01:00")
            .gone("Lease", "shop/lock")
            .until("10:05:00")
    };
    assert_eq!(
        told(reel(), Mode::Exact, "LeaseState"),
        ["10:00:00 - 10:01:00 I lease/lock namespace/shop holder/a reason/LeaseHeld held by a"]
    );
    let instants = told(reel(), Mode::Exact, "LeaseMonitor");
    assert!(
        instants
            .iter()
            .any(|one| one.ends_with("reason/LeaseDeleted deleted, held by a")),
        "{instants:#?}"
    );
}
