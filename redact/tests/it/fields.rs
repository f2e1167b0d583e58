//! Tests the table of fields: one canary in each field; everything around it stays.

use crate::{redacted, redactor, same_shape};
use kubereel_redact::ResourceType;
use serde_json::{Value, json};

/// A secret that only its place reveals.
const CANARY: &str = "canary yellow bird";
/// The same in base64.
const ENCODED: &str = "Y2FuYXJ5IHllbGxvdyBiaXJk";

fn of(
    api_version: &'static str,
    plural: &'static str,
    kind: &'static str,
) -> ResourceType<'static> {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    ResourceType::new(group, plural).with_kind(kind)
}

/// Puts a value at a place, in an object with a neighbour.
fn plant(path: &str, value: Value) -> Value {
    let mut value = value;
    for step in path.rsplit('/') {
        value = match step.parse::<usize>() {
            Ok(item) => {
                let mut items = vec![Value::Null; item];
                items.push(value);
                Value::Array(items)
            }
            Err(_) => json!({step: value, "neighbour": null}),
        };
    }
    value
}

/// Every row: the kind, and the places in it.
#[rustfmt::skip]
const ROWS: &[(&str, &str, &str, &[&str])] = &[
    ("v1", "secrets", "Secret", &["stringData/k", "metadata/annotations/kubectl.kubernetes.io~last-applied-configuration"]),
    ("v1", "pods", "Pod", &["metadata/annotations/kubectl.kubernetes.io~last-applied-configuration", "metadata/annotations/openshift.io~token-secret.value"]),
    ("v1", "configmaps", "ConfigMap", &["data/kubeconfig", "data/a.conf", "data/install-config", "data/cloud.conf", "data/ca.crt", "data/htpasswd"]),
    ("machineconfiguration.openshift.io/v1", "machineconfigs", "MachineConfig", &[
        "spec/config/storage/files/1/contents/source", "spec/config/storage/files/0/append/0/source",
        "spec/config/systemd/units/0/contents", "spec/config/systemd/units/1/dropins/0/contents",
        "spec/config/networkd/units/0/contents", "spec/config/passwd/users/0/sshAuthorizedKeys/1",
        "spec/config/passwd/users/0/passwordHash", "spec/config/ignition/config/merge/0/source",
        "spec/config/ignition/config/merge/0/httpHeaders/0/value"]),
    ("machineconfiguration.openshift.io/v1", "controllerconfigs", "ControllerConfig", &[
        "spec/internalRegistryPullSecret", "spec/userCABundleData", "spec/additionalTrustBundle", "spec/cloudProviderConfig"]),
    ("route.openshift.io/v1", "routes", "Route", &["spec/tls/key", "spec/tls/externalCertificate/name"]),
    ("imageregistry.operator.openshift.io/v1", "configs", "Config", &["spec/httpSecret", "spec/storage/s3/bucket", "status/storage/gcs/bucket"]),
    ("oauth.openshift.io/v1", "oauthaccesstokens", "OAuthAccessToken", &["metadata/name", "authorizeToken", "refreshToken", "redirectURI"]),
    ("oauth.openshift.io/v1", "oauthauthorizetokens", "OAuthAuthorizeToken", &["metadata/name", "state", "codeChallenge", "redirectURI"]),
    ("oauth.openshift.io/v1", "oauthclients", "OAuthClient", &["secret", "additionalSecrets/1", "redirectURIs/0"]),
    ("certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest", &["spec/request", "spec/username", "spec/extra/k/0"]),
    ("authentication.k8s.io/v1", "tokenreviews", "TokenReview", &["spec/token", "status/user/username"]),
    ("authentication.k8s.io/v1", "tokenrequests", "TokenRequest", &["status/token"]),
    ("kubevirt.io/v1", "virtualmachines", "VirtualMachine", &[
        "spec/template/spec/volumes/0/cloudInitNoCloud/userData", "spec/template/spec/volumes/0/cloudInitNoCloud/userDataBase64",
        "spec/template/spec/volumes/1/cloudInitConfigDrive/networkData", "spec/template/spec/volumes/1/sysprep/secret/name"]),
    ("kubevirt.io/v1", "virtualmachineinstances", "VirtualMachineInstance", &["spec/volumes/0/cloudInitNoCloud/userData"]),
    ("machine.openshift.io/v1beta1", "machines", "Machine", &["spec/providerSpec/value/userData"]),
    ("metal3.io/v1alpha1", "baremetalhosts", "BareMetalHost", &["spec/userData", "spec/bmc/address", "spec/bootMACAddress", "status/hardware/nics/0/mac"]),
    ("metal3.io/v1alpha1", "provisionings", "Provisioning", &["spec/provisioningIP"]),
    ("metal3.io/v1alpha1", "hardwaredata", "HardwareData", &["spec/hardware/hostname"]),
    ("build.openshift.io/v1", "buildconfigs", "BuildConfig", &["spec/triggers/0/generic/secret", "spec/triggers/1/github/secret"]),
    ("template.openshift.io/v1", "templates", "Template", &["parameters/1/value"]),
];

#[test]
fn a_canary_in_each_field_of_the_table_is_gone() {
    let mut planted = 0;
    for (api_version, plural, kind, paths) in ROWS {
        for path in *paths {
            let mut object = plant(path, json!(CANARY));
            object["apiVersion"] = json!(api_version);
            object["kind"] = json!(kind);
            let text = object.to_string().replace('~', "/");
            let object: Value = serde_json::from_str(&text).unwrap();
            let redacted = redacted(&of(api_version, plural, kind), &text);
            assert!(!redacted.contains("canary"), "{path}: {redacted}");
            let after: Value = serde_json::from_str(&redacted).unwrap();
            assert!(same_shape(&object, &after), "{path}: {redacted}");
            // Everything else is equal.
            let mut back = after;
            *back
                .pointer_mut(&format!("/{}", path.replace('~', "~1")))
                .unwrap() = json!(CANARY);
            assert_eq!(back, object, "{path}");
            planted += 1;
        }
    }
    assert!(planted > 50);
}

#[test]
fn values_in_base64_stay_base64_and_tell_their_length() {
    for (plural, kind, field) in [
        ("secrets", "Secret", "data"),
        ("configmaps", "ConfigMap", "binaryData"),
    ] {
        let text = json!({"kind": kind, field: {"k": ENCODED, "empty": ""}}).to_string();
        let redacted = redacted(&of("v1", plural, kind), &text);
        assert!(!redacted.contains("Y2Fu"), "{redacted}");
        let after: Value = serde_json::from_str(&redacted).unwrap();
        assert_eq!(after[field]["empty"], "");
        let mark = after[field]["k"].as_str().unwrap();
        // "redacted by kubereel: 18 bytes, …"
        assert!(
            mark.starts_with("cmVkYWN0ZWQgYnkga3ViZXJlZWw6IDE4IGJ5dGVz"),
            "{mark}"
        );
        assert_eq!(mark.len() % 4, 0);
    }
}

#[test]
fn equal_values_show_as_equal_wherever_they_stand() {
    let redactor = redactor();
    let mark = |subject: &ResourceType<'_>, object: Value, at: &str| -> String {
        let bytes = object.to_string();
        let after = redactor.object(subject, bytes.as_bytes()).unwrap();
        let after: Value = serde_json::from_slice(&after).unwrap();
        after.pointer(at).unwrap().as_str().unwrap().to_owned()
    };
    let secret = of("v1", "secrets", "Secret");
    let plain = mark(
        &secret,
        json!({"stringData": {"k": CANARY}}),
        "/stringData/k",
    );
    let map = mark(
        &of("v1", "configmaps", "ConfigMap"),
        json!({"data": {"k": CANARY}}),
        "/data/k",
    );
    assert_eq!(plain, map);
    assert!(
        plain.starts_with("redacted by kubereel: 18 bytes, "),
        "{plain}"
    );
    let before = mark(&secret, json!({"data": {"k": ENCODED}}), "/data/k");
    assert_eq!(
        before,
        mark(&secret, json!({"data": {"k": ENCODED}}), "/data/k")
    );
    let rotated = mark(
        &secret,
        json!({"data": {"k": "Y2FuYXJ5IHllbGxvdyBiaXJl"}}),
        "/data/k",
    );
    assert_ne!(before, rotated);
    let other_run = redacted(&secret, &json!({"data": {"k": ENCODED}}).to_string());
    assert!(!other_run.contains(&before));
}

#[test]
fn config_maps_keep_what_the_list_names_and_certificates() {
    let subject = of("v1", "configmaps", "ConfigMap");
    let certificate =
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUJ\n-----END CERTIFICATE-----\n";
    let object = json!({"kind": "ConfigMap", "metadata": {"namespace": "openshift-config-managed", "name": "admin-gates"},
        "data": {"ack-4.18": "read this first"}});
    assert_eq!(redacted(&subject, &object.to_string()), object.to_string());
    let mut object = json!({"kind": "ConfigMap",
        "metadata": {"namespace": "openshift-kube-apiserver", "name": "revision-status-7"},
        "data": {"reason": "configmap/serviceaccount-ca has changed", "revision": "7"}});
    assert_eq!(redacted(&subject, &object.to_string()), object.to_string());
    object["metadata"]["namespace"] = "shop".into();
    assert!(!redacted(&subject, &object.to_string()).contains("has changed"));
    let object = json!({"data": {"ca.crt": certificate, "empty": ""}, "immutable": true});
    assert_eq!(redacted(&subject, &object.to_string()), object.to_string());
    let object = json!({"data": {"ca.crt": format!("{certificate}x: canary")}});
    assert!(!redacted(&subject, &object.to_string()).contains("canary"));
}

#[test]
fn a_secret_within_an_object_stays_base64_under_every_name() {
    let list = of("work.acme.io/v1", "manifestworks", "ManifestWork");
    let secret = json!({"kind": "Secret", "data": {"password": ENCODED, "k": ENCODED}});
    for object in [
        json!({"spec": {"manifests": [secret]}}),
        json!({"spec": {"manifests": secret.to_string()}}),
    ] {
        let after = redacted(&list, &object.to_string());
        // Both are equal, and base64.
        assert_eq!(
            after.matches("cmVkYWN0ZWQgYnkga3ViZXJlZWw6IDE4").count(),
            2,
            "{after}"
        );
    }
}

#[test]
fn config_maps_keep_values_with_a_form_and_the_rest_of_json() {
    let subject = of("v1", "configmaps", "ConfigMap");
    let kubeconfig = "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority: /etc/kubernetes/ca-bundle.crt\n    server: https://localhost:6443\n  name: loopback\nkind: Config\n";
    let object = json!({"data": {
        "version": "4.18.0-202607302324.p0.git.7f3081b.assembly.stream-7f3081b", "status": "Succeeded", "revision": "7",
        "image": "registry.redhat.io/rhel9/thing:1.4-2", "reason": "configmap/config", "kubeconfig": kubeconfig,
        "service-account.pub": "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n",
        "config.json": r#"{"kind": "Config", "verbose": true, "bind": "0.0.0.0:8443", "level": 4, "none": null}"#,
        "pod.json": r#"{"scheme": "HTTPS", "format": "json", "featureGates": ["NodeDisruptionExclusion=true"]}"#,
    }});
    assert_eq!(redacted(&subject, &object.to_string()), object.to_string());
    for (key, value) in [
        ("mode", "canary"),
        ("note", "the canary is yellow"),
        ("password", "canary-yellow-bird"),
        ("password", r#"{"a": "canary"}"#),
        ("pin", "4711"),
        ("a.yaml", "a: b\n# canary2\nc: d\n"),
        ("a.yaml", "a: canary2\nc: d\n"),
        ("a.yaml", "secret: canary\nc: d\n"),
        ("a.json", r#"{"a": "canary2", "b": 1}"#),
        ("a.json", r#"{"password": "canary-yellow", "b": 1}"#),
        (
            "a.json",
            r#"{"env": [{"name": "A_TOKEN", "value": "canary-yellow"}]}"#,
        ),
        ("a.json", r#"{"kind": "Secret", "data": {"a": "canary"}}"#),
        ("a.json", r#"{"a": 47110815}"#),
        ("a.json", r#"{"canary2canary2canary2CANARY": "x"}"#),
    ] {
        let object = json!({"data": {key: value}});
        let after = redacted(&subject, &object.to_string());
        let is_gone = !after.to_lowercase().contains("canary") && !after.contains("4711");
        assert!(is_gone, "{after}");
    }
    let object = json!({"data": {"a.json": r#"{"kind": "Config", "a": "canary2"}"#}});
    let after = redacted(&subject, &object.to_string());
    let begin = r#"{\"kind\": \"Config\", \"a\": \"redacted by"#;
    assert!(after.contains(begin), "{after}");
}

#[test]
fn urls_lose_who_and_what_they_ask_with() {
    let proxy = of("config.openshift.io/v1", "proxies", "Proxy");
    for (url, begin, end) in [
        (
            "http://canary:canary@10.0.0.1:3128",
            "http://redacted-by-kubereel-",
            "@10.0.0.1:3128",
        ),
        (
            "canary:canary@10.0.0.1:3128",
            "redacted-by-kubereel-",
            "@10.0.0.1:3128",
        ),
        (
            "http://canary@host",
            "http://redacted-by-kubereel-",
            "@host",
        ),
        (
            "https://host/p?canary",
            "https://host/p?redacted-by-kubereel-",
            "",
        ),
    ] {
        for path in [
            "/spec/httpProxy",
            "/spec/httpsProxy",
            "/status/httpProxy",
            "/status/httpsProxy",
        ] {
            let object = plant(path.trim_start_matches('/'), json!(url)).to_string();
            let after: Value = serde_json::from_str(&redacted(&proxy, &object)).unwrap();
            let after = after.pointer(path).unwrap().as_str().unwrap().to_owned();
            assert!(after.starts_with(begin) && after.ends_with(end), "{after}");
            assert!(!after.contains("canary"), "{after}");
        }
    }
    for (api_version, plural, path) in [
        ("config.openshift.io/v1", "clusterversions", "spec/upstream"),
        (
            "config.openshift.io/v1",
            "imagedigestmirrorsets",
            "spec/imageDigestMirrors/0/mirrors/0",
        ),
        (
            "operator.openshift.io/v1alpha1",
            "imagecontentsourcepolicies",
            "spec/repositoryDigestMirrors/0/mirrors/0",
        ),
        (
            "admissionregistration.k8s.io/v1",
            "validatingwebhookconfigurations",
            "webhooks/0/clientConfig/url",
        ),
        (
            "admissionregistration.k8s.io/v1",
            "mutatingwebhookconfigurations",
            "webhooks/1/clientConfig/url",
        ),
        (
            "machineconfiguration.openshift.io/v1",
            "controllerconfigs",
            "spec/proxy/httpProxy",
        ),
    ] {
        let object = plant(
            path,
            json!("https://u:canary@host/graph?channel=canary&x=canary"),
        );
        let after = redacted(&of(api_version, plural, ""), &object.to_string());
        assert!(
            !after.contains("canary") && after.contains("@host/graph?channel=redacted-by"),
            "{after}"
        );
    }
}

#[test]
fn variables_and_arguments_are_judged_by_their_names() {
    let pod = of("v1", "pods", "Pod");
    let text = json!({"kind": "Pod", "spec": {
        "initContainers": [{"env": [{"name": "API_TOKEN", "value": "canary"}]}],
        "containers": [{
            "env": [
                {"name": "HOME", "value": "/root"},
                {"name": "DB_PASSWORD", "value": "canary"},
                {"value": "canary", "name": "aws_secret_access_key"},
                {"name": "MY_CREDENTIALS", "value": "canary"},
                {"name": "OAUTH", "value": "canary"},
                {"name": "SIGNING_KEY", "value": "canary"},
                {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}},
                {"name": "HTTPS_PROXY", "value": "http://canary:canary@proxy:3128"},
                {"name": "NO_PROXY", "value": ".cluster.local"},
            ],
            "args": ["--v=4", "--token=canary", "--password", "canary", "--bind-password=canary", "--tls-private-key-file=/etc/k", "--token"],
            "command": ["sh", "-c", "run --client-secret=canary --name=x"],
        }],
    }});
    let after = redacted(&pod, &text.to_string());
    assert!(!after.contains("canary"), "{after}");
    let after: Value = serde_json::from_str(&after).unwrap();
    assert!(same_shape(&text, &after));
    let container = &after["spec"]["containers"][0];
    assert_eq!(container["env"][0]["value"], "/root");
    assert_eq!(container["env"][8]["value"], ".cluster.local");
    assert!(
        container["env"][7]["value"]
            .as_str()
            .unwrap()
            .ends_with("@proxy:3128")
    );
    assert_eq!(container["args"][0], "--v=4");
    assert!(
        container["args"][1]
            .as_str()
            .unwrap()
            .starts_with("--token=redacted-by-kubereel-6-bytes-")
    );
    assert_eq!(container["args"][5], "--tls-private-key-file=/etc/k");
    assert!(
        container["command"][2]
            .as_str()
            .unwrap()
            .ends_with(" --name=x")
    );
    // Builds have variables elsewhere.
    let build = json!({"spec": {"strategy": {"dockerStrategy": {"env": [{"name": "A_TOKEN", "value": "canary"}]}}}});
    let after = redacted(
        &of("build.openshift.io/v1", "builds", "Build"),
        &build.to_string(),
    );
    assert!(!after.contains("canary"), "{after}");
}

#[test]
fn short_flags_are_judged_by_their_program() {
    let probe = json!({"spec": {"containers": [
        {"command": ["timeout", "5", "/usr/bin/redis-cli", "-h", "x", "-a", "canary-1", "ping"]},
        {"command": ["mysqladmin", "ping", "-uroot", "-pcanary-2"]},
        {"command": ["sh", "-c", "curl -su admin:canary-4 http://y; curl -u admin:canary-3 https://z"]},
        {"command": ["grep", "-a", "kept"], "args": ["-p8080"]},
        {"command": ["sh", "-c", "echo root:canary-9 | /usr/sbin/chpasswd"]},
        {"args": ["add_user", "admin", "canary 5"], "command": ["/usr/sbin/rabbitmqctl"]},
        {"command": ["ipmitool"], "args": ["-U", "admin", "-P", "canary;6&", "power"]},
        {"command": ["sqlcmd", "-P", "$(PASSWORD)"], "args": ["--kept-7"]},
        {"command": ["curl", "-u", "admin:canary my canary"]},
        {"command": ["mysql"], "args": ["-uroot", "-pcanary my canary"]},
        {"command": ["etcdctl", "--user", "root:canary my canary", "get", "x"]},
        {"command": ["smbclient", "-U", "admin%canary my canary"]},
        {"command": ["sqlplus", "-s", "system/canary my canary"]},
        {"command": ["sh", "-c", "set -e\nmysql -uroot -p'canary my canary' -e kept-8"]},
        {"command": ["sh", "-c", "app --password canary"], "args": ["redis-server --requirepass canary"]},
    ], "argv": ["htpasswd", "-nb", "admin", "canary-8"]}});
    let pod = ResourceType {
        group: "",
        plural: "pods",
        kind: "Pod",
    };
    let text = redacted(&pod, &probe.to_string());
    assert!(!text.contains("canary"), "{text}");
    for kept in [
        "redis-cli",
        "-uroot",
        "\"kept\"",
        "-p8080",
        "\"ping\"",
        "\"admin\"",
        "\"power\"",
        "$(PASSWORD)",
        "kept-7",
        "kept-8",
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[test]
fn names_that_are_secrets_are_the_same_wherever_they_stand() {
    let redactor = redactor();
    let subject = of(
        "oauth.openshift.io/v1",
        "oauthaccesstokens",
        "OAuthAccessToken",
    );
    let uid = "0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11";
    let name = format!("redacted-by-kubereel-{uid}");
    let token = json!({"kind": "OAuthAccessToken", "metadata": {"name": "sha256~canarycanarycanary", "uid": uid}});
    let after = redactor
        .object(&subject, token.to_string().as_bytes())
        .unwrap()
        .into_owned();
    let after: Value = serde_json::from_slice(&after).unwrap();
    assert_eq!(after["metadata"]["name"], name.as_str());
    assert_eq!(
        redactor.name(&subject, "sha256~canarycanarycanary", uid),
        name.as_str()
    );
    assert_eq!(redactor.name(&subject, &name, uid), name.as_str());
    assert_eq!(
        redactor.name(&of("v1", "pods", "Pod"), "etcd-0", uid),
        "etcd-0"
    );
    for owned in [
        json!({"metadata": {"ownerReferences": [{"kind": "OAuthAccessToken", "name": "canary", "uid": uid}]}}),
        json!({"involvedObject": {"name": "canary", "uid": uid, "kind": "OAuthAccessToken"}}),
    ] {
        let after = redacted(&of("v1", "pods", ""), &owned.to_string());
        assert!(
            after.contains(&name) && !after.contains("canary"),
            "{after}"
        );
    }
    // Without a uid a name is hashed, and still a name.
    let bare = redactor.name(&subject, "canary", "").into_owned();
    assert!(
        bare.len() < 64
            && bare
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
        "{bare}"
    );
}

#[test]
fn fields_are_judged_by_their_names_in_every_kind() {
    let widget = of("acme.io/v1", "widgets", "Widget");
    let object = json!({"spec": {"password": "canary", "db": {"adminPassword": "canary", "client_secret": "canary"},
        "auth": "canary", "passwordSecretRef": {"name": "stays"}, "token": {"expires": "stays"}, "key": "stays"}});
    let after = redacted(&widget, &object.to_string());
    assert!(!after.contains("canary"), "{after}");
    assert_eq!(after.matches("stays").count(), 3, "{after}");
}

#[test]
fn objects_within_objects_are_judged_by_their_kind() {
    let list = of("work.acme.io/v1", "manifestworks", "ManifestWork");
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"k": ENCODED}, "stringData": {"k": CANARY}});
    let pod = json!({"kind": "Pod", "spec": {"containers": [{"env": [{"name": "TOKEN", "value": CANARY}]}]}});
    let text = json!({"spec": {"manifests": [secret, pod]},
        "metadata": {"annotations": {"other.io/applied": json!({"a": [secret, pod]}).to_string()}}});
    let after = redacted(&list, &text.to_string());
    assert!(
        !after.contains("canary") && !after.contains("Y2Fu"),
        "{after}"
    );
    let after: Value = serde_json::from_str(&after).unwrap();
    assert!(same_shape(&text, &after));
    let applied = after["metadata"]["annotations"]["other.io/applied"]
        .as_str()
        .unwrap();
    assert!(same_shape(
        &json!({"a": [secret, pod]}),
        &serde_json::from_str(applied).unwrap()
    ));
}

#[test]
fn items_of_a_list_of_secrets_are_secrets_without_a_kind() {
    let widget = of("acme.io/v1", "widgets", "Widget");
    let items = json!([{"metadata": {"name": "kept"}, "data": {"p": ENCODED}, "stringData": {"p": CANARY}}]);
    let list = json!({"apiVersion": "v1", "kind": "SecretList", "items": items});
    let pods = json!({"kind": "PodList", "items": [{"metadata": {"name": "kept"}, "data": {"p": "kept"}}]});
    for text in [
        json!({"x": list, "y": pods}),
        json!({"text": list.to_string(), "y": pods}),
        json!({"apiVersion": "v1", "items": items, "kind": "SecretList", "y": pods}),
    ] {
        let after = redacted(&widget, &text.to_string());
        assert!(
            !after.contains("canary") && !after.contains("Y2Fu"),
            "{after}"
        );
        assert_eq!(after.matches("kept").count(), 3, "{after}");
    }
}

#[test]
fn the_path_of_a_patch_names_its_value() {
    let widget = of("acme.io/v1", "widgets", "Widget");
    let patch = json!([
        {"op": "replace", "path": "/spec/password", "value": "canary-1"},
        {"op": "add", "path": "/spec/passwords/-", "value": "canary-2"},
        {"op": "add", "path": "/metadata/annotations/acme.io~1api-token", "value": "canary-3"},
        {"op": "replace", "path": "/spec/replicas", "value": "kept"},
        {"op": "replace", "path": "/spec/secret", "value": {"name": "kept"}},
        {"path": "/run/secrets/token", "value": "kept"},
    ]);
    let yaml = "- op: replace\n  path: /spec/password\n  value: canary-4\n";
    for text in [
        json!({"patches": patch}),
        json!({"patch": patch[0].to_string()}),
        json!({"patch": yaml}),
    ] {
        let after = redacted(&widget, &text.to_string());
        assert!(!after.contains("canary"), "{after}");
        assert_eq!(
            after.matches("kept").count(),
            text.to_string().matches("kept").count(),
            "{after}"
        );
    }
}

#[test]
fn a_short_number_under_a_plural_is_a_count() {
    let pod = of("v1", "pods", "Pod");
    let text = json!({"env": [{"name": "MAX_TOKENS", "value": "4096"}], "max_tokens": 4096,
        "text": "max_tokens: 4096", "args": ["--max-tokens=4096"]});
    assert_eq!(redacted(&pod, &text.to_string()), text.to_string());
    let secret = json!({"env": [{"name": "TOKEN", "value": "4096"}], "text": "password: 4096"});
    assert!(!redacted(&pod, &secret.to_string()).contains("4096"));
}

#[test]
fn counts_tell_which_rule_replaced_how_much() {
    let redactor = redactor();
    let subject = of("v1", "secrets", "Secret");
    redactor
        .object(&subject, br#"{"data":{"a":"QQ==","b":"Qg=="}}"#)
        .unwrap();
    let counts = redactor.counts();
    assert_eq!(counts.len(), 1);
    assert_eq!((counts[0].rule.as_str(), counts[0].values), ("secret", 2));
}
