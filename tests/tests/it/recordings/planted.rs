//! What the timeline says was done to the cluster, found as the change that it made, at its time.

use super::recording::{sections, time};
use super::story::{Story, text};
use kubereel_format::EventType;
use kubereel_history::{HistoryVersion, VersionPlace};
use serde_json::Value;

/// The deeds are stamped just before or after their request; processes take a moment to start.
const NEAR_MICROS: u64 = 3_000_000;
/// The first objects of a cluster take longer.
const NEAR_AT_FIRST_MICROS: u64 = 15_000_000;

/// How a deed shows.
enum Shows {
    /// A field has a value that begins so.
    Value(String),
    /// A field has no value any more.
    Gone,
    /// The field has another value.
    Changed,
    /// The object is first seen.
    Begins,
    /// The object is deleted.
    Ends,
}

struct Trace {
    object: [String; 3],
    fields: Vec<String>,
    shows: Shows,
}

#[test]
fn every_deed_that_changed_an_object_is_found_at_its_time() {
    let (Some(story), Some(sections)) = (Story::read("cvo-upgrade/events.jsonl.zst"), sections())
    else {
        return;
    };
    let (mut found, mut unseen) = (0, 0);
    for section in sections {
        if !section.heading.starts_with("Planted") {
            continue;
        }
        for row in section.rows {
            let what = row.last().unwrap();
            let Some(trace) = trace(what) else {
                // A refusal changes nothing, and two rows are about the recording itself.
                let silent = ["eviction refused", "API server ready", "recording ends"];
                assert!(silent.iter().any(|one| what.starts_with(one)), "{what}");
                unseen += 1;
                continue;
            };
            let near = if what.starts_with("CRDs") {
                NEAR_AT_FIRST_MICROS
            } else {
                NEAR_MICROS
            };
            let object = trace.object.each_ref().map(String::as_str);
            let at = time(&row[0]);
            let history = story.history(&object, &trace.fields);
            let is_found = history.iter().any(|version| {
                version.at.micros_since(at).unsigned_abs() <= near && shows(version, &trace.shows)
            });
            assert!(is_found, "{row:?}: {history:#?}");
            found += 1;
        }
    }
    assert_eq!((found, unseen), (92, 22));
}

fn shows(version: &HistoryVersion, shows: &Shows) -> bool {
    let changes = version.changes.iter().flatten();
    match shows {
        Shows::Begins => version.place == VersionPlace::First,
        Shows::Ends => version.kind == EventType::Deleted,
        Shows::Gone => changes.clone().any(|change| change.new.is_none()),
        Shows::Changed => changes.clone().any(|change| change.new.is_some()),
        Shows::Value(wanted) => changes.clone().any(|change| {
            let new = change.new.as_ref().map(text);
            new.is_some_and(|new| {
                if wanted.is_empty() {
                    new.is_empty()
                } else {
                    new.starts_with(wanted)
                }
            })
        }),
    }
}

/// Says where a deed shows; `None` if it shows in no object.
fn trace(what: &str) -> Option<Trace> {
    let (words, details) = match what.split_once('{') {
        Some((words, details)) => (words.trim(), format!("{{{details}")),
        None => (what, String::new()),
    };
    // Long details break off; what is needed of them stands before.
    let detail = |name: &str| {
        let (_, after) = details.split_once(&format!("\"{name}\": \""))?;
        after.split_once('"').map(|(value, _)| value.to_owned())
    };
    if let Some(operator) = detail("operator") {
        let (kind, begun) = words.split_once(' ')?;
        let is_begun = begun == "begins";
        let (kind, value) = match kind {
            "Degraded" => ("Degraded", is_begun),
            _ => ("Available", !is_begun),
        };
        let field = format!(".status.conditions[{kind}].status");
        let value = text(&Value::from(value));
        return Some(of(
            ["clusteroperators", "", &operator],
            &field,
            Shows::Value(value),
        ));
    }
    if let Some(pod) = detail("pod") {
        return pod_trace(words, &pod, detail("reason"));
    }
    admin_trace(words).or_else(|| node_trace(words))
}

fn of(object: [&str; 3], field: &str, shows: Shows) -> Trace {
    Trace {
        object: object.map(str::to_owned),
        fields: vec![field.to_owned()],
        shows,
    }
}

fn pod_trace(words: &str, pod: &str, reason: Option<String>) -> Option<Trace> {
    let object = ["pods", "openshift-cluster-version", pod];
    let phase = ".status.phase";
    Some(match words {
        "CVO process started for Pod" => of(object, phase, Shows::Value("Running".to_owned())),
        "CVO process ended after Pod deletion" => of(object, phase, Shows::Ends),
        "attempt" => of(object, phase, Shows::Begins),
        "init container waiting" => {
            let field = ".status.initContainerStatuses.state.waiting.reason";
            of(object, field, Shows::Value(reason?))
        }
        "Failed DeadlineExceeded" => of(
            object,
            ".status.reason",
            Shows::Value("DeadlineExceeded".to_owned()),
        ),
        "succeeded" => of(object, phase, Shows::Value("Succeeded".to_owned())),
        other => panic!("nobody checks {other}"),
    })
}

fn admin_trace(words: &str) -> Option<Trace> {
    let version = ["clusterversions", "", "version"];
    let lease = ["leases", "openshift-cluster-version", "version"];
    let image = ".spec.desiredUpdate.image";
    let release = |digits: &str| {
        let start = "quay.a.example.org/openshift-release-dev/ocp-release@sha256:";
        Shows::Value(format!("{start}{digits}"))
    };
    let signature = |name: &str| {
        of(
            ["configmaps", "openshift-config-managed", name],
            ".metadata.name",
            Shows::Begins,
        )
    };
    let begins = |words: &str| {
        words
            .split([',', ':'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    Some(match begins(words).as_str() {
        "CRDs and configuration objects are created" => of(
            ["crd", "", "clusterversions.config.openshift.io"],
            ".metadata.name",
            Shows::Begins,
        ),
        "bootstrap CVO process started" => of(
            lease,
            ".spec.holderIdentity",
            Shows::Value("bootstrap_".to_owned()),
        ),
        "bootstrap CVO told to stop" => {
            of(lease, ".spec.holderIdentity", Shows::Value(String::new()))
        }
        "user workload created" => of(
            ["deployments", "shop", "web"],
            ".metadata.name",
            Shows::Begins,
        ),
        "install complete; quiet period" => of(
            version,
            ".status.history[0].state",
            Shows::Value("Completed".to_owned()),
        ),
        "upgrade to an unsigned digest" => of(version, image, release("d0d4b05f")),
        "redirected to the right digest" => of(version, image, release("e28eecaf")),
        "signature for the wrong digest added" => {
            signature("sha256-d0d4b05ffbb6ce9869710a460295777bb143dd9ba8ccca006ff45a11ae28b11d")
        }
        "signature for the right digest added" => {
            signature("sha256-e28eecaf2a236b3a7bf69d46288aaa0dcffc2452deaacc4020abad698becbc86")
        }
        "PDB of the user workload relaxed from minAvailable 2 to 1" => of(
            ["pdb", "shop", "web"],
            ".spec.minAvailable",
            Shows::Value("1".to_owned()),
        ),
        _ => return None,
    })
}

fn node_trace(words: &str) -> Option<Trace> {
    let mut parts: Vec<&str> = words.split(' ').collect();
    if words.starts_with("pool update") {
        let (pool, deed) = parts.split_last()?;
        let is_done = deed.last() == Some(&"done");
        let object = ["machineconfigpools", "", *pool];
        let value = text(&Value::from(is_done));
        return Some(of(
            object,
            ".status.conditions[Updated].status",
            Shows::Value(value),
        ));
    }
    if words.starts_with("node update begins") {
        parts.pop();
    }
    let (node, deed) = parts.split_last()?;
    let object = ["nodes", "", *node];
    let annotation = |name: &str| format!(r#".metadata.annotations["{name}"]"#);
    let daemon = |name: &str| annotation(&format!("machineconfiguration.openshift.io/{name}"));
    let ready = ".status.conditions[Ready].status";
    Some(match deed.join(" ").as_str() {
        "node joined and Ready" | "node Ready again" => {
            of(object, ready, Shows::Value("True".to_owned()))
        }
        "node update begins" => of(object, &daemon("desiredConfig"), Shows::Changed),
        "cordoned, drain begins" => of(
            object,
            ".spec.unschedulable",
            Shows::Value("True".to_owned()),
        ),
        "drained" => of(
            object,
            &daemon("lastAppliedDrain"),
            Shows::Value("drain-".to_owned()),
        ),
        "node goes down for reboot" => of(
            object,
            &annotation("test.example.org/reboot"),
            Shows::Changed,
        ),
        "kubelet back, NotReady" => of(object, ".status.nodeInfo.bootID", Shows::Changed),
        "uncordoned, node update done" => of(object, ".spec.unschedulable", Shows::Gone),
        _ => return None,
    })
}
