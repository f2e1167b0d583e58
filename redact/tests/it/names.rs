//! Tests every spelling of a name that announces a secret, in every carrier; and values that stay
//! under such names.

use crate::{redacted, redactor, same_shape};
use kubereel_redact::{Extra, Redactor, ResourceType};
use serde_json::{Value, json};

/// Names that announce a secret, each in the forms that people write.
const NAMES: &[&str] = &[
    "password",
    "adminPassword",
    "DB_PASSWORD",
    "db-password",
    "passwd",
    "MYSQL_PWD",
    "pwd",
    "PASS",
    "smtp_pass",
    "pw",
    "passphrase",
    "wifi-psk",
    "psk",
    "SENTRY_DSN",
    "dsn",
    "cookie",
    "session-cookie",
    "jwt",
    "secret",
    "clientSecret",
    "HTTP_SECRET",
    "token",
    "accessToken",
    "github-token",
    "apiKey",
    "API_KEY",
    "access_key",
    "private-key",
    "signingKey",
    "someKey",
    "credential",
    "credentials",
    "AWS_CREDENTIALS",
    "connectionString",
    "CONNECTION_STRING",
    "kubeconfig",
    "auth",
    "REDIS_AUTH",
    "acme.io/api-token",
];

/// A value that only its name reveals: no form, no vendor, no long run.
fn secret() -> String {
    // Assembled, so that no scanner takes it for a secret of this project.
    ["zq7", "Vx2", "mK9"].concat()
}

fn widget() -> ResourceType<'static> {
    ResourceType::new("acme.io", "widgets").with_kind("Widget")
}

/// Writes a name as flags are written.
fn kebab(name: &str) -> String {
    let mut flag = String::new();
    for letter in name.chars() {
        if letter.is_uppercase()
            && flag.ends_with(char::is_lowercase)
            && name.contains(char::is_lowercase)
        {
            flag.push('-');
        }
        flag.extend(letter.to_lowercase());
    }
    flag.replace(['_', '.'], "-")
}

/// Names and values in each part of an object.
#[rustfmt::skip]
fn carriers(name: &str, value: &Value) -> Vec<(&'static str, Value)> {
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let bare = name.rsplit('/').next().unwrap_or(name);
    let flag = kebab(bare);
    let mut carriers = vec![
        ("field", json!({"spec": {name: value, "neighbour": "stays"}})),
        ("list under a field", json!({"spec": {name: [value, value]}})),
        ("list of lists", json!({"spec": {name: [[value]]}})),
        ("value below a field", json!({"spec": {name: {"value": value}}})),
        ("default below a field", json!({"properties": {name: {"type": "string", "default": value}}})),
        ("label", json!({"metadata": {"labels": {name: text}}})),
        ("annotation", json!({"metadata": {"annotations": {name: text}}})),
        ("map", json!({"spec": {"parameters": {name: value}}})),
    ];
    for list in ["env", "buildArgs", "params", "envVars", "parameters", "options", "anything"] {
        carriers.push(("name and value", json!({"spec": {list: [{"name": name, "value": value}]}})));
        carriers.push(("value and name", json!({"spec": {list: [{"value": value, "name": name}]}})));
    }
    carriers.extend([
        ("key and value", json!({"spec": {"settings": [{"key": name, "value": value}]}})),
        ("name and default", json!({"spec": {"params": [{"name": name, "default": value}]}})),
        ("name and values", json!({"spec": {"params": [{"name": name, "values": [value, value]}]}})),
        ("header", json!({"httpGet": {"httpHeaders": [{"name": name, "value": text}]}})),
        ("flag", json!({"spec": {"args": [format!("--{flag}={text}")]}})),
        ("flag with one dash", json!({"spec": {"command": ["run", format!("-{flag}={text}")]}})),
        ("flag of two arguments", json!({"spec": {"args": ["run", format!("--{flag}"), text, "--v=2"]}})),
        ("flag in another list", json!({"spec": {"extraArgs": [format!("--{flag}"), text]}})),
        ("variable in a list", json!({"config": {"Env": ["PATH=/usr/bin", format!("{bare}={text}")]}})),
        (
            "pair in an owned list",
            json!({"metadata": {"managedFields": [{"fieldsV1": {"f:spec": {"f:params": {
            format!("k:{}", json!({"name": name, "value": value})): {"." : {}}}}}}]}}),
        ),
        (
            "set in an owned list",
            json!({"metadata": {"managedFields": [{"fieldsV1": {"f:spec": {
            format!("f:{name}"): {format!("v:{value}"): {}}}}}]}}),
        ),
    ]);
    carriers.extend(text_carriers(name, value, &text));
    carriers
}

/// The same within texts.
#[rustfmt::skip]
fn text_carriers(name: &str, value: &Value, text: &str) -> Vec<(&'static str, Value)> {
    let bare = name.rsplit('/').next().unwrap_or(name);
    let flag = kebab(bare);
    vec![
        ("JSON in a text", json!({"spec": {"config": json!({"a": [{name: value}]}).to_string()}})),
        ("JSON in JSON in a text", json!({"m": json!({"b": json!({name: value}).to_string()}).to_string()})),
        ("YAML in a text", json!({"m": format!("a:\n  {name}: {text}\nb: c\n")})),
        ("quotes in YAML", json!({"m": format!("a:\n- '{name}': '{text}'\nb: c\n")})),
        ("a block in YAML", json!({"m": format!("a:\n  {name}: |\n    {text}\n    {text}\nb: c\n")})),
        ("a list in YAML", json!({"m": format!("a:\n  {name}:\n  - {text}\nb: c\n")})),
        ("pairs in YAML", json!({"m": format!("a:\n- name: {name}\n  value: {text}\nb: c\n")})),
        ("pairs on a line of YAML", json!({"m": format!("a:\n- {{name: {name}, value: {text}}}\nb: c\n")})),
        ("YAML in YAML", json!({"m": format!("a: |\n  b: |\n    {name}: {text}\n")})),
        ("YAML in JSON in a text", json!({"m": json!({"values": format!("a:\n  {name}: {text}\n")}).to_string()})),
        ("properties", json!({"m": format!("a.b=c\n{bare}={text}\n")})),
        ("INI", json!({"m": format!("[a]\n{bare} = {text}\n")})),
        ("query", json!({"m": format!("GET https://a.example/b?c=d&{bare}={text}&e=f failed")})),
        ("element", json!({"m": format!("<a><{bare}>{text}</{bare}></a>")})),
        ("attribute", json!({"m": format!("<a b=\"c\" {bare}=\"{text}\"/>")})),
        ("property", json!({"m": format!("<property name=\"{bare}\" value=\"{text}\"/>")})),
        ("flag in a script", json!({"command": ["sh", "-c", format!("run --{flag} {text} --v=2")]})),
        ("variable in a script", json!({"command": ["sh", "-c", format!("export {bare}={text}; run")]})),
    ]
}

#[test]
fn every_name_announces_in_every_carrier() {
    let values = [json!(secret()), json!(73_919_284_617_u64)];
    let mut leaks = Vec::new();
    let mut tried = 0;
    for name in NAMES {
        for value in &values {
            let gone = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            for (carrier, object) in carriers(name, value) {
                let after = redacted(&widget(), &object.to_string());
                tried += 1;
                if after.contains(&gone) {
                    leaks.push(format!("{carrier}: {name}: {after}"));
                }
            }
        }
    }
    assert!(
        leaks.is_empty(),
        "{} of {tried} leak\n{}",
        leaks.len(),
        leaks.join("\n")
    );
}

/// Fields whose names contain such a word and that are not secrets.
#[test]
fn names_beside_a_secret_are_kept() {
    for object in [
        json!({"spec": {"publicKey": "AAAAB3Nza0", "topologyKey": "kubernetes.io/hostname", "labelKey": "app2x"}}),
        json!({"valueFrom": {"secretKeyRef": {"name": "db2x", "key": "pass2x"}}}),
        json!({"matchExpressions": [{"key": "zone2x", "operator": "In", "values": ["a2x"]}]}),
        json!({"volumes": [{"secret": {"secretName": "db2x", "items": [{"key": "k2x", "path": "p2x"}], "defaultMode": 420, "optional": false}}]}),
        json!({"spec": {"tokenSecretRef": {"name": "x2x"}, "imagePullSecrets": [{"name": "x2x"}], "secrets": [{"name": "sa-dockercfg-x7k2p"}]}}),
        json!({"serviceAccountToken": {"path": "token2", "expirationSeconds": 3607, "audience": "aud2x"}}),
        json!({"automountServiceAccountToken": true, "tokenExpirationSeconds": 86400, "credentialsMode": "Mint2"}),
        json!({"metadata": {"labels": {"auth.acme.io/owner": "team2x"}, "annotations": {"acme.io/secret-name": "db2x"}}}),
        json!({"status": {"hard": {"secrets": "10", "count/secrets": "12"}, "used": {"secrets": 9}}}),
        json!({"metadata": {"managedFields": [{"fieldsV1": {"f:spec": {"f:ports": {"k:{\"containerPort\":8443,\"protocol\":\"TCP\"}": {"f:password": {}}},
            "f:finalizers": {"v:\"foregroundDeletion\"": {}}}}}]}}),
    ] {
        assert_eq!(redacted(&widget(), &object.to_string()), object.to_string());
    }
}

/// Values that are not secrets under any name.
#[test]
fn values_without_a_secret_are_kept_by_their_form() {
    let digest = "3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6";
    let image = format!("quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:{digest}");
    let always = [
        "",
        "true",
        "False",
        "$(OTHER)",
        "${OTHER}",
        "{{ .Values.other }}",
        &image,
        "https://oauth-openshift.apps.example.com/oauth/token",
        "/etc/kubernetes/secrets/key.pem",
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
    ];
    for name in ["PASSWORD", "API_TOKEN", "OAUTH", "SSL_KEY", "CLIENT_SECRET"] {
        for value in always {
            kept(name, value);
        }
    }
    let by_name = [
        &format!("sha256:{digest}"),
        "registry.redhat.io/rhel9/oauth-proxy:v4.18.3",
        "4.18.3",
        "v1.31.0-rc.2+6f3e2a1",
        "tls.crt",
        "server-key.pem",
        "/healthz/ready",
        "oauth-openshift",
        "openshift-authentication/oauth-serving-cert",
        "system:serviceaccount:openshift-etcd:installer-sa",
        "kubernetes.io/hostname",
        "10m",
        "1h30m0s",
        "512Mi",
        "2026-11-21T14:02:31Z",
        "10.128.0.0/14",
    ];
    for name in ["OAUTH", "SSL_KEY", "KUBE_AUTH", "SECRET", "CREDENTIALS"] {
        for value in by_name {
            kept(name, value);
        }
    }
    for (name, value) in [
        ("OAUTH_API_SERVER_IMAGE", image.as_str()),
        ("TOKEN_TTL", "300"),
        ("AUTH_TYPE", "basic"),
        ("SECRET_NAMESPACE", "default"),
        ("KEY_ROTATION_DAYS", "30"),
    ] {
        kept(name, value);
    }
}

fn kept(name: &str, value: &str) {
    for object in [
        json!({"spec": {"containers": [{"env": [{"name": name, "value": value}]}]}}),
        json!({"spec": {"parameters": {name: value}}}),
        json!({"spec": {"args": [format!("--{}={value}", name.to_lowercase().replace('_', "-"))]}}),
    ] {
        assert_eq!(
            redacted(&widget(), &object.to_string()),
            object.to_string(),
            "{name}={value}"
        );
    }
}

#[test]
fn random_values_have_no_form_that_is_kept() {
    for name in ["OAUTH", "SSL_KEY", "SECRET", "someKey"] {
        for value in [
            "8b1a9953c4611296a827abf8c47804d7f2a91c3e",
            "wJalrXUtnFEMIK7MDENGbPxRfiCYz0123456789a",
            "4.18.3-wJalrXUtnFEMIK7MDENGbPxRfiCY",
            "v1.2.3+8b1a9953c4611296a827abf8c47804d7f2a91c3e",
            "/wJalrXUtnFEMIK7/MDENGbPxRfiCY",
            "https://hooks.example.com/services/T0B0/x8Kq2mZ7wJalrXU",
            "x8kq-2mz7-wjal-rxut",
            "0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11",
            "hunter2",
            "73919",
        ] {
            let object = json!({"spec": {"env": [{"name": name, "value": value}]}});
            let after = redacted(&widget(), &object.to_string());
            assert!(!after.contains(value), "{name}={value}");
        }
    }
}

#[test]
fn values_in_managed_fields_go_with_those_of_the_object() {
    let extra = Extra::read(
        "own.yaml",
        "rules:\n- {name: licences, text: 'LIC-[0-9]{6}'}\n- {name: doors, kind: widgets.acme.io, path: spec.doors}\n",
    )
    .unwrap();
    let redactor = Redactor::new(extra).unwrap();
    let object = json!({
        "metadata": {"managedFields": [{"fieldsV1": {"f:spec": {
            "f:doors": {"v:\"canary one\"": {}, "k:{\"pin\":\"canary two\",\"port\":8443}": {".": {}, "f:pin": {}}},
            "f:keys": {"v:\"LIC-123456\"": {}},
            "f:args": {"v:\"--token\"": {}, "v:\"canary \\\"three\"": {}, "v:\"--password=canary-4\"": {}},
            "f:ports": {"k:{\"containerPort\":8443,\"protocol\":\"TCP\"}": {}},
        }}}]},
        "spec": {
            "doors": ["canary one", {"pin": "canary two", "port": 8443}],
            "keys": ["LIC-123456"],
            "args": ["--token", "canary \"three", "--password=canary-4"],
            "ports": [{"containerPort": 8443, "protocol": "TCP"}],
        },
    });
    let after = redactor
        .object(&widget(), object.to_string().as_bytes())
        .unwrap()
        .into_owned();
    let text = String::from_utf8(after.clone()).unwrap();
    assert!(!text.contains("canary") && !text.contains("LIC-"), "{text}");
    assert!(
        text.contains(r#""k:{\"containerPort\":8443,\"protocol\":\"TCP\"}""#),
        "{text}"
    );
    assert!(text.contains(r#""v:\"--token\"""#), "{text}");
    assert_eq!(
        redactor.object(&widget(), &after).unwrap(),
        after.as_slice()
    );
    // The mark is the same in both: keys can still be matched with the object.
    let value: Value = serde_json::from_slice(&after).unwrap();
    let mark = value["spec"]["doors"][0].as_str().unwrap();
    assert_eq!(text.matches(mark).count(), 2, "{text}");
}

#[test]
fn a_users_rule_takes_numbers_and_whole_parts() {
    let extra = Extra::read("own.yaml", "rules:\n- {name: pins, path: spec.pin}\n").unwrap();
    let redactor = Redactor::new(extra).unwrap();
    for pin in [
        json!(4711),
        json!({"a": ["4711", 4711]}),
        json!("4711"),
        json!([4711]),
    ] {
        let object = json!({"spec": {"pin": pin, "other": 1}}).to_string();
        let after = redactor.object(&widget(), object.as_bytes()).unwrap();
        let after = String::from_utf8(after.into_owned()).unwrap();
        assert!(
            !after.contains("4711") && after.contains("\"other\":1"),
            "{after}"
        );
    }
}

#[test]
fn what_is_nested_too_deep_is_replaced_whole() {
    let redactor = redactor();
    for kind in ["pods", "secrets"] {
        let deep = format!("{}\"canary\"{}", "{\"a\":[".repeat(400), "]}".repeat(400));
        let object = format!("{{\"spec\":{deep},\"after\":1}}");
        let after = redactor
            .object(&ResourceType::new("", kind), object.as_bytes())
            .unwrap();
        let after = String::from_utf8(after.into_owned()).unwrap();
        assert!(
            !after.contains("canary") && after.ends_with(",\"after\":1}"),
            "{after}"
        );
        assert!(after.contains("redacted by kubereel: "), "{after}");
    }
}

#[test]
fn an_object_keeps_its_shape_under_every_name() {
    for name in NAMES {
        let object = json!({"spec": {(*name): {"a": ["x2y3z", {"b": "x2y3z", "value": "x2y3z"}], "on": true, "none": null}}});
        let after: Value = serde_json::from_str(&redacted(&widget(), &object.to_string())).unwrap();
        assert!(same_shape(&object, &after), "{after}");
    }
}

#[test]
fn the_path_of_a_finding_has_no_secret_of_a_key_above_it() {
    let object = json!({
        "metadata": {"managedFields": [{"fieldsV1": {"f:data": {
            "v:\"canary one\"": {"k:{\"pin\":\"canary one\"}": {"f:password": {"token": "canary two 22"}}},
        }}}]},
        "data": {
            "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2": "canary yellow bird",
            "{\"password\":\"canary 3\"}": {"token": "canary yellow bird"},
        },
    });
    let subject = ResourceType::new("", "configmaps").with_kind("ConfigMap");
    let findings = redactor().findings(&subject, object.to_string().as_bytes());
    let paths: Vec<_> = findings.iter().map(|found| found.path.as_str()).collect();
    let count = |begin: &str| paths.iter().filter(|path| path.starts_with(begin)).count();
    assert_eq!(
        count(".data['redacted-by-kubereel-40-bytes-"),
        1,
        "{paths:?}"
    );
    assert!(
        count(".metadata.managedFields[0].fieldsV1") > 0,
        "{paths:?}"
    );
    for path in &paths {
        assert!(!path.contains("canary") && !path.contains("ghp_"), "{path}");
    }
}

/// The fields below a name that is a secret.
#[test]
fn maps_below_a_secret_name_are_redacted() {
    for (object, is_hidden) in [
        (json!({"passwords": {"alice": secret()}}), true),
        (json!({"tokens": {"ci": secret()}}), true),
        (json!({"tokens": {"quay.io/ci": [secret()]}}), true),
        (json!({"tokens": [{"ci": secret()}]}), true),
        (json!({"apiKeys": {"prod": secret()}}), true),
        (json!({"credentials": {"admin": secret()}}), true),
        (json!({"password": {"current": {"clear": secret()}}}), true),
        (
            json!({"values": json!({"passwords": {"alice": secret()}}).to_string()}),
            true,
        ),
        (
            json!({"values": format!("auth:\n  passwords:\n    alice: {}\n", secret())}),
            true,
        ),
        (json!({"passwords": {"alice": "sunflower"}}), true),
        (json!({"stringData": {"foo": "sunflower"}}), true),
        (
            json!({"command": ["kubectl", "patch", "secret", "x", "-p", "{\"stringData\":{\"foo\":\"sunflower\"}}"]}),
            true,
        ),
        (
            json!({"password": {"valueFrom": {"secretKeyRef": {"name": "x2y", "key": "sunflower"}}}}),
            false,
        ),
        (
            json!({"password": {"name": "x2y", "key": "sunflower", "optional": true}}),
            false,
        ),
        (
            json!({"serviceAccountToken": {"audience": "x2y", "path": "token", "expirationSeconds": 3607}}),
            false,
        ),
        (
            json!({"cookie": {"sameSite": "Lax", "httpOnly": true, "maximum": 86_400_000}}),
            false,
        ),
        (
            json!({"jwt": {"issuer": "https://x2y.example", "hint": "a sentence of 2 words"}}),
            false,
        ),
        (json!({"tokens": {"ci": "$(CI_TOKEN)", "max": 4096}}), false),
        (
            json!({"properties": {"password": {"type": "string", "pattern": "^[a-z0-9]{8}$", "x": "q2Z!"}}}),
            false,
        ),
        (
            json!({"credentials": {"source": "Secret", "secretRef": {"name": "x2y"}, "cloud": "aws"}}),
            false,
        ),
    ] {
        let text = json!({"spec": object}).to_string();
        let clean = redacted(&widget(), &text);
        assert_eq!(clean != text, is_hidden, "{clean}");
        assert!(
            !is_hidden || !clean.contains(&secret()) && !clean.contains("sunflower"),
            "{clean}"
        );
    }
}
