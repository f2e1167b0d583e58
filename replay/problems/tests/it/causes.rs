//! Causes on OpenShift: what configures an operator or a pool, and the release that an operator goes to.

use super::life::{
    CONFIG_MAPS, DEPLOYMENTS, Life, OPERATORS, PODS, SECRETS, SERVICES, VERSIONS, causes,
    condition, first, lines,
};
use kubereel_history::timetext::rfc3339_secs;
use kubereel_problems::ProblemList;
use serde_json::{Value, json};

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
    let configs = ("configs.imageregistry.operator.openshift.io", "Config");
    let builds = ("builds.config.openshift.io", "Build");
    let mut life = Life::of(&[OPERATORS, configs, builds]);
    let build = |value: u8| json!({"spec": {"buildDefaults": {"a": value}}});
    let related = json!([
        {"group": "imageregistry.operator.openshift.io", "resource": "configs", "name": "cluster"}]);
    let registry = |degraded: &str| operator("1", degraded, "False", &related);
    life.put(OPERATORS, "image-registry", registry("False"));
    let config = |bucket: &str| json!({"spec": {"storage": {"s3": {"bucket": bucket}}}});
    life.put(configs, "cluster", config("good"));
    life.put(builds, "cluster", build(1));
    life.until("14:10:00");
    life.put(configs, "cluster", config("typo"));
    // It configures another operator.
    life.put(builds, "cluster", build(2));
    life.until("14:13:00");
    life.put(OPERATORS, "image-registry", registry("True"));
    let list = life.end("14:30:00");
    let expected = ["ClusterOperator image-registry StorageError"];
    assert_eq!(lines(&list), expected);
    let problem = first(&list);
    assert_eq!(causes(problem), ["Config cluster spec.storage.s3.bucket"]);
}

/// The times of the causes of an operator that is degraded at 14:13:00, after its configuration got values.
fn causes_after(values: &[(&str, &str)]) -> Vec<String> {
    let configs = ("configs.imageregistry.operator.openshift.io", "Config");
    let mut life = Life::of(&[OPERATORS, configs]);
    let related = json!([
        {"group": "imageregistry.operator.openshift.io", "resource": "configs", "name": "cluster"}]);
    let config = |bucket: &str| json!({"spec": {"storage": {"s3": {"bucket": bucket}}}});
    let registry = |degraded: &str| operator("1", degraded, "False", &related);
    life.put(OPERATORS, "image-registry", registry("False"));
    life.put(configs, "cluster", config("good"));
    for (at, bucket) in values {
        life.until(at);
        life.put(configs, "cluster", config(bucket));
    }
    life.until("14:13:00");
    life.put(OPERATORS, "image-registry", registry("True"));
    let list = life.end("14:30:00");
    let problem = first(&list);
    let times = problem.causes.iter().map(|cause| cause.at.at);
    times.map(rfc3339_secs).collect()
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
    let consoles = ("consoles.operator.openshift.io", "Console");
    let mut life = Life::of(&[OPERATORS, consoles]);
    let console = |degraded: &str| operator("1", degraded, "False", &json!([]));
    let config = |level: &str, observed: u8| json!({"spec": {"logLevel": level, "observedConfig": {"a": observed}}});
    life.put(OPERATORS, "console", console("False"));
    life.put(consoles, "cluster", config("Normal", 1));
    life.until("14:10:00");
    // What the operator itself notes there is no cause.
    life.put(consoles, "cluster", config("Normal", 2));
    life.until("14:10:10");
    life.put(OPERATORS, "console", console("True"));
    life.until("14:12:00");
    life.put(OPERATORS, "console", console("False"));
    life.until("14:50:00");
    life.put(consoles, "cluster", config("Trace", 2));
    life.until("14:51:00");
    life.put(OPERATORS, "console", console("True"));
    let list = life.end("15:10:00");
    let found: Vec<Vec<String>> = list.problems.iter().map(causes).collect();
    let expected = [vec!["Console cluster spec.logLevel".to_owned()], Vec::new()];
    assert_eq!(found, expected);
}

#[test]
fn what_owns_the_owner_is_what_somebody_edited() {
    let sites = ("sites.example.com", "Site");
    let apps = ("apps.example.com", "App");
    let mut life = Life::of(&[sites, apps, DEPLOYMENTS]);
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
    let app = |image: &str| owned("Site", json!({"image": image}), "");
    let deployment = |image: &str, available: &str| owned("App", template(image), available);
    life.put(sites, "web/shop", json!({"spec": {"release": "1"}}));
    life.put(apps, "web/shop", app("shop:1"));
    life.put(DEPLOYMENTS, "web/shop", deployment("shop:1", "True"));
    life.until("14:10:00");
    life.put(sites, "web/shop", json!({"spec": {"release": "2"}}));
    life.until("14:10:01");
    life.put(apps, "web/shop", app("shop:2"));
    life.until("14:10:02");
    life.put(DEPLOYMENTS, "web/shop", deployment("shop:2", "True"));
    life.until("14:10:10");
    life.put(DEPLOYMENTS, "web/shop", deployment("shop:2", "False"));
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
    let mut life = Life::of(&[OPERATORS, VERSIONS]);
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
    let pools = (
        "machineconfigpools.machineconfiguration.openshift.io",
        "MachineConfigPool",
    );
    let kubelets = (
        "kubeletconfigs.machineconfiguration.openshift.io",
        "KubeletConfig",
    );
    let configs = (
        "machineconfigs.machineconfiguration.openshift.io",
        "MachineConfig",
    );
    let mut life = Life::of(&[pools, kubelets, configs]);
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
    let selector =
        json!({"spec": {"machineConfigPoolSelector": {"matchLabels": {"tuned": "worker"}}}});
    life.put(kubelets, "tuning", selector);
    // What the controller makes of it, and what belongs to another pool.
    let made = json!({"metadata": {"labels": {"role": "worker"}, "ownerReferences": [
        {"kind": "KubeletConfig", "name": "tuning", "uid": "k"}]}});
    life.put(configs, "99-worker-generated-kubelet", made);
    let of_masters = json!({"metadata": {"labels": {"role": "master"}}});
    life.put(configs, "99-master", of_masters);
    let of_workers = json!({"metadata": {"labels": {"role": "worker"}}});
    life.put(configs, "rendered-worker-1", of_workers);
    life.until("14:15:00");
    life.put(pools, "worker", pool("True"));
    let list = life.end("14:30:00");
    let problem = first(&list);
    let found: Vec<&str> = problem
        .causes
        .iter()
        .map(|cause| cause.object.name.as_str())
        .collect();
    assert_eq!(found, ["tuning", "99-worker-generated-kubelet"]);
}

#[test]
fn a_resource_follows_the_references_of_what_it_refers_to() {
    let buckets = ("buckets.s3.example.com", "Bucket");
    let providers = ("providerconfigs.aws.example.com", "ProviderConfig");
    let mut life = Life::of(&[buckets, providers, SECRETS]);
    let credentials = |secret: &str| json!({"data": {"credentials": secret}});
    life.put(SECRETS, "web/keys", credentials("b25l"));
    life.put(SECRETS, "web/other", credentials("b25l"));
    let provider =
        json!({"spec": {"credentials": {"secretRef": {"namespace": "web", "name": "keys"}}}});
    life.put(providers, "web/aws", provider);
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
    life.put(SECRETS, "web/keys", credentials("dHdv"));
    life.put(SECRETS, "web/other", credentials("dHdv"));
    life.until("14:10:05");
    life.put(buckets, "web/pictures", bucket("False"));
    let list = life.end("14:30:00");
    let problem = first(&list);
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
    let mut life = Life::of(&[PODS, CONFIG_MAPS]);
    let data = |value: &str| json!({"data": {"value": value}});
    life.put(CONFIG_MAPS, "web/greetings", data("one"));
    life.put(CONFIG_MAPS, "web/routes", data("one"));
    life.put(PODS, "web/shop", pod("shop", "", ""));
    life.until("14:10:00");
    life.put(CONFIG_MAPS, "web/routes", data("two"));
    life.until("14:10:03");
    life.put(CONFIG_MAPS, "web/greetings", data("two"));
    life.until("14:10:05");
    life.put(PODS, "web/shop", pod("shop", "proxy", "cannot parse"));
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
        let mut life = Life::of(&[PODS, SERVICES, DEPLOYMENTS]);
        let database = |replicas: u8| {
            json!({"spec": {"replicas": replicas, "template": {
                "metadata": {"labels": {"app": "storage"}},
                "spec": {"containers": [{"name": "db"}]}}}, "status": {"replicas": replicas}})
        };
        let selector = json!({"spec": {"selector": {"app": "storage"}}});
        life.put(SERVICES, "web/storage", selector);
        life.put(DEPLOYMENTS, "web/storage", database(1));
        life.put(PODS, "web/shop", pod("shop", "", ""));
        life.until("14:10:00");
        life.put(DEPLOYMENTS, "web/storage", database(0));
        life.until("14:10:05");
        life.put(PODS, "web/shop", pod("shop", "app", message));
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
    let roles = ("roles.rbac.authorization.k8s.io", "Role");
    let bindings = ("rolebindings.rbac.authorization.k8s.io", "RoleBinding");
    let mut life = Life::of(&[PODS, roles, bindings]);
    let binding = |account: &str| {
        json!({"roleRef": {"kind": "Role", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "web"}]})
    };
    let role = |verbs: Value| json!({"rules": [{"resources": ["pods"], "verbs": verbs}]});
    life.put(roles, "web/reader", role(json!(["list"])));
    life.put(bindings, "web/readers", binding("default"));
    life.put(PODS, "web/shop", pod("shop", "", ""));
    life.until("14:10:00");
    life.put(bindings, "web/readers", binding("other"));
    life.until("14:10:02");
    // A right that is given forbids nothing.
    life.put(roles, "web/reader", role(json!(["list", "watch"])));
    life.until("14:10:05");
    let words =
        "pods is forbidden: User \"system:serviceaccount:web:default\" cannot list resource";
    life.put(PODS, "web/shop", pod("shop", "app", words));
    let list = life.end("14:30:00");
    let found: Vec<Vec<String>> = list.problems.iter().map(causes).collect();
    let name = found.first().and_then(|causes| causes.first());
    let is_binding = name.is_some_and(|name| name.starts_with("RoleBinding web/readers"));
    assert!(is_binding && found.len() == 1, "{found:?}");
}

#[test]
fn a_setting_of_the_whole_cluster_is_a_cause_of_the_errors_that_it_makes() {
    let proxies = ("proxies.config.openshift.io", "Proxy");
    let dns = ("dnses.operator.openshift.io", "DNS");
    let mut life = Life::of(&[PODS, SECRETS, CONFIG_MAPS, proxies, dns]);
    for version in ["good", "bad"] {
        let data = json!({"data": {"value": version}});
        life.put(SECRETS, "openshift-config/pull-secret", data.clone());
        life.put(SECRETS, "openshift-config/other", data.clone());
        life.put(CONFIG_MAPS, "kube-system/coredns", data.clone());
        life.put(CONFIG_MAPS, "kube-system/other", data);
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
        life.put(PODS, pod, pod_of);
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
