//! Causes on OpenShift: what configures an operator or a pool, and the release that an operator goes to.

use super::life::{Life, causes, condition, lines};
use kubereel_history::timetext;
use kubereel_problems::ProblemList;
use serde_json::{Value, json};

const OPERATORS: &str = "clusteroperators.config.openshift.io";
const VERSIONS: &str = "clusterversions.config.openshift.io";

fn operator(version: &str, degraded: &str, progressing: &str, related: &Value) -> Value {
    json!({"status": {
        "conditions": [
            condition("Available", "True", "", ""),
            condition("Progressing", progressing, "", ""),
            condition("Degraded", degraded, "StorageError", "the storage cannot be reached"),
        ],
        "versions": [{"name": "operator", "version": version}],
        "relatedObjects": related,
    }})
}

#[test]
fn the_configuration_that_an_operator_lists_is_its_likeliest_cause() {
    let configs = "configs.imageregistry.operator.openshift.io";
    let builds = "builds.config.openshift.io";
    let mut life = Life::of(&[
        (OPERATORS, "ClusterOperator"),
        (configs, "Config"),
        (builds, "Build"),
    ]);
    let related = json!([
        {"group": "imageregistry.operator.openshift.io", "resource": "configs", "name": "cluster"}]);
    life.put(
        OPERATORS,
        "image-registry",
        operator("1", "False", "False", &related),
    );
    let config = |bucket: &str| json!({"spec": {"storage": {"s3": {"bucket": bucket}}}});
    life.put(configs, "cluster", config("good"));
    life.put(
        builds,
        "cluster",
        json!({"spec": {"buildDefaults": {"a": 1}}}),
    );
    life.until("14:10:00");
    life.put(configs, "cluster", config("typo"));
    // It configures another operator.
    life.put(
        builds,
        "cluster",
        json!({"spec": {"buildDefaults": {"a": 2}}}),
    );
    life.until("14:13:00");
    life.put(
        OPERATORS,
        "image-registry",
        operator("1", "True", "False", &related),
    );
    let list = life.end("14:30:00");
    assert_eq!(
        lines(&list),
        ["ClusterOperator image-registry StorageError"]
    );
    let problem = list.problems.first().expect("a problem");
    assert_eq!(causes(problem), ["Config cluster spec.storage.s3.bucket"]);
}

/// The times of the causes of an operator that is degraded at 14:13:00, after its configuration got values.
fn causes_after(values: &[(&str, &str)]) -> Vec<String> {
    let configs = "configs.imageregistry.operator.openshift.io";
    let mut life = Life::of(&[(OPERATORS, "ClusterOperator"), (configs, "Config")]);
    let related = json!([
        {"group": "imageregistry.operator.openshift.io", "resource": "configs", "name": "cluster"}]);
    let registry = |degraded: &str| operator("1", degraded, "False", &related);
    let config = |bucket: &str| json!({"spec": {"storage": {"s3": {"bucket": bucket}}}});
    life.put(OPERATORS, "image-registry", registry("False"));
    life.put(configs, "cluster", config("good"));
    for (at, bucket) in values {
        life.until(at);
        life.put(configs, "cluster", config(bucket));
    }
    life.until("14:13:00");
    life.put(OPERATORS, "image-registry", registry("True"));
    let list = life.end("14:30:00");
    let problem = list.problems.first().expect("a problem");
    let times = problem.causes.iter().map(|cause| cause.at.at);
    times.map(timetext::rfc3339_secs).collect()
}

#[test]
fn what_was_changed_back_before_the_failure_is_not_its_cause() {
    let none: [&str; 0] = [];
    assert_eq!(
        causes_after(&[("14:05:00", "typo"), ("14:08:00", "good")]),
        none
    );
    // What was changed back a moment before may have had its effect.
    let just_before = causes_after(&[("14:05:00", "typo"), ("14:12:50", "good")]);
    assert_eq!(just_before.len(), 1, "{just_before:?}");
    // What was changed once more is the cause.
    let again = [
        ("14:05:00", "typo"),
        ("14:07:00", "good"),
        ("14:09:00", "typo"),
    ];
    assert_eq!(causes_after(&again), ["2026-11-21T14:09:00Z"]);
}

#[test]
fn the_configuration_with_the_name_of_an_operator_is_its_own() {
    let consoles = "consoles.operator.openshift.io";
    let mut life = Life::of(&[(OPERATORS, "ClusterOperator"), (consoles, "Console")]);
    life.put(
        OPERATORS,
        "console",
        operator("1", "False", "False", &json!([])),
    );
    life.put(
        consoles,
        "cluster",
        json!({"spec": {"logLevel": "Normal", "observedConfig": {"a": 1}}}),
    );
    life.until("14:10:00");
    // What the operator itself notes there is no cause.
    life.put(
        consoles,
        "cluster",
        json!({"spec": {"logLevel": "Normal", "observedConfig": {"a": 2}}}),
    );
    life.until("14:10:10");
    life.put(
        OPERATORS,
        "console",
        operator("1", "True", "False", &json!([])),
    );
    life.until("14:12:00");
    life.put(
        OPERATORS,
        "console",
        operator("1", "False", "False", &json!([])),
    );
    life.until("14:50:00");
    life.put(
        consoles,
        "cluster",
        json!({"spec": {"logLevel": "Trace", "observedConfig": {"a": 2}}}),
    );
    life.until("14:51:00");
    life.put(
        OPERATORS,
        "console",
        operator("1", "True", "False", &json!([])),
    );
    let list = life.end("15:10:00");
    let found: Vec<Vec<String>> = list.problems.iter().map(causes).collect();
    assert_eq!(
        found,
        [vec!["Console cluster spec.logLevel".to_owned()], Vec::new()]
    );
}

#[test]
fn what_owns_the_owner_is_what_somebody_edited() {
    let (sites, apps) = ("sites.example.com", "apps.example.com");
    let deployments = "deployments.apps";
    let mut life = Life::of(&[(sites, "Site"), (apps, "App"), (deployments, "Deployment")]);
    let owned = |kind: &str, spec: Value, available: &str| {
        json!({
            "metadata": {"generation": 1, "ownerReferences": [
                {"kind": kind, "name": "shop", "uid": kind, "controller": true}]},
            "spec": spec,
            "status": {"availableReplicas": u8::from(available == "True"), "conditions": [
                condition("Available", available, "MinimumReplicasUnavailable", "")]},
        })
    };
    let template = |image: &str| json!({"replicas": 1, "template": {"spec": {"containers": [{"name": "web", "image": image}]}}});
    life.put(sites, "web/shop", json!({"spec": {"release": "1"}}));
    life.put(
        apps,
        "web/shop",
        owned("Site", json!({"image": "shop:1"}), ""),
    );
    life.put(
        deployments,
        "web/shop",
        owned("App", template("shop:1"), "True"),
    );
    life.until("14:10:00");
    life.put(sites, "web/shop", json!({"spec": {"release": "2"}}));
    life.until("14:10:01");
    life.put(
        apps,
        "web/shop",
        owned("Site", json!({"image": "shop:2"}), ""),
    );
    life.until("14:10:02");
    life.put(
        deployments,
        "web/shop",
        owned("App", template("shop:2"), "True"),
    );
    life.until("14:10:10");
    life.put(
        deployments,
        "web/shop",
        owned("App", template("shop:2"), "False"),
    );
    let list = life.end("14:30:00");
    let found: Vec<Vec<String>> = list.problems.iter().map(causes).collect();
    let expected = [vec![
        "Site web/shop spec.release".to_owned(),
        "App web/shop spec.image".to_owned(),
        "Deployment web/shop spec.template.spec.containers[web].image".to_owned(),
    ]];
    assert_eq!(found, expected);
}

/// An upgrade is asked for at 14:05, the operator moves from 14:30 to 14:40, and is degraded from a time on.
fn upgraded(degraded: &str) -> ProblemList {
    let mut life = Life::of(&[(OPERATORS, "ClusterOperator"), (VERSIONS, "ClusterVersion")]);
    let version = |wanted: Value, history: &[(&str, &str)]| {
        let entries: Vec<Value> = history
            .iter()
            .map(|(version, state)| {
                json!({
                    "version": version, "image": version, "state": state,
                    "startedTime": format!("2026-11-21T1{version}:00:00Z"),
                })
            })
            .collect();
        let newest = history.first().map_or("", |(version, _)| version);
        json!({
            "spec": {"desiredUpdate": wanted},
            "status": {"desired": {"version": newest, "image": newest}, "history": entries},
        })
    };
    let mut is_degraded = false;
    let mut put = |life: &mut Life, time: &str, version: &str, progressing: &str| {
        if !is_degraded && degraded <= time {
            life.until(degraded);
            is_degraded = true;
        } else {
            life.until(time);
        }
        let status = if is_degraded { "True" } else { "False" };
        life.put(
            OPERATORS,
            "etcd",
            operator(version, status, progressing, &json!([])),
        );
    };
    life.put(
        VERSIONS,
        "version",
        version(Value::Null, &[("1", "Completed")]),
    );
    put(&mut life, "14:01:00", "1", "False");
    let wanted = json!({"version": "2", "image": "2"});
    life.until("14:05:00");
    life.put(
        VERSIONS,
        "version",
        version(wanted.clone(), &[("1", "Completed")]),
    );
    let taken_up = [("2", "Partial"), ("1", "Completed")];
    life.put(VERSIONS, "version", version(wanted, &taken_up));
    put(&mut life, "14:30:00", "1", "True");
    put(&mut life, "14:35:00", "1", "True");
    put(&mut life, "14:40:00", "2", "False");
    put(&mut life, "14:55:00", "2", "False");
    life.end("15:20:00")
}

#[test]
fn an_upgrade_is_a_cause_for_as_long_as_the_operator_is_rolled_out() {
    let asked = "ClusterVersion version spec.desiredUpdate";
    for (time, expected) in [("14:33:00", true), ("14:50:00", false)] {
        let list = upgraded(time);
        let of_operator = list.problems.iter();
        let mut of_operator = of_operator.filter(|one| one.object.kind == "ClusterOperator");
        let problem = of_operator.next().expect("a degraded operator");
        let found = causes(problem).iter().any(|cause| cause == asked);
        assert_eq!(found, expected, "{time}: {:?}", problem.causes);
    }
}

#[test]
fn a_new_kubelet_configuration_is_the_cause_of_a_degraded_pool() {
    let pools = "machineconfigpools.machineconfiguration.openshift.io";
    let kubelets = "kubeletconfigs.machineconfiguration.openshift.io";
    let configs = "machineconfigs.machineconfiguration.openshift.io";
    let mut life = Life::of(&[
        (pools, "MachineConfigPool"),
        (kubelets, "KubeletConfig"),
        (configs, "MachineConfig"),
    ]);
    let pool = |degraded: &str| {
        let updated = if degraded == "True" { "False" } else { "True" };
        json!({
            "metadata": {"labels": {"tuned": "worker"}},
            "spec": {"machineConfigSelector": {"matchExpressions": [
                {"key": "role", "operator": "In", "values": ["worker"]}]}},
            "status": {"conditions": [
                condition("Updated", updated, "", ""),
                condition("Degraded", degraded, "NodesDegraded", "one node is not configured"),
            ]},
        })
    };
    life.put(pools, "worker", pool("False"));
    life.until("14:10:00");
    life.put(
        kubelets,
        "tuning",
        json!({"spec": {"machineConfigPoolSelector": {"matchLabels": {"tuned": "worker"}}}}),
    );
    // What the controller makes of it, and what belongs to another pool.
    let made = json!({"metadata": {"labels": {"role": "worker"}, "ownerReferences": [
        {"kind": "KubeletConfig", "name": "tuning", "uid": "k"}]}});
    life.put(configs, "99-worker-generated-kubelet", made);
    life.put(
        configs,
        "99-master",
        json!({"metadata": {"labels": {"role": "master"}}}),
    );
    life.put(
        configs,
        "rendered-worker-1",
        json!({"metadata": {"labels": {"role": "worker"}}}),
    );
    life.until("14:15:00");
    life.put(pools, "worker", pool("True"));
    let list = life.end("14:30:00");
    let problem = list.problems.first().expect("a problem");
    let found: Vec<&str> = problem
        .causes
        .iter()
        .map(|cause| cause.object.name.as_str())
        .collect();
    assert_eq!(found, ["tuning", "99-worker-generated-kubelet"]);
}

#[test]
fn a_resource_follows_the_references_of_what_it_refers_to() {
    let (buckets, providers) = ("buckets.s3.example.com", "providerconfigs.aws.example.com");
    let mut life = Life::of(&[
        (buckets, "Bucket"),
        (providers, "ProviderConfig"),
        ("secrets", "Secret"),
    ]);
    let credentials = |secret: &str| json!({"data": {"credentials": secret}});
    life.put("secrets", "web/keys", credentials("b25l"));
    life.put("secrets", "web/other", credentials("b25l"));
    life.put(
        providers,
        "web/aws",
        json!({"spec": {"credentials": {"secretRef": {"namespace": "web", "name": "keys"}}}}),
    );
    let bucket = |synced: &str| {
        let conditions = [condition(
            "Synced",
            synced,
            "ReconcileError",
            "the token is invalid",
        )];
        json!({"spec": {"providerConfigRef": {"name": "aws"}}, "status": {"conditions": conditions}})
    };
    life.put(buckets, "web/pictures", bucket("True"));
    life.until("14:10:00");
    life.put("secrets", "web/keys", credentials("dHdv"));
    life.put("secrets", "web/other", credentials("dHdv"));
    life.until("14:10:05");
    life.put(buckets, "web/pictures", bucket("False"));
    let list = life.end("14:30:00");
    let problem = list.problems.first().expect("a problem");
    let found = causes(problem);
    // The creation of the object is in the recording too.
    let expected = ["Secret web/keys data.credentials", "Bucket web/pictures "];
    assert_eq!(found, expected);
}

/// A Pod with an application and a proxy, each with its own `ConfigMap`; a container crashes with an error.
fn pod(name: &str, container: &str, message: &str) -> Value {
    let reads = |map: &str| json!([{"configMapRef": {"name": map}}]);
    let status = |of: &str| {
        let ended = json!({"exitCode": 1, "reason": "Error", "message": message});
        if of == container {
            json!({"name": of, "ready": false, "restartCount": 6,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
                "lastState": {"terminated": ended}})
        } else {
            json!({"name": of, "ready": true, "restartCount": 0, "state": {"running": {}}})
        }
    };
    json!({
        "metadata": {"labels": {"app": name}},
        "spec": {"nodeName": "one", "containers": [
            {"name": "app", "envFrom": reads("greetings"),
                "env": [{"name": "DATABASE_URL", "value": "postgres://storage:5432/shop"}]},
            {"name": "proxy", "envFrom": reads("routes")},
        ]},
        "status": {"phase": "Running", "containerStatuses": [status("app"), status("proxy")]},
    })
}

#[test]
fn the_data_of_the_container_that_fails_comes_first() {
    let mut life = Life::of(&[("pods", "Pod"), ("configmaps", "ConfigMap")]);
    let data = |value: &str| json!({"data": {"value": value}});
    life.put("configmaps", "web/greetings", data("one"));
    life.put("configmaps", "web/routes", data("one"));
    life.put("pods", "web/shop", pod("shop", "", ""));
    life.until("14:10:00");
    life.put("configmaps", "web/routes", data("two"));
    life.until("14:10:03");
    life.put("configmaps", "web/greetings", data("two"));
    life.until("14:10:05");
    life.put("pods", "web/shop", pod("shop", "proxy", "cannot parse"));
    let list = life.end("14:30:00");
    let found: Vec<Vec<String>> = list.problems.iter().map(causes).collect();
    let expected = [
        "ConfigMap web/routes data.value",
        "ConfigMap web/greetings data.value",
    ];
    assert_eq!(found, [expected.map(str::to_owned)]);
}

#[test]
fn what_serves_a_service_that_a_container_calls_is_a_cause_of_its_failure() {
    for (message, expected) in [
        ("could not connect to storage: connection refused", true),
        ("unknown flag", false),
    ] {
        let mut life = Life::of(&[
            ("pods", "Pod"),
            ("services", "Service"),
            ("deployments.apps", "Deployment"),
        ]);
        let database = |replicas: u8| {
            json!({"spec": {"replicas": replicas, "template": {
                "metadata": {"labels": {"app": "storage"}},
                "spec": {"containers": [{"name": "db"}]}}}, "status": {"replicas": replicas}})
        };
        life.put(
            "services",
            "web/storage",
            json!({"spec": {"selector": {"app": "storage"}}}),
        );
        life.put("deployments.apps", "web/storage", database(1));
        life.put("pods", "web/shop", pod("shop", "", ""));
        life.until("14:10:00");
        life.put("deployments.apps", "web/storage", database(0));
        life.until("14:10:05");
        life.put("pods", "web/shop", pod("shop", "app", message));
        let list = life.end("14:30:00");
        let mut of_pod = list.problems.iter().filter(|one| one.object.kind == "Pod");
        let problem = of_pod.next().expect("a problem");
        let found = causes(problem);
        let cause = "Deployment web/storage spec.replicas".to_owned();
        assert_eq!(found.contains(&cause), expected, "{message}: {found:?}");
    }
}

#[test]
fn a_binding_that_no_longer_names_the_account_is_a_cause() {
    let (roles, bindings) = (
        "roles.rbac.authorization.k8s.io",
        "rolebindings.rbac.authorization.k8s.io",
    );
    let mut life = Life::of(&[("pods", "Pod"), (roles, "Role"), (bindings, "RoleBinding")]);
    let binding = |account: &str| {
        json!({"roleRef": {"kind": "Role", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "web"}]})
    };
    let role = |verbs: Value| json!({"rules": [{"resources": ["pods"], "verbs": verbs}]});
    life.put(roles, "web/reader", role(json!(["list"])));
    life.put(bindings, "web/readers", binding("default"));
    life.put("pods", "web/shop", pod("shop", "", ""));
    life.until("14:10:00");
    life.put(bindings, "web/readers", binding("other"));
    life.until("14:10:02");
    // A right that is given forbids nothing.
    life.put(roles, "web/reader", role(json!(["list", "watch"])));
    life.until("14:10:05");
    let words =
        "pods is forbidden: User \"system:serviceaccount:web:default\" cannot list resource";
    life.put("pods", "web/shop", pod("shop", "app", words));
    let list = life.end("14:30:00");
    let found: Vec<Vec<String>> = list.problems.iter().map(causes).collect();
    let name = found.first().and_then(|causes| causes.first());
    let is_binding = name.is_some_and(|name| name.starts_with("RoleBinding web/readers"));
    assert!(is_binding && found.len() == 1, "{found:?}");
}

#[test]
fn a_setting_of_the_whole_cluster_is_a_cause_of_the_errors_that_it_makes() {
    let (proxies, dns) = ("proxies.config.openshift.io", "dnses.operator.openshift.io");
    let mut life = Life::of(&[
        ("pods", "Pod"),
        ("secrets", "Secret"),
        ("configmaps", "ConfigMap"),
        (proxies, "Proxy"),
        (dns, "DNS"),
    ]);
    for version in ["good", "bad"] {
        let data = json!({"data": {"value": version}});
        life.put("secrets", "openshift-config/pull-secret", data.clone());
        life.put("secrets", "openshift-config/other", data.clone());
        life.put("configmaps", "kube-system/coredns", data.clone());
        life.put("configmaps", "kube-system/other", data);
        let spec = json!({"spec": {"httpsProxy": version, "servers": [version]}});
        life.put(proxies, "cluster", spec.clone());
        life.put(dns, "default", spec);
        life.wait(600_000);
    }
    let image = "reading manifest: unauthorized: access is not authorized";
    let proxy = "pinging registry: proxyconnect tcp: connection refused";
    let host = "lookup api.example.com: no such host";
    let waits = |message: &str| json!({"waiting": {"reason": "ErrImagePull", "message": message}});
    let ended = json!({"terminated": {"exitCode": 1, "reason": "Error", "message": host}});
    for (pod, state) in [
        ("web/image", waits(image)),
        ("web/proxy", waits(proxy)),
        ("web/host", ended),
    ] {
        let status = json!([{"name": "c", "ready": false, "state": state}]);
        let pod_of = json!({"spec": {"nodeName": "n1", "containers": [{"name": "c"}]},
            "status": {"phase": "Pending", "containerStatuses": status}});
        life.put("pods", pod, pod_of);
    }
    let list = life.end("14:25:00");
    let causes_of = |name: &str| {
        let mut all = list.problems.iter();
        let mut causes = causes(all.find(|one| one.object.name == name).expect(name));
        causes.sort();
        causes
    };
    let secret = "Secret openshift-config/pull-secret data.value";
    assert_eq!(causes_of("image"), [secret]);
    assert_eq!(causes_of("proxy"), ["Proxy cluster spec.httpsProxy"]);
    let resolving = [
        "ConfigMap kube-system/coredns data.value",
        "DNS default spec.httpsProxy",
    ];
    assert_eq!(causes_of("host"), resolving);
}
