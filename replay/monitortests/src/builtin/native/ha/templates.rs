//! Checks of the Pod template of a workload alone.

use super::frame::{HaCheck, HaProblems, HaViolation, HaWatcher};
use crate::applies::RuleClass;
use crate::feed::{Action, Interest, WatchedEvent};
use crate::reading;
use crate::verdict::FindingSubject;
use kubereel_history::{LabelSelector, Quantity};
use serde_json::Value;
use std::collections::BTreeMap;

const READS: &[&str] = &[
    "deployments.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "pods",
];
/// A container that asks for less than this asks for nothing.
const LEAST_CPU: &str = "5m";
const CRITICAL: [&str; 3] = [
    "openshift-user-critical",
    "system-cluster-critical",
    "system-node-critical",
];

/// What a workload says.
struct PodTemplate<'a> {
    /// `deployments`, `statefulsets`, `daemonsets` or `pods`.
    plural: &'a str,
    name: &'a str,
    /// 1 for a bare Pod, as the API's default has it; `None` for one on every node.
    replicas: Option<u64>,
    labels: Option<&'a Value>,
    spec: &'a Value,
}

type TemplateCheck = fn(&PodTemplate<'_>) -> Option<HaViolation>;

/// Follows what workloads say of themselves.
struct Templates {
    judge: TemplateCheck,
}

/// Returns the checks of templates.
pub(super) fn checks() -> Vec<HaCheck> {
    let check = |id, junit, description, wants_several_nodes, judge: TemplateCheck| HaCheck {
        id,
        junit,
        description,
        class: RuleClass::Policy,
        reads: READS,
        wants_several_nodes,
        at_least_micros: 0,
        watcher: Box::new(Templates { judge }),
    };
    vec![
        check(
            "ha-health-checks",
            "pods in ns/{namespace} should define health checks",
            "Every container has a liveness probe; one with a port that is not for metrics also has a readiness and a startup probe. Pods that run once are left out.",
            false,
            health_checks,
        ),
        check(
            "ha-replicas",
            "pods in ns/{namespace} should have sufficient replicas for HA",
            "Deployments and StatefulSets have two replicas or more. Those scaled to none are left out.",
            true,
            replicas,
        ),
        check(
            "ha-anti-affinity",
            "pods in ns/{namespace} should be kept apart by podAntiAffinity",
            "Workloads with several replicas keep their own Pods apart by podAntiAffinity or topologySpreadConstraints.",
            true,
            anti_affinity,
        ),
        check(
            "ha-priority",
            "pods in ns/{namespace} should have a critical priority class",
            "Workloads of the platform are openshift-user-critical, system-cluster-critical or system-node-critical.",
            false,
            priority,
        ),
        check(
            "ha-requests",
            "pods in ns/{namespace} should request cpu and memory",
            "Every container requests memory and at least 5m of cpu.",
            false,
            requests,
        ),
    ]
}

impl HaWatcher for Templates {
    fn interests(&self) -> Vec<Interest> {
        let of = |plural| Interest::new("apps", plural, ["spec.replicas", "spec.template"]);
        vec![
            of("deployments"),
            of("statefulsets"),
            Interest::new("apps", "daemonsets", ["spec.template"]),
            Interest::new(
                "",
                "pods",
                [
                    "metadata.ownerReferences",
                    "spec.containers",
                    "spec.priorityClassName",
                    "spec.restartPolicy",
                ],
            ),
        ]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>, spells: &mut HaProblems) {
        let plural = seen.resource.plural.as_str();
        if plural == "pods" && (is_owned(seen.now) || runs_once(seen.now)) {
            return;
        }
        let subject = subject(seen);
        if seen.action == Action::Gone {
            spells.end(&subject, seen.at);
            return;
        }
        let Some(told) = told(seen) else { return };
        let wrong = (self.judge)(&told);
        spells.say(&subject, seen.at, seen.seq, wrong);
    }
}

/// Names the object of an event.
pub(super) fn subject(seen: &WatchedEvent<'_>) -> FindingSubject {
    FindingSubject {
        resource: seen.resource.qualified(),
        namespace: seen.key.namespace.to_owned(),
        name: seen.key.name.to_owned(),
        keys: BTreeMap::new(),
    }
}

fn is_owned(pod: &Value) -> bool {
    let owners = reading::at(pod, "/metadata/ownerReferences");
    owners
        .and_then(Value::as_array)
        .is_some_and(|owners| !owners.is_empty())
}

fn runs_once(pod: &Value) -> bool {
    let policy = reading::at(pod, "/spec/restartPolicy").and_then(Value::as_str);
    matches!(policy, Some("Never" | "OnFailure"))
}

fn told<'a>(seen: &'a WatchedEvent<'_>) -> Option<PodTemplate<'a>> {
    let plural = seen.resource.plural.as_str();
    let name = seen.key.name;
    if plural == "pods" {
        return Some(PodTemplate {
            plural,
            name,
            replicas: Some(1),
            labels: None,
            spec: seen.now.get("spec")?,
        });
    }
    Some(PodTemplate {
        plural,
        name,
        replicas: (plural != "daemonsets").then(|| number(seen.now, "/spec/replicas").unwrap_or(1)),
        labels: reading::at(seen.now, "/spec/template/metadata/labels"),
        spec: reading::at(seen.now, "/spec/template/spec")?,
    })
}

/// Returns a whole number of a document.
pub(super) fn number(object: &Value, path: &str) -> Option<u64> {
    reading::at(object, path).and_then(Value::as_u64)
}

impl PodTemplate<'_> {
    fn what(&self) -> String {
        let kind = match self.plural {
            "deployments" => "Deployment",
            "statefulsets" => "StatefulSet",
            "daemonsets" => "DaemonSet",
            _ => "Pod",
        };
        format!("{kind} {}", self.name)
    }

    fn containers(&self) -> impl Iterator<Item = &Value> {
        let list = self.spec.get("containers").and_then(Value::as_array);
        list.into_iter().flatten()
    }
}

fn name(container: &Value) -> &str {
    container
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn health_checks(told: &PodTemplate<'_>) -> Option<HaViolation> {
    let mut missing = Vec::new();
    for container in told.containers() {
        let ports = container.get("ports").and_then(Value::as_array);
        let serves = ports
            .into_iter()
            .flatten()
            .any(|port| port.get("name").and_then(Value::as_str) != Some("metrics"));
        let wanted: &[&str] = if serves {
            &["livenessProbe", "readinessProbe", "startupProbe"]
        } else {
            &["livenessProbe"]
        };
        let lacks: Vec<&str> = wanted
            .iter()
            .filter(|probe| container.get(**probe).is_none())
            .copied()
            .collect();
        if !lacks.is_empty() {
            missing.push(format!(
                "container {} has no {}",
                name(container),
                lacks.join(", no ")
            ));
        }
    }
    (!missing.is_empty()).then(|| HaViolation {
        reason: "MissingProbe",
        message: format!("{}: {}", told.what(), missing.join("; ")),
    })
}

fn replicas(told: &PodTemplate<'_>) -> Option<HaViolation> {
    let is_scaled = matches!(told.plural, "deployments" | "statefulsets");
    (is_scaled && told.replicas == Some(1)).then(|| HaViolation {
        reason: "OneReplica",
        message: format!("{} has one replica", told.what()),
    })
}

fn anti_affinity(told: &PodTemplate<'_>) -> Option<HaViolation> {
    if told.plural == "pods" || told.replicas.is_none_or(|replicas| replicas < 2) {
        return None;
    }
    let affinity = reading::at(told.spec, "/affinity/podAntiAffinity");
    let terms = |list: &str| {
        let terms = affinity.and_then(|affinity| affinity.get(list));
        terms.and_then(Value::as_array).into_iter().flatten()
    };
    let hard = terms("requiredDuringSchedulingIgnoredDuringExecution");
    let soft = terms("preferredDuringSchedulingIgnoredDuringExecution")
        .filter_map(|term| term.get("podAffinityTerm"));
    let spread = told
        .spec
        .get("topologySpreadConstraints")
        .and_then(Value::as_array);
    let mut rules = hard.chain(soft).chain(spread.into_iter().flatten());
    let is_apart = rules.any(|rule| takes(rule.get("labelSelector"), told.labels) != Some(false));
    (!is_apart).then(|| HaViolation {
        reason: "MissingAntiAffinity",
        message: format!(
            "{} has {} replicas, and nothing keeps them apart",
            told.what(),
            told.replicas.unwrap_or_default()
        ),
    })
}

fn priority(told: &PodTemplate<'_>) -> Option<HaViolation> {
    let class = told.spec.get("priorityClassName").and_then(Value::as_str);
    if class.is_some_and(|class| CRITICAL.contains(&class)) {
        return None;
    }
    Some(HaViolation {
        reason: "LowPriority",
        message: match class {
            Some(class) => format!("{} has the priority class {class}", told.what()),
            None => format!("{} has no priority class", told.what()),
        },
    })
}

fn requests(told: &PodTemplate<'_>) -> Option<HaViolation> {
    let mut missing = Vec::new();
    for container in told.containers() {
        let requests = reading::at(container, "/resources/requests");
        let cpu = requests.and_then(|requests| requests.get("cpu"));
        let mut lacks = Vec::new();
        match cpu {
            None => lacks.push("no cpu".to_owned()),
            Some(cpu) => lacks.extend(small_cpu(cpu).map(|cpu| format!("only {cpu} of cpu"))),
        }
        if requests
            .and_then(|requests| requests.get("memory"))
            .is_none()
        {
            lacks.push("no memory".to_owned());
        }
        if !lacks.is_empty() {
            missing.push(format!(
                "container {} requests {}",
                name(container),
                lacks.join(" and ")
            ));
        }
    }
    (!missing.is_empty()).then(|| HaViolation {
        reason: "MissingRequests",
        message: format!("{}: {}", told.what(), missing.join("; ")),
    })
}

/// Returns a request for CPU that is as good as none.
fn small_cpu(request: &Value) -> Option<Quantity> {
    let number = request.is_number().then(|| request.to_string());
    let asked = Quantity::parse(number.as_deref().or(request.as_str())?)?;
    let is_small = asked.compare(Quantity::parse(LEAST_CPU)?).is_lt();
    is_small.then_some(asked)
}

/// Returns whether a label selector takes an object with these labels; `None` if that is not known. An
/// empty selector takes all; without one nothing is taken.
pub(super) fn takes(selector: Option<&Value>, labels: Option<&Value>) -> Option<bool> {
    let Some(selector) = selector.filter(|selector| !selector.is_null()) else {
        return Some(false);
    };
    let selector = LabelSelector::of_value(selector)?;
    Some(selector.matches_with(|key| labels?.get(key)?.as_str()))
}

#[cfg(test)]
mod templates_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_small_request_for_cpu_is_small_in_every_form() {
        let small = |request: &Value| small_cpu(request).map(|cpu| cpu.to_string());
        assert_eq!(small(&json!("4m")).as_deref(), Some("4m"));
        assert_eq!(small(&json!("0.001")).as_deref(), Some("1m"));
        for enough in [
            json!("5m"),
            json!("2"),
            json!(1),
            json!("0.5"),
            json!("x"),
            json!(null),
        ] {
            assert_eq!(small(&enough), None, "{enough}");
        }
    }

    #[test]
    fn a_port_for_metrics_wants_liveness_only() {
        let told = |spec: &Value| {
            health_checks(&PodTemplate {
                plural: "deployments",
                name: "a",
                replicas: Some(2),
                labels: None,
                spec,
            })
            .map(|wrong| wrong.message)
        };
        let metrics = json!({"containers": [
            {"name": "c", "ports": [{"name": "metrics"}], "livenessProbe": {}}
        ]});
        assert_eq!(told(&metrics), None);
        let serving = json!({"containers": [
            {"name": "c", "ports": [{"name": "https"}], "livenessProbe": {}}
        ]});
        assert_eq!(
            told(&serving).as_deref(),
            Some("Deployment a: container c has no readinessProbe, no startupProbe")
        );
    }
}

#[cfg(test)]
mod selector_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_selector_that_is_not_understood_neither_takes_nor_leaves() {
        let labels = json!({"app": "a"});
        let term = json!({"key": "app", "operator": "Like", "values": ["a"]});
        let odd = json!({"matchExpressions": [term]});
        assert_eq!(takes(Some(&odd), Some(&labels)), None);
        assert_eq!(takes(Some(&json!({"app": "a"})), Some(&labels)), Some(true));
        assert_eq!(takes(Some(&json!({})), None), Some(true));
        assert_eq!(takes(None, Some(&labels)), Some(false));
    }
}
