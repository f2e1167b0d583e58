//! What is saved changes no verdict: asking everything at each event gives the same.

use super::{check, over_objects};
use crate::verdicts::judged::{naively_judged, rules_judged};
use crate::verdicts::reel::Reel;
use kubereel_monitortests::builtin_rule_files;
use serde_json::json;

/// A cluster in which much happens that no rule reads, and some that rules read.
fn busy() -> Reel {
    let mut reel = Reel::cluster()
        .pod("openshift-dns/dns-1")
        .put(json!({"kind": "Pod", "metadata": {"namespace": "shop", "name": "p1", "labels": {"app": "1"}}, "status": {"phase": "Running"}}))
        .pending_pod("shop/web");
    for minute in 1..50_u32 {
        reel = reel
            .at(&format!("10:{minute:02}:00"))
            .put(json!({
                "kind": "ConfigMap",
                "metadata": {"namespace": "shop", "name": "cm", "annotations": {"beat": minute.to_string()}},
                "data": {"a": (minute / 7 % 3).to_string(), "noise": minute.to_string()},
            }))
            .node_ready("worker-0", minute % 11 != 0)
            .put(json!({
                "kind": "Deployment",
                "metadata": {"namespace": "openshift-dns", "name": "d", "generation": minute / 9},
                "spec": {"replicas": minute % 4, "template": {"metadata": {"labels": {"app": "d"}}}},
                "status": {"replicas": minute % 4, "noise": minute},
            }));
        if minute % 10 == 0 {
            reel = reel.gone("Deployment", "openshift-dns/d");
        }
    }
    reel.until("11:00:00")
}

#[test]
fn the_same_is_found_naively() {
    let files: Vec<(&str, &str)> = builtin_rule_files().collect();
    assert_eq!(rules_judged(busy(), &files), naively_judged(busy(), &files));
    let operators = [
        "never: object.data.a == '1'",
        "never: old.data.a != object.data.a",
        "always: object.data.a != '2'\nforAtLeast: 3m",
        "atMost: {times: 1, of: \"object.data.a == '2'\"}",
        "flaps: {moreThan: 2, of: \"object.data.a == '0'\", in: 40m}",
        "total: {of: \"object.data.a == '1'\", above: 10m}",
        "never: action == 'changed'",
        "never: old.data.a == '1'",
        "always: old.data.a != '2'",
        "atMost: {times: 20, of: \"action == 'changed' && object.data.a != '9'\"}",
        "stays: {after: \"object.data.a == '1'\", hold: \"old.data.a == object.data.a\"}",
        "never: at - timestamp('2026-11-21T10:00:00Z') > duration('30m')",
        "leadsTo: {from: \"object.data.a == '0'\", to: \"object.data.a == '1'\", within: 5m}",
    ];
    let mut texts: Vec<String> = operators.map(check).into();
    texts.push(over_objects(
        "  related:\n    pods: {resource: pods, where: other.status.phase == 'Pending'}\n  expect:\n  - never: size(pods) > 0 && object.data.a == '1'\n    message: m\n",
    ));
    // The related objects depend on fields that no predicate names.
    for found in [
        "selectedBy: \"{'app': object.data.a}\"",
        "name: \"'p' + object.data.a\"",
        "where: other.metadata.name == 'p' + object.data.a",
    ] {
        texts.push(over_objects(&format!(
            "  related:\n    pods: {{resource: pods, {found}}}\n  expect:\n  - never: size(pods) > 0\n    message: m\n"
        )));
    }
    for text in texts {
        let files = [("r", text.as_str())];
        let found = rules_judged(busy(), &files);
        assert_eq!(found, naively_judged(busy(), &files), "{text}");
        assert!(found.contains("Fail"), "{text}\n{found}");
    }
}
