//! What the cluster's user runs: a shop, one Pod of which crashes and another is deleted by force.

use serde_json::{Value, json};

use super::super::Moment;
use super::super::step::Act;
use super::bootstrap::namespace;
use super::teller::Teller;
use crate::kubelet::{Fate, PodMatcher};
use crate::rest::Target;

const USER: &str = "oc";

pub(super) fn tell(teller: &mut Teller<'_>) {
    let scenario = teller.scenario;
    let shop = &scenario.shop;
    let ns = shop.namespace.as_str();
    let at = Moment::from_secs(shop.created_secs);
    let crash_loop = &scenario.faults.crash_loop;
    let fate = Fate::CrashLoops {
        exit_code: crash_loop.exit_code,
        runs_secs: crash_loop.runs_secs,
        crashes: None,
    };
    let pods = PodMatcher {
        namespace: ns.to_owned(),
        label: Some(("app".to_owned(), crash_loop.app.clone())),
        ..PodMatcher::default()
    };
    teller.script.act(at, "harness", Act::Script { pods, fate });
    teller.script.create(at + 0.1, USER, namespace(ns));
    teller.create_workload(at + 1.0, USER, deployment(ns, "web", 2));
    teller.create_workload(at + 1.1, USER, deployment(ns, &crash_loop.app, 1));
    teller.script.create(
        at + 1.2,
        USER,
        json!({
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": ns},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }),
    );
    teller.script.create(at + 1.3, USER, json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": ns},
        "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}]},
    }));
    teller.script.create(
        at + 1.4,
        USER,
        json!({
            "apiVersion": "route.openshift.io/v1",
            "kind": "Route",
            "metadata": {"name": "web", "namespace": ns},
            "spec": {
                "host": format!("web-{ns}.apps.{}", scenario.cluster.base_domain),
                "to": {"kind": "Service", "name": "web", "weight": 100},
            },
        }),
    );
    let crashes_from = at + 1.1;
    teller.plant(
        "crash-loop",
        format!("Deployment {ns}/{}", crash_loop.app),
        crashes_from,
        None,
    );
    tell_stateful_set(teller, ns, at + 1.5);
    for (number, at_secs) in (1_u32..).zip(&shop.jobs_secs) {
        teller
            .script
            .create(Moment::from_secs(*at_secs), USER, job(ns, number));
    }
}

/// A Pod that comes back under its old name with a new uid.
fn tell_stateful_set(teller: &mut Teller<'_>, ns: &str, at: Moment) {
    let fault = &teller.scenario.faults.force_delete;
    let (app, deleted) = (fault.app.as_str(), Moment::from_secs(fault.at_secs));
    teller.script.create(
        at,
        USER,
        json!({
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": app, "namespace": ns},
            "spec": {
                "replicas": 1,
                "serviceName": app,
                "selector": {"matchLabels": {"app": app}},
                "template": template(app),
            },
        }),
    );
    let pod = Target::namespaced("v1", "Pod", ns, &format!("{app}-0"));
    teller.plant("force-delete", pod.to_string(), deleted, None);
    teller.script.act(
        deleted,
        USER,
        Act::Delete {
            target: pod,
            grace_secs: Some(0),
        },
    );
}

fn template(app: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": app}},
        "spec": {
            "containers": [{
                "name": app,
                "image": format!("registry.kubereel.example/shop/{app}:1.4"),
                "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
            }],
            "nodeSelector": {"node-role.kubernetes.io/worker": ""},
        },
    })
}

fn deployment(ns: &str, app: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": app, "namespace": ns},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": app}}, "template": template(app)},
    })
}

fn job(ns: &str, number: u32) -> Value {
    let mut template = template("report");
    template["spec"]["restartPolicy"] = json!("Never");
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": format!("report-{number}"), "namespace": ns},
        "spec": {"template": template, "backoffLimit": 2},
    })
}
