//! The reels that the tests write are seen as they were meant.

use crate::verdicts::reel::{OpenedReel, Reel, time};
use kubereel_format::Evidence;
use kubereel_history::{Coverage, GapOutcome};
use kubereel_monitortests::{Action, Interest, WatchedEvent, Watcher, feed};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Default)]
struct ActionLog(Vec<(String, Action, Evidence, String)>);

impl Watcher for ActionLog {
    fn interests(&self) -> Vec<Interest> {
        let group = "config.openshift.io";
        vec![
            Interest::new("", "nodes", ["status.conditions"]),
            Interest::new(group, "clusteroperators", ["status.conditions"]),
        ]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        let conditions = seen.now.pointer("/status/conditions");
        let all = conditions.and_then(Value::as_array).cloned();
        let said = all.unwrap_or_default().into_iter().map(|one| {
            let word = |name: &str| one.get(name).and_then(Value::as_str).map(str::to_owned);
            format!(
                "{}={}",
                word("type").unwrap_or_default(),
                word("status").unwrap_or_default()
            )
        });
        let said: Vec<String> = said.collect();
        let time = kubereel_history::timetext::time_of_day(seen.at);
        self.0.push((
            format!("{time} {}", seen.key.name),
            seen.action,
            seen.evidence,
            said.join(" "),
        ));
    }
}

fn story() -> Reel {
    Reel::new()
        .operator("etcd", &[])
        .at("10:05:00")
        .operator("etcd", &[("Available", "False", "NoQuorum")])
        .at("10:05:40.250")
        .node("master-9", "master")
        .gone("ClusterOperator", "etcd")
        .until("10:30:00")
}

fn told(reel: Reel) -> Vec<(String, Action, Evidence, String)> {
    let written = reel.written();
    let mut watcher = ActionLog::default();
    let fed = feed(&written.timeline, &mut [&mut watcher], |_| {});
    assert!(fed.unread.is_empty());
    watcher.0
}

#[test]
fn what_is_put_is_seen_at_its_time() {
    let bad = "Available=False Progressing=False Degraded=False Upgradeable=True";
    let good = bad.replace("Available=False", "Available=True");
    let row = |who: &str, action, evidence, said: &str| {
        (who.to_owned(), action, evidence, said.to_owned())
    };
    let (live, initial) = (Evidence::Live, Evidence::Initial);
    let expected = [
        row("10:00:00.000Z etcd", Action::Appeared, initial, &good),
        row("10:05:00.000Z etcd", Action::Changed, live, bad),
        row("10:05:40.250Z master-9", Action::Appeared, live, ""),
        row(
            "10:05:40.250Z master-9",
            Action::Changed,
            live,
            "DiskPressure=False",
        ),
        row(
            "10:05:40.250Z master-9",
            Action::Changed,
            live,
            "DiskPressure=False Ready=True",
        ),
        row("10:05:40.250Z etcd", Action::Gone, live, bad),
    ];
    assert_eq!(told(story()), expected);
    let imported = told(story().imported());
    assert!(imported.iter().all(|row| row.2 == Evidence::Imported));
}

#[test]
fn another_object_of_a_name_ends_the_one_before() {
    let other = json!({"metadata": {"uid": "another"}});
    let reel = Reel::new()
        .operator("etcd", &[])
        .at("10:05:00")
        .change("ClusterOperator", "etcd", other)
        .at("10:06:00")
        .gone("ClusterOperator", "etcd");
    let told: Vec<_> = told(reel)
        .into_iter()
        .map(|row| (row.0, row.1, row.2))
        .collect();
    let row = |who: &str, action, evidence| (who.to_owned(), action, evidence);
    let expected = [
        row("10:00:00.000Z etcd", Action::Appeared, Evidence::Initial),
        row("10:05:00.000Z etcd", Action::Gone, Evidence::Inferred),
        row("10:05:00.000Z etcd", Action::Appeared, Evidence::Live),
        row("10:06:00.000Z etcd", Action::Gone, Evidence::Live),
    ];
    assert_eq!(told, expected);
}

fn coverage(reel: Reel, plural: &str) -> Option<Coverage> {
    let written = reel.written();
    let resources = written.timeline.resources();
    let info = resources.iter().find(|info| info.plural == plural)?;
    written.timeline.coverage(info.id).cloned()
}

#[test]
fn all_is_covered_but_what_the_test_leaves_out() {
    let whole = coverage(story(), "pods").expect("recorded");
    let spans = whole.spans();
    assert_eq!(
        (spans.len(), whole.gaps(GapOutcome::MayMiss).count()),
        (1, 0)
    );
    let expected = Some(time("10:30:00"));
    assert_eq!(spans.first().map(|span| span.covered.to_time), expected);
    let torn = story().gap("Pod", "10:10:00", "10:20:00");
    let torn = coverage(torn, "pods").expect("recorded");
    let holes: Vec<_> = torn
        .gaps(GapOutcome::MayMiss)
        .map(|hole| (hole.gap.from_time, hole.gap.to_time))
        .collect();
    assert_eq!(holes, [(time("10:10:00"), time("10:20:00"))]);
    let ends: Vec<_> = torn
        .spans()
        .iter()
        .map(|span| span.covered.to_time)
        .collect();
    assert_eq!(ends, [time("10:10:00"), time("10:30:00")]);
    assert!(coverage(story().without("Pod"), "pods").is_none());
    let imported = coverage(story().imported(), "pods").expect("recorded");
    assert!(imported.spans().is_empty() && imported.imported().is_some());
}

/// Returns each object's last content, by kind and name.
fn last_of_each(written: &OpenedReel) -> BTreeMap<String, Value> {
    let reel = written.timeline.reel();
    let events = reel.scan().map(|event| event.expect("an event"));
    let bodies = events.map(|event| {
        let body: Value = serde_json::from_slice(&event.body).expect("JSON");
        let word = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
        let kind = word("/kind").expect("a kind");
        let name = word("/metadata/name").expect("a name");
        (format!("{kind} {name}"), body)
    });
    bodies.collect()
}

#[test]
fn the_shapes_are_what_they_say() {
    let reel = Reel::cluster()
        .pod("openshift-dns/dns-1")
        .pending_pod("shop/web")
        .at("10:05:00")
        .upgrade_begins("5.1.0")
        .upgrade_event("UpgradeStarted")
        .node_config("worker-0", "desiredConfig", "rendered-worker-2")
        .node_ready("worker-0", false)
        .at("10:06:00")
        .container(
            "openshift-dns/dns-1",
            1,
            &json!({"waiting": {"reason": "CrashLoopBackOff"}}),
            &json!({"terminated": {"exitCode": 1}}),
        )
        .upgrade_ends();
    let written = reel.written();
    assert!(written.folder.path().join(OpenedReel::NAME).exists());
    let all = last_of_each(&written);
    for (object, pointer, expected) in [
        (
            "ClusterVersion version",
            "/status/history/0/state",
            "Completed",
        ),
        (
            "ClusterVersion version",
            "/status/history/0/startedTime",
            "2026-11-21T10:05:00Z",
        ),
        (
            "ClusterVersion version",
            "/status/history/1/version",
            "5.0.9",
        ),
        (
            "Node worker-0",
            "/status/conditions/1/lastTransitionTime",
            "2026-11-21T10:05:00Z",
        ),
        (
            "Node worker-1",
            "/status/conditions/1/lastTransitionTime",
            "2026-11-21T10:00:00Z",
        ),
        (
            "Node worker-0",
            "/metadata/annotations/machineconfiguration.openshift.io~1desiredConfig",
            "rendered-worker-2",
        ),
        (
            "Pod dns-1",
            "/status/containerStatuses/0/state/waiting/reason",
            "CrashLoopBackOff",
        ),
        ("Pod web", "/status/phase", "Pending"),
        (
            "Event cluster.upgradestarted",
            "/involvedObject/kind",
            "ClusterVersion",
        ),
    ] {
        let found = all.get(object).expect("an object").pointer(pointer);
        assert_eq!(found, Some(&json!(expected)), "{object} {pointer}");
    }
    let web = all.get("Pod web").expect("a pod");
    assert_eq!(web.pointer("/spec/nodeName"), None);
}
